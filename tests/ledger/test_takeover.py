"""Takeovers: asking again is as the refusal says, whatever went wrong, and nobody ends what others work on."""

from fractions import Fraction

import pytest

from discreet.ledger import Conflict, Ledger, QuestionFailed, Unavailable
from discreet.ledger.lease import Lease
from tests.ledger.helpers import charge, epsilon

EVERY_STORE = True
TENTH = Fraction(1, 10)


def never(_draws):
    pytest.fail("the work was done again")


def lost():
    return Unavailable("the vault", why="the connection was lost", fix="ask again", value="v")


def failing(ledger, monkeypatch, number):
    """Have the anchor fail so often, counted from now, after what it was to vouch for was committed."""
    write, left = ledger._anchors.write, [number]

    def broken(*given):
        left[0] -= 1
        if left[0] == 0:
            raise lost()
        write(*given)

    monkeypatch.setattr(ledger._anchors, "write", broken)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_charge_whose_outcome_was_not_told_is_found_and_not_made_twice(ledger, monkeypatch, once, fresh):
    failing(ledger, monkeypatch, 1)
    with pytest.raises(Unavailable, match="the connection was lost") as refused:
        ledger.run(charge(once=once), never, fresh=fresh)
    assert refused.value.fix == "ask again"
    assert ledger.spent("people").loss == TENTH
    answer, receipt = ledger.run(charge(once=once), lambda _: "41", fresh=fresh)
    assert (answer, receipt.replayed) == ("41", False)
    assert ledger.spent("people").loss == TENTH
    assert ledger.unsettled() == ()
    assert ledger.verify().entries == ledger.head[0]


def test_a_fresh_charge_that_was_interrupted_is_taken_up_by_the_same_analyst_at_the_same_price(ledger):
    def interrupted(_draws):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge(), interrupted, fresh=True)
    ledger.run(charge(epsilon=2 * TENTH), lambda _: "dearer", fresh=True)
    ledger.run(charge(analyst="ann"), lambda _: "ann's", fresh=True)
    ledger.run(charge("another"), lambda _: "another", fresh=True)
    assert (ledger.settle_abandoned(), len(ledger.unsettled())) == (0, 1)
    assert ledger.spent("people").loss == 5 * TENTH
    assert ledger.run(charge(), lambda _: "first", fresh=True)[0] == "first"
    assert ledger.run(charge(), lambda _: "second", fresh=True)[0] == "second"
    assert ledger.spent("people").loss == 6 * TENTH


def test_a_fresh_charge_that_cannot_be_gone_on_with_is_paid_for_anew(ledger):
    def interrupted(_draws):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge(), interrupted, fresh=True, engine=lambda: "one")
    assert ledger.run(charge(), lambda _: "41", fresh=True, engine=lambda: "two")[0] == "41"
    assert ledger.spent("people").loss == 2 * TENTH
    assert ledger.unsettled() == ()


def test_a_fresh_question_that_fails_is_paid_for_once(ledger):
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), lambda _: 1 // 0, fresh=True)
    assert ledger.spent("people").loss == TENTH


def test_whoever_cannot_find_a_fresh_charge_again_is_told_so(ledger, monkeypatch):
    failing(ledger, monkeypatch, 1)
    monkeypatch.setattr(ledger, "_change", lambda *_: None)  # the lease is not given back
    with pytest.raises(Unavailable) as refused:
        ledger.run(charge(), never, fresh=True)
    assert "another is paid for" in refused.value.fix


def test_work_that_is_done_once_and_was_not_begun_waits_for_whoever_asks(ledger, monkeypatch, path, clock):
    failing(ledger, monkeypatch, 1)
    with pytest.raises(Unavailable):
        ledger.run(charge(once=True), never)
    assert ledger.verify().entries == ledger.head[0]
    with Ledger.open(path, clock=clock) as other:  # and the first process ended
        assert other.run(charge(once=True), lambda _: "41")[0] == "41"
        assert other.spent("people").loss == TENTH


def full(ledger, monkeypatch):
    """Have no room for settlements; return what makes room again."""
    settle, room = ledger._settle, [False]

    def settled(*given):
        if not room[0]:
            raise Unavailable("the vault", why="the disk is full", fix="free disk space and ask again", value="v")
        settle(*given)

    monkeypatch.setattr(ledger, "_settle", settled)
    return lambda: room.__setitem__(0, True)


@pytest.mark.parametrize("fresh", [False, True])
def test_an_answer_that_found_no_room_is_settled_when_there_is_some(ledger, monkeypatch, fresh):
    make_room = full(ledger, monkeypatch)
    for work in (lambda _: "41", never, never):
        with pytest.raises(Unavailable, match="the disk is full") as refused:
            ledger.run(charge(once=True), work, fresh=fresh)
        assert "which keeps the answer until it ends" in refused.value.fix
    make_room()
    answer, receipt = ledger.run(charge(once=True), never, fresh=fresh)
    assert (answer, receipt.replayed) == ("41", True)
    assert ledger.spent("people").loss == TENTH
    assert ledger.verify().entries == ledger.head[0]


