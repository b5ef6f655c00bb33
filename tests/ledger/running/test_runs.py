"""Running releases: charged once, settled part by part, fenced, gone on with after a restart, drawn in one way."""

from fractions import Fraction

import pytest

from discreet import noise
from discreet.ledger import (
    AccessRefused,
    Conflict,
    LeaseLost,
    Ledger,
    LimitExceeded,
    QuestionFailed,
    Tampered,
    Unavailable,
)
from discreet.ledger.artefacts.settlement import Filed
from discreet.ledger.running.part import RunBehind, RunEnded
from discreet.ledger.running.runs import PartDone
from discreet.ledger.store import Settled, StoredDraw
from tests.ledger.helpers import charge, kinds
from tests.ledger.recovery.worlds import put_back, saved

EVERY_STORE = True


def number(draws, state=b""):
    """Work that says a number, and remembers the sum of all."""
    with draws.at("noise"):
        drawn = noise.laplace(10**12)
    return PartDone(str(drawn), str(int(state or b"0") + drawn).encode())


def killed(_draws, _state):
    raise KeyboardInterrupt


@pytest.fixture
def key(ledger):
    return ledger.begin_run(charge(analyst="alice"), "numbers").key


def test_a_running_release_is_charged_once_however_many_parts_it_has(ledger, key):
    before = ledger.spent("people")
    found = [ledger.part(key, f"part {known}", number, known=known) for known in range(3)]
    assert [each for each, _ in found] == [1, 2, 3]
    assert len({text for _, text in found}) == 3
    assert ledger.parts(key) == found
    assert ledger.parts(key, after=2) == found[2:]
    assert ledger.spent("people") == before
    assert kinds(ledger).count("charge") == 1
    assert ledger.verify().entries == ledger.head[0]


def test_what_is_begun_again_is_another_running_release_and_is_charged_again(ledger):
    asked = charge(epsilon=0.25, analyst="alice")
    one, other = (ledger.begin_run(asked, "numbers") for _ in range(2))
    assert one.key != other.key
    assert not other.replayed
    assert ledger.spent("people").loss == Fraction(1, 2)


def test_one_that_does_not_fit_is_refused_and_reads_nothing(ledger):
    with pytest.raises(LimitExceeded):
        ledger.begin_run(charge(epsilon=2), "numbers")
    assert "refusal" in kinds(ledger)


def test_another_process_goes_on_where_the_last_part_was_settled(ledger, key, path):
    _, first = ledger.part(key, "a", number, known=0)
    with Ledger.open(path) as again:
        assert again.open_run(key, "alice")[0].key == key
        seen = []

        def work(draws, state):
            seen.append(state)
            return number(draws, state)

        _, second = again.part(key, "b", work, known=1)
        assert seen == [first.encode()]
    with pytest.raises(RunBehind, match="2 parts are settled, and 1 are known"):
        ledger.part(key, "c", number, known=1)
    assert ledger.parts(key, after=1) == [(2, second)]
    assert ledger.part(key, "c", number, known=2)[0] == 3


def test_a_part_whose_worker_died_is_drawn_again_in_the_same_way(ledger, key):
    drawn = []

    def dies(draws, state):
        drawn.append(number(draws, state).answer)
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            ledger.part(key, "a", dies, known=0)
    assert ledger.part(key, "a", number, known=0) == (1, drawn[0])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("what", ["asked", "engine", "code"])
def test_a_part_that_was_begun_in_another_way_has_failed_and_what_is_asked_is_the_next(ledger, key, monkeypatch, what):
    drawn = []

    def dies(draws, state):
        drawn.append(number(draws, state).answer)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.part(key, "a", dies, known=0, engine=lambda: "one")
    if what == "code":
        monkeypatch.setattr("discreet.ledger.sealed_key.__version__", "9.9.9")
    asked, engine = ("b" if what == "asked" else "a"), ("two" if what == "engine" else "one")
    found = ledger.part(key, asked, number, known=0, engine=lambda: engine)
    assert found[0] == 2
    assert found[1] != drawn[0]
    assert ledger.parts(key) == [(1, None), found]


def test_the_same_part_asked_in_two_ways_shares_no_noise(ledger, key, path, tmp_path):
    """As in a vault that somebody put back with all its files: one answer more, and not the difference of the two."""
    ledger.close()
    place, files = saved(path), {each: each.read_bytes() for each in tmp_path.rglob("*.draws")}
    anchors = {each: each.read_bytes() for each in tmp_path.rglob("*.anchor")}
    answers = []
    for asked in ("a", "b", "a"):
        put_back(path, place)
        for each, content in (files | anchors).items():
            each.write_bytes(content)
        with Ledger.open(path) as again:
            answers.append(again.part(key, asked, number, known=0)[1])
    assert answers[0] == answers[2] != answers[1]


def test_a_part_that_raises_has_failed_for_good_and_the_next_goes_on(ledger, key):
    with pytest.raises(QuestionFailed):
        ledger.part(key, "a", lambda *_: 1 / 0, known=0)
    assert ledger.parts(key) == [(1, None)]
    assert ledger.part(key, "a", number, known=1)[0] == 2


