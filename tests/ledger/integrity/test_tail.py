"""The tail: what is checked whenever a vault is opened; and the whole, when that is due."""

from dataclasses import replace
from datetime import timedelta

import pytest

from discreet.ledger import Ledger, QuestionFailed, Tampered
from discreet.ledger.entry import Entry, Head
from discreet.ledger.integrity import tail
from discreet.ledger.integrity.seal import following
from tests.ledger.forging import forger
from tests.ledger.helpers import charge, kinds, surgery

EVERY_STORE = True


@pytest.fixture
def verified(monkeypatch):
    """How often a vault was verified as a whole."""
    from discreet.ledger import vault

    found, verify = [], vault.verify.verify

    def watched(*given, **more):
        found.append(given)
        return verify(*given, **more)

    monkeypatch.setattr(vault.verify, "verify", watched)
    return found


def test_the_whole_is_verified_once_a_day(ledger, path, clock, verified):
    for hours, times in ((1, 0), (22, 0), (2, 1), (1, 1), (24, 2)):
        clock.move(hours=hours)
        with Ledger.open(path, clock=clock) as again:
            again.verify_if_due()
        assert len(verified) == times


def test_the_whole_is_verified_after_many_entries(ledger, verified, monkeypatch):
    monkeypatch.setattr("discreet.ledger.vault._DUE_ENTRIES", 5)
    for number in range(3):
        ledger.refused(None, f"q{number}", "why")
    assert ledger.verify_if_due() is None
    ledger.refused(None, "q3", "why")
    assert ledger.verify_if_due().entries == 6
    assert ledger.verify_if_due() is None
    assert len(verified) == 1


def test_a_clock_that_is_set_back_does_not_put_verifying_off(ledger, clock, verified):
    clock.move(days=20_000)
    ledger.verify_if_due()
    clock.move(days=-20_000)
    ledger.verify_if_due()
    ledger.verify_if_due()
    assert len(verified) == 2


def test_verifying_by_hand_counts(ledger, clock, verified):
    clock.move(hours=23)
    ledger.verify()
    clock.move(hours=23)
    assert ledger.verify_if_due() is None
    clock.move(hours=1)
    assert ledger.verify_if_due().entries == 2


def test_a_debit_that_is_missing_or_changed_is_found_when_the_vault_is_opened(ledger, path, clock):
    ledger.charge(charge())
    with forger(path) as forge:
        (unsettled,) = forge.rows("debits")
        ledger.run(charge(), lambda *_: "41")
        (settled,) = forge.rows("debits")
        ledger.close()
        for forged in (lambda: forge.put("debits", unsettled), lambda: forge.remove("debits", settled)):
            forged()
            with pytest.raises(Tampered, match="the debit that it left is missing") as refused:
                Ledger.open(path, clock=clock)
            assert refused.value.sequence in (3, 4)
            forge.put("debits", settled)
    with Ledger.open(path, clock=clock) as again:
        assert again.run(charge(), lambda *_: "never")[0] == "41"


def test_every_changed_entry_of_the_tail_is_found_when_the_vault_is_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "LENGTH", 3)
    path = tmp_path / "vault"
    with Ledger.create(path) as ledger:
        for number in range(5):
            ledger.refused(None, f"q{number}", "why")
    for number in range(1, 7):
        with surgery(path) as connection:
            connection.execute("UPDATE entries SET body = replace(body, 'why', 'how') WHERE sequence = ?", (number,))
        if number in (4, 5, 6):
            with pytest.raises(Tampered, match=f"entry {number}"):
                Ledger.open(path)
        else:  # found when it is read, and by verifying the whole
            with Ledger.open(path) as opened:
                if number > 1:
                    with pytest.raises(Tampered, match=f"entry {number}"):
                        [*opened.entries()]
                    with pytest.raises(Tampered, match=f"entry {number}"):
                        opened.verify()
        with surgery(path) as connection:
            connection.execute("UPDATE entries SET body = replace(body, 'how', 'why') WHERE sequence = ?", (number,))


