"""Seals: a row that was changed, lost or put back is refused wherever it is read, in an open ledger as in a new one."""

from dataclasses import fields
from fractions import Fraction
from itertools import product

import pytest

from discreet.account import Approx
from discreet.account.budgets.budget import Budget, BudgetExceeded
from discreet.ledger import Charge, Ledger, Tampered
from discreet.ledger.integrity.seal import SealedTransaction, Sealer
from discreet.ledger.store import CARRYING, COUNTED, DERIVED, Debit, Limit, Private, Settled
from tests.ledger.forging import KEYS, forger
from tests.ledger.helpers import charge, epsilon, kinds

EVERY_STORE = True


def never(*_):
    raise AssertionError("the work was done again")


def flips(text, chosen=lambda _: True):
    """Every flip of one bit of the chosen characters."""
    content = text.encode()
    places = [place for place, byte in enumerate(content) if chosen(chr(byte))]
    return [
        content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
        for place in places
        for bit in range(8)
    ]


def is_text(content):
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def test_every_kind_of_row_has_a_seal():
    assert {*DERIVED, Private, Settled} <= {*COUNTED, *CARRYING}
    assert not {*COUNTED} & {*CARRYING}
    assert all("seal" in {field.name for field in fields(kind)} for kind in CARRYING)


def test_a_seal_tells_types_and_where_one_field_ends():
    sealer = Sealer(b"k" * 32)
    rows = [
        Limit("a", "bc", "", "", "", 1),
        Limit("ab", "c", "", "", "", 1),
        Limit("a", "b", "c", "", "", 1),
        Limit("a", "bc", "", "", "", "1"),
        Limit("a", "bc", "", "", "", None),
    ]
    seals = {sealer.of(Limit, [row]) for row in rows}
    seals |= {sealer.of(Limit, rows[:2]), sealer.of(Limit, []), Sealer(b"l" * 32).of(Limit, rows[:1])}
    assert len(seals) == len(rows) + 3


def test_no_two_rows_have_one_seal_whatever_marks_their_texts_hold():
    sealer = Sealer(b"k" * 32)
    texts = ["".join(each) for size in range(4) for each in product("s1:", repeat=size)]
    seals = {sealer.of(Limit, [Limit(one, two, "", "", "", 1)]) for one in texts for two in texts}
    assert len(seals) == len(texts) ** 2


@pytest.mark.parametrize("kind", [*COUNTED, *CARRYING])
def test_a_row_has_another_seal_in_another_table(kind):
    sealer, other = Sealer(b"k" * 32), type("Other", (kind,), {"TABLE": "others"})
    row = kind(*range(len(fields(kind))))
    assert sealer.of(kind, [row]) != sealer.of(other, [row])


@pytest.mark.parametrize("budget", [epsilon(1), Budget(epsilon=1, delta=Fraction(2, 10**6))])
def test_no_flipped_bit_of_what_was_spent_or_promised_gives_one_more_answer(ledger, path, budget):
    delta = Fraction(1, 2 * 10**7) if budget.delta else Fraction(0)
    loss = Approx(Fraction(1, 100), delta) if delta else charge().losses["people"]

    def ask(number):
        return ledger.run(Charge(f"q{number}", {"flipped": loss}, {"visits": 1}), lambda *_: "41")

    ledger.add_account("flipped", budget)
    for number in range(7):
        ask(number)
    answers = 0
    with forger(path) as forge:
        (row,) = [row for row in forge.rows("limits") if row["account"] == "flipped"]
        tried = flips(row["state"], str.isdigit)
        in_file = hasattr(path, "parent")  # a server refuses bytes that are no text, and takes longer
        for number, state in enumerate(tried if in_file else filter(is_text, tried[::5])):
            forge.change("limits", row, state=state if in_file else state.decode())
            with pytest.raises(Tampered):
                answers += bool(ask(f"more{number}"))
            forge.put("limits", row)
    assert answers == 0
    assert len(tried) >= 48
    assert kinds(ledger).count("charge") == 7
    for number in range(7, 10):
        ask(number)
    with pytest.raises(BudgetExceeded):
        ask(10)
    assert ledger.verify().entries == ledger.head[0]


