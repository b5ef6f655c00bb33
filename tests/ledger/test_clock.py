"""Clocks: a vault's time never runs behind its last entry, and a clock that ran ahead can be put right."""

from contextlib import suppress
from datetime import datetime, timedelta
from fractions import Fraction

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger import AccessRefused, Ledger, LimitExceeded, Tampered, limit
from discreet.ledger.clock import UTC, VaultClock, written
from discreet.ledger.entry import Entry, canonical
from tests.ledger.helpers import START, Clock, charge, epsilon, kinds
from tests.ledger.integrity.test_verify import resealed

EVERY_STORE = True
FUTURE = datetime(2099, 1, 1, tzinfo=UTC)


def never(*_):
    raise AssertionError("the work was done again")


def test_a_grant_that_has_expired_never_answers_again_however_far_the_clock_goes_back(ledger, path, clock):
    token = ledger.grant("ann", ["visits"], expires=START + timedelta(hours=1))
    ann = {"analyst": "ann", "grant": ledger.authenticate(token).id}
    ledger.run(charge("q", **ann), lambda *_: "41")
    clock.move(hours=2)
    ledger.refused(None, "r", "an entry of that time")
    answers = 0
    for back in (timedelta(seconds=3601), timedelta(hours=2), timedelta(days=2), timedelta(days=20_000)):
        clock.now = START + timedelta(hours=2) - back
        with Ledger.open(path, clock=clock) as again:  # a new process, or one that was open
            for each in (ledger, again):
                for question in ("q", "r"):
                    with pytest.raises(AccessRefused, match="expired"):
                        answers += bool(each.run(charge(question, **ann), never))
                with pytest.raises(AccessRefused, match="expired"):
                    each.authenticate(token)
    assert answers == 0
    times = [entry.record()["at"] for entry in ledger.entries()]
    assert times == sorted(times)
    assert ledger.verify().entries == ledger.head[0]


def test_a_grant_that_was_refused_for_its_age_stays_refused_though_nothing_else_happened(ledger, path, clock):
    token = ledger.grant("ann", ["visits"], expires=START + timedelta(hours=1))
    clock.move(hours=2)
    for _ in range(3):
        with pytest.raises(AccessRefused, match="expired"):
            ledger.authenticate(token)
    assert kinds(ledger)[-2:] == ["grant", "refusal"]  # once
    clock.now = START
    with Ledger.open(path, clock=clock) as again, pytest.raises(AccessRefused, match="expired"):
        again.authenticate(token)
    assert ledger.verify().entries == ledger.head[0]


def test_a_clock_that_jumped_ahead_freezes_no_window_and_gives_nothing_back(ledger, clock):
    ledger.window("people", epsilon(Fraction(1, 10)))
    ledger.run(charge("a"), lambda *_: "41")
    clock.now = FUTURE
    ledger.run(charge("b"), lambda *_: "41")  # a new month, by that clock
    clock.now = START
    for _ in range(3):
        with pytest.raises(LimitExceeded, match="the month 2099-01"):
            ledger.run(charge("c"), never)
    clock.move(days=32)
    ledger.run(charge("c"), lambda *_: "41")  # time went on from the last entry
    with pytest.raises(LimitExceeded, match="the month 2099-02"):
        ledger.run(charge("d"), never)
    assert ledger.spent("people").loss == Fraction(3, 10)
    assert ledger.verify().entries == ledger.head[0]


def test_a_correction_brings_grants_and_windows_back_and_refunds_nothing(ledger, path, clock):
    ledger.window("people", epsilon(Fraction(2, 10)))
    token = ledger.grant("ann", ["visits"], expires=START + timedelta(days=90))
    ann = {"analyst": "ann", "grant": ledger.authenticate(token).id}
    clock.now = FUTURE
    ledger.run(charge("a"), lambda *_: "41")
    clock.now = START + timedelta(days=1)
    with pytest.raises(AccessRefused, match="expired"):
        ledger.authenticate(token)
    assert ledger.now() >= FUTURE
    assert ledger.correct_clock() == (FUTURE, clock.now)
    assert kinds(ledger)[-1] == "clock"
    assert ledger.now() == clock.now
    ledger.run(charge("b", **ann), lambda *_: "41")
    with pytest.raises(LimitExceeded, match="the month 2026-11"):  # what was spent in 2099 counts now
        ledger.run(charge("c", **ann), never)
    clock.move(days=30)
    ledger.run(charge("c", **ann), lambda *_: "41")
    assert ledger.spent("people").loss == Fraction(3, 10)
    assert ledger.correct_clock() is None
    assert ledger.verify().entries == ledger.head[0]
    with Ledger.open(path, clock=clock) as again:
        assert again.now() == clock.now


def test_a_correction_gives_a_full_window_and_a_full_cap_nothing_back(ledger, path, clock):
    ledger.window("people", epsilon(Fraction(1, 10)))
    token = ledger.grant("ann", ["visits"], monthly={"people": epsilon(Fraction(1, 10))})
    ann = {"analyst": "ann", "grant": ledger.authenticate(token).id}
    ledger.run(charge("a", **ann), lambda *_: "41")  # November is full
    clock.now = FUTURE
    ledger.run(charge("b", Fraction(1, 100), **ann), lambda *_: "41")
    clock.now = START
    ledger.correct_clock()
    left = {each.scope: each.filter.remaining.loss for each in ledger.standing() if each.window}
    assert left == {"window": 0}
    for more in ({}, ann):
        with pytest.raises(LimitExceeded, match="the month 2026-11"):
            ledger.run(charge("c", Fraction(1, 100), **more), never)
    assert ledger.verify().entries == ledger.head[0]
    clock.now = datetime(2026, 12, 1, tzinfo=UTC)  # the next month is a new one, and what was charged in 2099 is past
    ledger.run(charge("d", Fraction(9, 100), **ann), lambda *_: "41")
    clock.now = FUTURE
    ledger.run(charge("e", Fraction(1, 100), **ann), lambda *_: "41")
    clock.now = datetime(2026, 12, 2, tzinfo=UTC)
    ledger.correct_clock()
    assert {each.filter.remaining.loss for each in ledger.standing() if each.window} == {0}
    assert ledger.verify().entries == ledger.head[0]


