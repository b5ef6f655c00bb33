"""Rows and entries as they are read: whole, in their order, and of the types that a ledger writes; or refused."""

from dataclasses import fields
from fractions import Fraction

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger import Ledger, Tampered
from discreet.ledger.entry import Entry, Head, as_stored, built
from discreet.ledger.lease import Lease
from discreet.ledger.store import CARRYING, COUNTED, Root, Seal, Secret
from tests.ledger.helpers import charge, epsilon, surgery

HALF = Fraction(1, 2)


def change(path, sql, *values):
    with surgery(path) as connection:
        assert connection.execute(sql, values).rowcount == 1


@pytest.mark.parametrize("changed", ["replace(body, '\"2/5\"', '\"0/5\"')", "substr(body, 2)", "''"])
def test_a_charge_whose_entry_was_changed_is_not_forgotten_by_a_new_cap(ledger, path, changed):
    token = ledger.grant("ann", ["visits"], {"people": epsilon(HALF)})
    asked = charge(epsilon=Fraction(2, 5), analyst="ann", grant=ledger.authenticate(token).id)
    _, receipt = ledger.run(asked, lambda *_: "41")
    (before,) = [each.body for each in ledger.entries() if each.kind == "charge"]
    change(path, f"UPDATE entries SET body = {changed} WHERE sequence = ?", receipt.sequence)
    head = ledger.head
    with pytest.raises(Tampered, match=f"entry {receipt.sequence}"):
        ledger.grant("ann", ["visits"], {"people": epsilon(HALF)}, existing="replace")
    assert ledger.head == head
    change(path, "UPDATE entries SET body = ? WHERE sequence = ?", before, receipt.sequence)
    assert ledger.verify().entries == head[0]


def test_entries_that_are_missing_are_refused_wherever_entries_are_read(ledger, path):
    for number in range(4):
        ledger.refused(None, f"q{number}", "why")
    change(path, "DELETE FROM entries WHERE sequence = 4")
    for after in (0, 1, 3, 4):
        with pytest.raises(Tampered, match=r"entry [45]"):
            [*ledger.entries(after)]
    assert [each.sequence for each in ledger.entries(5)] == [6]
    assert [*ledger.entries(6)] == [*ledger.entries(60)] == []


def test_lease_seconds_may_be_a_whole_number(path, clock):
    with Ledger.create(path, clock=clock, lease_seconds=1) as ledger:
        ledger.add_account("people", epsilon(1))
        ledger.lease(ledger.charge(charge()))
        assert ledger.verify().entries == 3
    with Ledger.open(path, clock=clock) as again:
        clock.move(hours=1)
        assert again.run(charge(), lambda *_: "41")[0] == "41"


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, "60", None, True])
def test_lease_seconds_that_are_no_time_are_refused(path, wrong):
    with pytest.raises(BadParameter, match="lease_seconds"):
        Ledger.create(path, lease_seconds=wrong)


def test_what_is_sealed_has_the_types_that_are_read_back():
    class Text(str):
        __slots__ = ()

    found = as_stored(Lease(Text("k"), True, 1, 0))
    assert [type(getattr(found, each.name)) for each in fields(found)] == [str, int, float, float, str]
    assert found == Lease("k", 1, 1.0, 0.0)


@pytest.mark.parametrize("kind", [Entry, Head, Secret, Seal, Root, *CARRYING, *COUNTED])
def test_a_row_with_a_field_of_another_type_is_refused(kind):
    plain = {"str": "a", "int": 1, "float": 1.0, "bytes": b"a", "int | None": 1, "str | None": None}
    values = [plain[each.type] for each in fields(kind)]
    assert built(kind, tuple(values)) == kind(*values)
    for place, each in enumerate(fields(kind)):
        for wrong in (None, 1, 1.0, "a", b"a"):
            if type(wrong).__name__.replace("NoneType", "None") in each.type:
                continue
            with pytest.raises(Tampered, match="another type"):
                built(kind, (*values[:place], wrong, *values[place + 1 :]))


def test_a_vault_whose_fields_lost_their_types_is_refused_when_it_is_opened(ledger, path):
    """As when a bit of a record's header is flipped: then a text is read as nothing, or as a number."""
    ledger.refused(None, "q", "why")
    ledger.close()
    content = path.read_bytes()
    place = content.rindex(b'refusal{"analyst"')
    refused = 0
    for at in range(place - 8, place):
        for bit in range(8):
            path.write_bytes(content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :])
            try:
                Ledger.open(path).close()
            except Tampered:
                refused += 1
    assert refused
