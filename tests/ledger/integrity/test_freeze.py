"""Freezing: a vault that is older than a head which anyone kept charges nothing, whoever kept it, and says so."""

import shutil

import pytest

from discreet.ledger import Frozen, Ledger, Tampered
from discreet.ledger.entry import Head
from discreet.ledger.integrity import freeze
from discreet.ledger.integrity.anchor import AnchorFile
from discreet.ledger.integrity.verify import check_heads
from discreet.ledger.place import state_anchor
from discreet.ledger.store import Check
from tests.ledger.helpers import charge

OTHER = "f" * 64


def anchors_of(ledger, path):
    return path.with_name(path.name + ".anchor"), state_anchor(ledger.vault_id)


def is_frozen(path, said):
    with Ledger.open(path) as old:
        with pytest.raises(Frozen, match="charges are lost"):
            old.charge(charge("another"))
        return said in old.frozen


@pytest.mark.parametrize("kept", [0, 1])
def test_one_anchor_is_enough_to_freeze_an_older_copy(ledger, path, tmp_path, kept):
    both = anchors_of(ledger, path)
    ledger.close()
    for number, each in enumerate((path, *both)):
        shutil.copy(each, tmp_path / f"copy{number}")
    with Ledger.open(path) as later:
        later.run(charge(), lambda _: "41")
    shutil.copy(tmp_path / "copy0", path)
    shutil.copy(tmp_path / f"copy{2 - kept}", both[1 - kept])  # the other one is put back, as with the whole folder
    assert is_frozen(path, "it ends at entry 2, and a head was signed at entry 4")


def test_a_copy_that_went_another_way_is_frozen_by_the_heads_of_the_first(ledger, path):
    both = anchors_of(ledger, path)
    ledger.close()
    backup = path.read_bytes()
    with Ledger.open(path) as first:
        first.run(charge(), lambda _: "41")
    kept = both[1].read_bytes()
    path.write_bytes(backup)
    for each in both:
        each.unlink()
    with Ledger.open(path) as second:
        for number in range(3):
            second.run(charge(f"q{number}"), lambda _: "41")
    both[1].write_bytes(kept)
    assert is_frozen(path, "a head was signed over another entry 4 than it has")


def test_a_head_that_was_shown_once_freezes_the_vault_for_every_process(ledger, path):
    with ledger._write() as transaction:
        transaction.put(Check(freeze.SHOWN, OTHER, 9))
    with pytest.raises(Frozen, match="a head was shown of an entry 9"):
        ledger.charge(charge())
    ledger.close()
    assert is_frozen(path, "a head was signed at entry 9")


def test_heads_are_forfeited_up_to_the_entry_that_is_said_and_no_further(ledger):
    own = Head(*ledger.head)
    heads = [Head(number, OTHER) for number in (1, 2, 3, 9)]
    for record, left in ((None, heads), ({"upto": 0}, heads), ({"upto": 2}, heads[2:])):
        if record is not None:
            ledger.put(freeze.FORFEIT, freeze.NAME, record)
        with ledger._read() as transaction:
            assert freeze.lost(transaction, [own, *heads]) == left
            for head in heads:
                if head in left:
                    with pytest.raises(Tampered, match=r"charges are lost|another entry of that number"):
                        check_heads(transaction, transaction, [head])
                else:
                    check_heads(transaction, transaction, [head])
            check_heads(transaction, transaction, [own])


def test_a_vault_whose_policy_requires_its_anchors_is_frozen_without_one(ledger, path):
    ledger.put(freeze.KIND, freeze.NAME, {"required": True, "path": None, "log": None})
    ledger.close()
    anchors_of(ledger, path)[1].unlink()
    with Ledger.open(path) as old:
        assert "an anchor is missing" in old.frozen
        with pytest.raises(Frozen):
            old.charge(charge())


def test_whatever_place_holds_another_head_nothing_is_committed(ledger, path):
    for place in anchors_of(ledger, path):
        before, content = ledger.head, place.read_bytes()
        AnchorFile(place, ledger._anchors.signer).put(Head(99, OTHER))
        with pytest.raises(Tampered, match="it was signed over an entry 99"):
            ledger.charge(charge())
        assert ledger.head == before
        place.write_bytes(content)
    ledger.charge(charge())


def test_the_text_of_a_frozen_vault_says_what_spends_the_least(ledger, path):
    ledger.put(freeze.KIND, freeze.NAME, {"required": True, "path": None, "log": None})
    _, state = anchors_of(ledger, path)
    ledger.close()
    backup = path.read_bytes()
    state.rename(state.with_suffix(".away"))
    with Ledger.open(path) as missing, pytest.raises(Frozen) as told:
        missing.charge(charge())
    assert "--forfeit" not in str(told.value)
    assert "restore --receipt" in str(told.value)
    state.with_suffix(".away").rename(state)
    with Ledger.open(path) as later:
        later.charge(charge())
    path.write_bytes(backup)
    with Ledger.open(path) as older:
        for refused in (older.rotate, older.rotate_secret, lambda: older.charge(charge())):
            with pytest.raises(Frozen, match="restore --forfeit"):
                refused()