def test_a_worker_who_lost_the_lease_settles_nothing(ledger, key, path, clock):
    with Ledger.open(path, clock=clock) as other:

        def overtaken(draws, state):
            clock.move(hours=3)
            assert other.part(key, "a", number, known=0)[0] == 1
            return number(draws, state)

        with pytest.raises(LeaseLost):
            ledger.part(key, "a", overtaken, known=0, alive=lambda: False)
    assert [each for each, _ in ledger.parts(key)] == [1]
    assert kinds(ledger).count("part") == 1


def test_a_worker_whose_lease_was_taken_settles_nothing_even_if_nobody_else_did(ledger, key, path, clock):
    with Ledger.open(path, clock=clock) as other:

        def overtaken(draws, state):
            clock.move(hours=3)
            with pytest.raises(KeyboardInterrupt):
                other.part(key, "a", killed, known=0)
            return number(draws, state)

        with pytest.raises(LeaseLost):
            ledger.part(key, "a", overtaken, known=0, alive=lambda: False)
        assert ledger.parts(key) == []
        assert ledger.part(key, "a", number, known=0)[0] == 1


def test_a_part_may_have_files_and_a_long_answer(ledger, key):
    def work(_draws, _state):
        with ledger.artefacts.draft("text/csv", ".csv") as draft:
            draft.file.write(b"a table")
            return PartDone(Filed("41", (draft,), alone=True))

    assert ledger.part(key, "a", work, known=0) == (1, "41")
    assert ledger.parts(key) == [(1, "41")]
    assert ledger.verify().files == 2


def test_the_private_state_before_is_refused_in_place_of_the_one_that_was_settled(ledger, key):
    ledger.part(key, "a", number, known=0)
    (first,) = ledger._states.path.iterdir()
    before = first.read_bytes()
    ledger.part(key, "b", number, known=1)
    (second,) = ledger._states.path.iterdir()
    second.write_bytes(before)
    with pytest.raises(Tampered, match="not the one that was settled"):
        ledger.part(key, "c", number, known=2)


def test_the_private_state_is_sealed_and_refused_when_it_is_lost_or_changed(ledger, key):
    _, text = ledger.part(key, "a", number, known=0)
    (file,) = ledger._states.path.iterdir()
    content = file.read_bytes()
    assert text.encode() not in content
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(Tampered, match="not the one that was settled"):
        ledger.part(key, "b", number, known=1)
    file.unlink()
    with pytest.raises(Unavailable, match="not on this machine"):
        ledger.part(key, "b", number, known=1)
    file.write_bytes(content)
    ledger.part(key, "b", number, known=1)
    assert len([*ledger._states.path.iterdir()]) == 1  # the older one is gone


def test_a_machine_without_the_key_draws_nothing_and_settles_nothing(ledger, key):
    ledger._outside.path.unlink()
    with pytest.raises(Unavailable, match="key that its parts are drawn by"):
        ledger.part(key, "a", number, known=0)
    assert ledger.parts(key) == []


def test_one_that_has_ended_has_no_more_parts_and_its_key_is_gone(ledger, key):
    ledger.part(key, "a", number, known=0)
    ledger.end_run(key)
    ledger.end_run(key)
    for asked in (lambda: ledger.part(key, "b", number, known=1), lambda: ledger.open_run(key, "alice")):
        with pytest.raises(RunEnded):
            asked()
    with ledger._read() as look:
        assert look.get(StoredDraw, key) is None
    assert [*ledger._states.path.iterdir()] == []
    assert len(ledger.parts(key)) == 1
    assert ledger.verify().entries == ledger.head[0]


def test_it_is_gone_on_with_by_whoever_began_it_and_is_no_plain_question(ledger, key):
    with pytest.raises(AccessRefused, match="another analyst"):
        ledger.open_run(key, "bob")
    with pytest.raises(Conflict, match="none of that name"):
        ledger.open_run("nothing", "alice")
    with pytest.raises(Conflict, match="running release"):
        ledger.run(charge(analyst="alice", key=key), lambda _: "41")


def test_it_is_not_settled_as_abandoned_however_old_it_is(ledger, key, clock):
    ledger.part(key, "a", number, known=0)
    clock.move(days=400)
    assert ledger.settle_abandoned() == 0
    assert ledger.part(key, "b", number, known=1)[0] == 2


def test_a_part_that_was_killed_too_often_has_failed(ledger, key):
    for _ in range(16):
        with pytest.raises(KeyboardInterrupt):
            ledger.part(key, "a", killed, known=0)
    assert ledger.part(key, "a", number, known=0)[0] == 2


def test_a_changed_part_is_found(ledger, key):
    ledger.part(key, "a", number, known=0)
    with ledger._write() as transaction:
        (row,) = transaction.all(Settled)
        transaction.put(Settled(row.sequence, "41"))
    for look in (lambda: ledger.parts(key), ledger.verify):
        with pytest.raises(Tampered, match="settled answer was changed"):
            look()