@pytest.mark.parametrize("column", ["loss", "delta"])
def test_a_changed_tally_is_refused(ledger, path, column):
    ledger.run(charge(analyst="ann"), lambda *_: "41")
    with forger(path) as forge:
        (row,) = forge.rows("tallies")
        forge.change("tallies", row, **{column: "1/11"})
    with pytest.raises(Tampered, match="what is stored of tallies"):
        ledger.spent("people", "ann")
    with pytest.raises(Tampered):
        ledger.run(charge("r", analyst="ann"), never)
    assert kinds(ledger).count("charge") == 1


def test_a_changed_answer_is_never_replayed(ledger, path):
    ledger.run(charge(), lambda *_: "41")
    with forger(path) as forge:
        (row,) = forge.rows("answers")
        forge.change("answers", row, answer="42")
    for look in (lambda: ledger.run(charge(), never), lambda: ledger.answer(charge().key)):
        with pytest.raises(Tampered):
            look()


def test_an_answer_that_was_sealed_anew_is_refused_by_its_hash(ledger, path):
    ledger.run(charge(), lambda *_: "41")
    with forger(path) as forge:
        (row,) = forge.rows("answers")
        forged = Settled(row["sequence"], "42")
        forge.change("answers", row, answer="42", seal=ledger._secret.sealer.of(Settled, [forged]))
        with pytest.raises(Tampered, match="its settled answer was changed"):
            ledger.run(charge(), never)
        # And with a debit that was sealed again as well, by the entry that settled it.
        (debit,) = forge.rows("debits")
        from hashlib import sha256

        changed = {**debit, "digest": sha256(b"42").hexdigest()}
        forge.put("debits", {**changed, "seal": ledger._secret.sealer.of(Debit, [Debit(**changed)])})
        with pytest.raises(Tampered, match="its settled answer was changed"):
            ledger.run(charge(), never)


def filled(ledger):
    """Make rows of every kind, and return how to look at them."""
    ledger.window("people", epsilon(Fraction(1, 2)))
    token = ledger.grant("ann", ["visits"], {"people": epsilon(Fraction(3, 10))})
    grant = ledger.authenticate(token).id
    ledger.put("table", "visits", {"rows": 1}, private={"stamp": 1})
    ledger.charge(charge("q", analyst="ann", grant=grant))
    ann = {"analyst": "ann", "grant": grant}
    return ann, {
        "limits": ledger.standing,
        "tallies": lambda: ledger.spent("people", "ann"),
        "debits": lambda: ledger.run(charge("q"), never),
        "documents": lambda: ledger.get("table", "visits"),
        "privates": lambda: ledger.get("table", "visits"),
        "grants": lambda: ledger.authenticate(token),
        "checks": ledger.verify_if_due,
        "roots": lambda: ledger.refused("ann", "r", "why"),
    }


def test_a_row_that_is_put_back_as_it_once_was_is_refused_by_an_open_ledger(ledger, path, clock):
    ann, looks = filled(ledger)
    with forger(path) as forge:
        before = {table: forge.rows(table) for table in looks}
        clock.move(minutes=1)
        ledger.run(charge("q", **ann), lambda *_: "41")
        ledger.run(charge("r", **ann), lambda *_: "41")
        ledger.put("table", "visits", {"rows": 2}, private={"stamp": 2})
        ledger.run(charge("without a grant"), lambda *_: "41")
        ledger.revoke("ann")
        ledger.verify()
        after = {table: forge.rows(table) for table in looks}
        tried = 0
        for table, look in looks.items():
            for old in before[table]:
                (new,) = [row for row in after[table] if all(row[name] == old[name] for name in KEYS[table])]
                assert old != new, table  # every one of them has changed since
                forge.put(table, old)
                with pytest.raises(Tampered):
                    look()
                forge.put(table, new)
                tried += 1
    assert tried == 10
    assert ledger.verify().entries == ledger.head[0]