def test_a_window_that_was_set_anew_counts_from_then_on_after_a_correction(ledger, clock):
    ledger.run(charge("a"), lambda *_: "41")
    ledger.window("people", epsilon(Fraction(3, 10)))
    ledger.run(charge("b"), lambda *_: "41")
    clock.now = FUTURE
    ledger.run(charge("c"), lambda *_: "41")
    clock.now = START
    ledger.correct_clock()
    assert [each.filter.spent.loss for each in ledger.standing() if each.window] == [Fraction(2, 10)]


def test_a_correction_to_a_time_before_the_vault_was_made_is_refused(ledger, clock):
    """A clock that is behind is a wrong one too: windows of the past would give the present one back."""
    clock.now = START.replace(year=START.year - 6)
    with pytest.raises(BadParameter, match="set the machine's clock right first"):
        ledger.correct_clock()


def test_a_correction_that_forgets_what_a_window_had_spent_is_found(ledger, clock, monkeypatch):
    ledger.window("people", epsilon(Fraction(2, 10)))
    ledger.run(charge("a"), lambda *_: "41")
    clock.now = FUTURE
    ledger.run(charge("b", Fraction(1, 100)), lambda *_: "41")
    clock.now = START
    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.window._recounted", lambda there, *_: limit.filter_in(there))
        ledger.correct_clock()
    with pytest.raises(Tampered, match="forgets what was spent"):
        ledger.verify()


def test_a_correction_opens_no_grant_that_has_really_expired(ledger, clock):
    token = ledger.grant("ann", ["visits"], expires=START + timedelta(hours=1))
    clock.now = FUTURE
    ledger.refused(None, "r", "why")
    clock.now = START + timedelta(hours=1)
    ledger.correct_clock()
    with pytest.raises(AccessRefused, match="expired"):
        ledger.authenticate(token)


def test_an_entry_that_was_long_in_coming_is_dated_after_the_one_before_it(ledger):
    early, late = written(START - timedelta(hours=1)), written(START + timedelta(hours=1))
    with ledger._write() as transaction:
        transaction.root()
        assert transaction.date(early) == written(START)  # the newest entry so far
        assert [transaction.date(each) for each in (late, early, written(START))] == [late] * 3


def test_the_budget_for_life_has_no_time(ledger, clock):
    for number, year in enumerate((2026, 2099, 2027, 9999, 1970) * 2):
        clock.now = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
        ledger.run(charge(f"q{number}"), lambda *_: "41")
        if number % 3 == 0:
            with suppress(BadParameter):  # of a year before the vault was made
                ledger.correct_clock()
    with pytest.raises(LimitExceeded, match="account 'people'"):
        ledger.run(charge("more"), never)
    assert ledger.verify().entries == ledger.head[0]


def test_machines_whose_clocks_differ_do_not_make_time_run_faster():
    machines = [Clock(START + timedelta(seconds=5 * number)) for number in range(2)]
    for skewed, most in ((START, 5), (FUTURE, 5)):  # the last entry now, or long ahead of both
        clocks = [VaultClock(each) for each in machines]
        at, wall = skewed, START
        for _ in range(200):
            for each in clocks:
                each.note(written(at), written(wall))
                at, wall = max(at, each()), each.wall()
        assert at - skewed <= timedelta(seconds=most)


def test_a_vault_clock_is_the_machines_until_that_is_behind():
    machine = Clock()
    clock = VaultClock(machine)
    assert clock() == clock.wall() == START
    clock.note(written(START), written(START))
    machine.move(hours=1)
    assert clock() == clock.wall() == machine.now
    machine.now = START - timedelta(days=400)
    assert (clock(), clock.wall()) == (START, machine.now)
    clock.note(written(START), written(machine.now))
    machine.move(hours=3)
    assert (clock(), clock.wall()) == (START + timedelta(hours=3), machine.now)


def test_an_entry_dated_before_the_one_before_it_is_found(tmp_path, clock):
    from tests.ledger.helpers import surgery

    path = tmp_path / "vault"
    with Ledger.create(path, clock=clock) as ledger:
        ledger.refused(None, "q", "why")
        head = ledger.head
    body = canonical({"analyst": None, "question": "r", "refused": {}, "at": written(START - timedelta(days=1))})
    last = Entry.after(*head, "refusal", body)
    with surgery(path) as connection:
        values = (last.sequence, last.kind, last.body, last.previous, last.hash)
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", values)
        bodies = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
        assert resealed(connection, bodies).hash == last.hash
    from discreet.ledger.integrity.anchor import AnchorFile
    from discreet.ledger.integrity.keys import Signer
    from discreet.ledger.integrity.verify import verify
    from discreet.ledger.integrity.witnesses import Witnesses
    from discreet.ledger.sqlite.store import SqliteStore
    from discreet.ledger.store import Secret

    store = SqliteStore.open(path)
    with store.read() as look:
        found = {row.name: row.value for row in look.all(Secret)}
    signer = Signer(found["vault"].decode(), found["signing"])
    anchors = Witnesses([AnchorFile(path.with_name("vault.anchor"), signer)], signer)
    with pytest.raises(Tampered, match="dated before the entry before it"):
        verify(store, anchors)
    store.close()