def test_a_changed_entry_ten_back_is_found_when_the_vault_is_opened(ledger, path, clock):
    for number in range(12):
        ledger.refused(None, f"q{number}", "why")
    back = ledger.head[0] - 10
    ledger.close()
    with forger(path) as forge:
        (row,) = [row for row in forge.rows("entries") if row["sequence"] == back]
        change_entry(forge, row, row["body"].replace("why", "how"))
    with pytest.raises(Tampered, match=f"entry {back}") as refused:
        Ledger.open(path, clock=clock)
    assert refused.value.sequence == back


def test_a_debit_of_a_failed_question_that_was_put_back_is_found_when_the_vault_is_opened(ledger, path, clock):
    def broken(_):
        raise RuntimeError

    ledger.charge(charge())
    with forger(path) as forge:
        (unsettled,) = forge.rows("debits")
        with pytest.raises(QuestionFailed):
            ledger.run(charge(), broken)
        (settled,) = forge.rows("debits")
        assert kinds(ledger)[-1] == "failure"
        number = ledger.head[0]
        ledger.close()
        forge.put("debits", unsettled)
        with pytest.raises(Tampered, match="the debit that it left is missing") as refused:
            Ledger.open(path, clock=clock)
        assert refused.value.sequence == number
        forge.put("debits", settled)
    Ledger.open(path, clock=clock).close()


def test_a_lost_debit_of_a_failed_question_is_found_by_its_failure_alone(ledger, path, clock, monkeypatch):
    def broken(_):
        raise RuntimeError

    with pytest.raises(QuestionFailed):
        ledger.run(charge(), broken)
    ledger.close()
    monkeypatch.setattr(tail, "LENGTH", 1)  # as if its charge lay further back
    with forger(path) as forge:
        (row,) = forge.rows("debits")
        forge.remove("debits", row)
    with pytest.raises(Tampered, match="the debit that it left is missing"):
        Ledger.open(path, clock=clock)


@pytest.mark.parametrize("kind", ["charge", "settle"])
def test_a_changed_entry_is_not_replayed(ledger, path, kind):
    ledger.run(charge(label="mine"), lambda *_: "41")
    with forger(path) as forge:
        (row,) = [row for row in forge.rows("entries") if row["kind"] == kind]
        ledger.refused(None, "q", "an entry that is newer")
        change_entry(forge, row, row["body"].replace("2026", "2025"))
    with pytest.raises(Tampered, match=f"entry {row['sequence']}.*not that of what it says"):
        ledger.run(charge(), lambda *_: "42")


def change_entry(forge, row, body):
    """Change what an entry says, its hash left as it is."""
    assert body != row["body"]
    belts = [*forge.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")] if forge.mark == "?" else []
    for name, _ in belts:
        forge.execute(f"DROP TRIGGER {name}")
    forge.change("entries", row, body=body)
    for _, sql in belts:
        forge.connection.execute(sql)


def test_entries_that_do_not_follow_each_other_are_refused():
    one = Entry.after(0, "0" * 64, "refusal", "{}")
    two = Entry.after(1, one.hash, "refusal", "{}")
    other = Entry.after(1, "1" * 64, "refusal", "{}")
    last = Head(one.sequence, one.hash)
    assert following(two, last) == two
    for wrong in (other, one, replace(two, body="[]")):
        with pytest.raises(Tampered, match="entry 2"):
            following(wrong, last)


def test_opening_looks_at_no_more_when_the_chain_is_long(ledger, path, clock, monkeypatch):
    read = []
    sealed = Entry.sealed.fget
    monkeypatch.setattr(Entry, "sealed", property(lambda entry: read.append(entry.sequence) or sealed(entry)))
    for number in range(tail.LENGTH + 20):
        ledger.refused(None, f"q{number}", "why")
    read.clear()
    clock.move(seconds=int(timedelta(hours=1).total_seconds()))
    Ledger.open(path, clock=clock).close()
    assert len(read) <= tail.LENGTH + 3