def test_a_row_that_is_lost_is_refused_by_an_open_ledger_or_costs_more(ledger, path):
    ann, looks = filled(ledger)
    with forger(path) as forge:
        for table, look in looks.items():
            for row in forge.rows(table):
                forge.remove(table, row)
                if table == "debits":  # a question whose debit is lost is paid for again
                    before = ledger.spent("people").loss
                    ledger.charge(charge("q", **ann))
                    assert ledger.spent("people").loss == before + Fraction(1, 10)
                    continue
                with pytest.raises(Tampered):
                    look()
                forge.put(table, row)


@pytest.mark.parametrize("kind", COUNTED)
def test_a_changed_row_whose_seal_was_removed_is_refused_by_an_open_ledger(ledger, path, kind):
    _, looks = filled(ledger)
    head, table = ledger.head, kind.TABLE
    column = "revision" if kind is Private else "sequence"
    with forger(path) as forge:
        seals = [row for row in forge.rows("seals") if row["kind"] == table]
        for row in forge.rows(table):
            forge.change(table, row, **{column: row[column] + 1})
            for seal in seals:
                forge.remove("seals", seal)
            with pytest.raises(Tampered, match=f"what is stored of {table}"):
                looks[table]()
            for each, rows in ((table, [row]), ("seals", seals)):
                for old in rows:
                    forge.put(each, old)
    assert seals
    assert ledger.head == head
    assert ledger.verify().entries == head[0]


def test_rows_that_are_put_back_with_their_seals_are_refused_when_the_vault_is_opened(ledger, path, clock):
    ann, looks = filled(ledger)
    with forger(path) as forge:
        before = {table: forge.rows(table) for table in (*looks, "seals")}
        ledger.run(charge("q", **ann), lambda *_: "41")
        ledger.run(charge("r", **ann), lambda *_: "41")
        ledger.put("table", "visits", {"rows": 2}, private={"stamp": 2})
        ledger.revoke("ann")
        ledger.close()
        after = {table: forge.rows(table) for table in (*looks, "seals")}
        for table in ("limits", "tallies", "documents", "privates", "grants"):
            for each in ("seals", table):
                for row in before[each]:
                    if each != "seals" or row["kind"] == table:
                        forge.put(each, row)
            with pytest.raises(Tampered, match="restored to an older state"):
                Ledger.open(path, clock=clock)
            for each in ("seals", table):
                for row in after[each]:
                    forge.put(each, row)
        # All of it, the root too: the root is of another end of the chain.
        for table, rows in before.items():
            for row in rows:
                forge.put(table, row)
        with pytest.raises(Tampered, match="another end of it"):
            Ledger.open(path, clock=clock)


def test_a_debit_that_was_put_back_before_its_answer_is_not_worked_on_again(ledger, path):
    ledger.charge(charge())
    with forger(path) as forge:
        (unsettled,) = forge.rows("debits")
        ledger.run(charge(), lambda *_: "41")
        forge.put("debits", unsettled)
    with pytest.raises(Tampered, match="its debit was restored"):
        ledger.run(charge(), never)


def test_a_refusal_for_a_seal_is_no_entry_and_leaves_nothing_half_done(ledger, path):
    ledger.run(charge(analyst="ann"), lambda *_: "41")
    with forger(path) as forge:
        (row,) = forge.rows("tallies")
        forge.change("tallies", row, loss="0")
        head = ledger.head
        with pytest.raises(Tampered):
            ledger.run(charge("r", analyst="ann"), never)
        assert ledger.head == head
        forge.put("tallies", row)
    assert ledger.verify().entries == head[0]


def test_nothing_leaves_a_vault_but_sealed_transactions(ledger):
    for begun in (ledger._read, ledger._write):
        with begun() as transaction:
            assert type(transaction) is SealedTransaction