def test_an_answer_that_found_no_room_is_settled_at_the_latest_when_the_ledger_is_closed(
    ledger, monkeypatch, path, clock
):
    make_room = full(ledger, monkeypatch)
    with pytest.raises(Unavailable):
        ledger.run(charge(once=True), lambda _: "41")
    make_room()
    ledger.close()
    with Ledger.open(path, clock=clock) as other:
        assert other.run(charge(once=True), never)[0] == "41"


def test_an_answer_that_was_lost_with_its_process_says_until_when_it_is_waited_for(ledger, monkeypatch, path, clock):
    full(ledger, monkeypatch)
    with pytest.raises(Unavailable):
        ledger.run(charge(once=True), lambda _: "41")
    ledger.close()
    with Ledger.open(path, clock=clock) as other:
        with pytest.raises(Conflict, match="or has died") as refused:
            other.run(charge(once=True), never)
        assert "until 2026-11-15T18:00:00" in refused.value.fix
        clock.move(hours=6)
        with pytest.raises(QuestionFailed):
            other.run(charge(once=True), never)


def test_an_interrupted_settlement_fails_as_soon_as_there_is_room(ledger, monkeypatch):
    def interrupted(_draws):
        raise KeyboardInterrupt

    make_room = full(ledger, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge(once=True), interrupted)
    make_room()
    with pytest.raises(QuestionFailed):
        ledger.run(charge(once=True), never)


@pytest.mark.parametrize("why", ["machine", "engine", "price"])
def test_who_cannot_go_on_with_a_slow_question_does_not_end_it(ledger, path, clock, tmp_path, why):
    with Ledger.open(path, clock=clock) as other:
        if why == "machine":  # whose key is another
            other._outside.path = tmp_path / "elsewhere.draws"
        asked = charge(epsilon=2 * TENTH if why == "price" else TENTH)

        def slow(_draws):
            for hours in (1, 4):
                clock.move(hours=hours)
                with pytest.raises(Conflict, match="another machine") as refused:
                    other.run(asked, never, engine=lambda: why)
            assert "until 2026-11-15T18:00:00" in refused.value.fix
            return "41"

        assert ledger.run(charge(), slow)[0] == "41"
        assert other.run(asked, never, engine=lambda: why)[0] == "41"
    assert ledger.spent("people").loss == TENTH


def test_a_question_that_nobody_here_can_go_on_with_fails_after_six_hours(ledger, path, clock):
    ledger.lease(ledger.charge(charge()))
    ledger._outside.path.unlink()
    clock.move(hours=5, minutes=59)
    with pytest.raises(Conflict, match="another machine"):
        ledger.run(charge(), never)
    clock.move(minutes=1)
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), never)


def test_a_lease_that_was_given_back_has_nobody_at_work():
    first = Lease.first("k", 60.0, 100.0)
    assert first.alive_until(60.0) == 100.0 + 360 * 60
    assert first.released().alive_until(60.0) == Lease.unbegun("k", 60.0).alive_until(60.0) == 0.0
    assert Lease.first("k", 1e6, 0.0).alive_until(60.0) == 1e6
    assert Lease.unbegun("k", 60.0).next(60.0, 5.0) == Lease("k", 1, 60.0, 65.0)


def test_what_stands_in_the_way_of_an_anchor_is_told_before_the_charge(path, clock, tmp_path):
    with Ledger.create(path, clock=clock, anchor=tmp_path / "here.anchor") as ledger:
        ledger.add_account("people", epsilon(1))
        anchor, kept = ledger._anchors.path, tmp_path / "kept"
        anchor.rename(kept)
        anchor.mkdir()
        for fresh in (False, True):
            with pytest.raises(Unavailable, match="cannot be written"):
                ledger.run(charge(), never, fresh=fresh)
        anchor.rmdir()
        kept.rename(anchor)
        assert ledger.spent("people").loss == 0
        assert ledger.run(charge(), lambda _: "41")[0] == "41"


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("fresh", [False, True])
def test_an_anchor_that_fails_at_the_settlement_costs_no_second_charge(ledger, tmp_path, once, fresh):
    anchor, kept = ledger._anchors.path, tmp_path / "kept"

    def work(_draws):
        anchor.rename(kept)
        anchor.mkdir()
        return "41"

    with pytest.raises(Unavailable, match="cannot be written"):
        ledger.run(charge(once=once), work, fresh=fresh)
    anchor.rmdir()
    kept.rename(anchor)
    assert ledger.run(charge(once=once), never if once else lambda _: "41", fresh=fresh)[0] == "41"
    assert ledger.spent("people").loss == TENTH
