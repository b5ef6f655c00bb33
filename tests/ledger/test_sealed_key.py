"""Sealed keys: a retry repeats the draws of its debit, or the debit has failed; and nobody else can draw them."""

import base64
import logging
import os
import platform
import shutil
import stat

import pytest

from discreet import noise
from discreet.core.errors import Refusal
from discreet.ledger import Ledger, QuestionFailed, Unavailable, sealed_key
from discreet.ledger.store import StoredDraw
from discreet.noise import arrays
from discreet.noise import draws as draws_module
from tests.ledger.helpers import charge, epsilon, kinds
from tests.ledger.stores import content

EVERY_STORE = True


class Worker:
    """Draws a number, remembers it, and may be interrupted afterwards."""

    def __init__(self, interrupted=False):
        self.drawn, self.keys, self.interrupted = [], [], interrupted

    def __call__(self, draws):
        self.keys.append(draws._key)
        with draws.at("n"):
            self.drawn.append(str(noise.laplace(10**12)))
        if self.interrupted:
            raise KeyboardInterrupt
        return self.drawn[-1]


def never(_draws):
    pytest.fail("the work was done again")


def begun(ledger, asked=None, **more):
    """Let a worker be interrupted in the middle of a question; return what it drew."""
    worker = Worker(interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        ledger.run(asked or charge(), worker, **more)
    assert len(ledger.unsettled()) == 1
    return worker


def failed(ledger, asked=None, **more):
    """Ask again: the debit is settled as failed, whatever was changed, and the chain still verifies."""
    before = ledger.spent("people")
    for _ in range(2):
        with pytest.raises(QuestionFailed):
            ledger.run(asked or charge(), never, **more)
    assert ledger.unsettled() == ()
    assert kinds(ledger)[-1] == "failure"
    assert ledger.spent("people") == before
    assert ledger.verify().entries == ledger.head[0]
    with ledger._read() as look:
        assert next(look.all(StoredDraw), None) is None
    return True


def change(ledger, **fields):
    """Change the stored row of the debit's key."""
    with ledger._write() as transaction:
        row = transaction.get(StoredDraw, charge().key)
        values = {"key": row.key, "sealed": row.sealed, "binding": row.binding, **fields}
        transaction.delete(row)
        if values["sealed"] is not None:
            transaction.put(StoredDraw(**values))


def test_an_interrupted_question_is_answered_with_the_same_draws(ledger):
    worker = begun(ledger)
    again = Worker()
    answer, receipt = ledger.run(charge(), again)
    assert worker.drawn == again.drawn == [answer]
    assert (receipt.replayed, kinds(ledger)[-2:]) == (False, ["charge", "settle"])


def test_another_process_takes_over_with_the_same_draws(ledger, path, clock):
    worker = begun(ledger)
    with Ledger.open(path, clock=clock) as other:
        assert other.run(charge(), Worker())[0] == worker.drawn[0]


def test_a_slow_worker_and_who_takes_over_draw_the_same(ledger, path, clock):
    slow = Worker()
    with Ledger.open(path, clock=clock) as other:

        def late(draws):
            clock.move(seconds=61)
            taken = other.run(charge(), Worker())[0]
            assert slow(draws) == taken
            return slow.drawn[0]

        answer, receipt = ledger.run(charge(), late)
    assert (answer, receipt.replayed) == (slow.drawn[0], True)


def test_every_debit_draws_by_a_key_of_its_own(ledger):
    answers = [ledger.run(charge(), Worker(), fresh=True)[0] for _ in range(5)]
    assert len(set(answers)) == 5


def test_a_version_of_the_code_the_sampler_or_the_numbers_that_is_not_the_same_fails(ledger, monkeypatch):
    changes = [
        (sealed_key, "__version__", "9.9.9"),
        (draws_module, "SAMPLER_VERSION", 99),
        (arrays, "numpy_version", lambda: "9.9.9"),
        (platform, "machine", lambda: "abacus"),
    ]
    for number, (where, name, value) in enumerate(changes):
        asked = charge(f"q{number}")
        begun(ledger, asked)
        with monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            assert failed(ledger, asked)


def test_another_engine_fails(ledger):
    begun(ledger, engine=lambda: "duckdb 1")
    assert failed(ledger, engine=lambda: "duckdb 2")


def test_the_engine_is_asked_before_the_charge_and_not_for_a_replay(ledger):
    seen = []

    def engine():
        seen.append(len(kinds(ledger)))
        return "duckdb 1"

    before = len(kinds(ledger))
    ledger.run(charge(), Worker(), engine=engine)
    ledger.run(charge(), never, engine=engine)
    assert seen == [before]


@pytest.mark.parametrize("found", ["missing", "other", "short", "folder"])
def test_without_the_key_outside_the_debit_fails(ledger, found):
    begun(ledger)
    outside = ledger._outside.path
    outside.unlink()
    if found == "other":
        outside.write_bytes(os.urandom(32))
    elif found == "short":
        outside.write_bytes(b"short")
    elif found == "folder":
        outside.mkdir()
    assert failed(ledger)


@pytest.mark.parametrize("fields", [{"sealed": None}, {"sealed": b""}, {"sealed": bytes(60)}, {"binding": "{}"}])
def test_a_row_that_is_missing_or_was_changed_fails(ledger, fields):
    begun(ledger)
    change(ledger, **fields)
    assert failed(ledger)


def test_the_key_of_another_debit_does_not_fit(ledger):
    ledger.charge(charge("other"))
    with ledger._read() as look:
        other = look.get(StoredDraw, charge("other").key)
    receipt = ledger.charge(charge())
    change(ledger, sealed=other.sealed)
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), never)
    assert ledger.unsettled() == ((receipt.sequence - 1, charge("other").key),)


def test_a_key_that_is_not_the_one_committed_to_does_not_fit(ledger, monkeypatch):
    monkeypatch.setattr(sealed_key, "commitment", lambda _: "0" * 64)
    begun(ledger)
    monkeypatch.undo()
    assert failed(ledger)


def test_a_key_that_cannot_be_kept_outside_refuses_before_the_charge(ledger):
    ledger._outside.path.unlink(missing_ok=True)
    ledger._outside.path.mkdir()
    with pytest.raises(Unavailable, match="the key") as refused:
        ledger.run(charge(), never)
    assert "nothing was charged" in refused.value.fix
    assert ledger.spent("people").loss == 0


def test_work_that_is_done_once_is_never_begun_again(ledger):
    begun_once = Worker(interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge(once=True), begun_once)
    assert failed(ledger, charge(once=True))
    ledger.charge(charge("killed", once=True))  # and its worker died
    with pytest.raises(QuestionFailed):
        ledger.run(charge("killed", once=True), never)
    assert ledger.run(charge("fine", once=True), lambda _: "41")[0] == "41"
    assert ledger.run(charge("fine", once=True), never)[0] == "41"
    assert len(begun_once.drawn) == 1


def test_the_file_outside_is_its_owners_alone_and_lies_beside_the_anchor(ledger):
    begun(ledger)
    outside = ledger._outside.path
    assert outside.parent == ledger._anchors.path.parent
    assert outside.suffix == ".draws"
    assert [file.name for file in outside.parent.glob("*.draws*")] == [outside.name]
    if os.name == "posix":
        assert stat.S_IMODE(outside.stat().st_mode) == 0o600


def test_no_vault_chain_or_log_shows_the_key(ledger, path, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    worker = begun(ledger)
    outside = ledger._outside.path.read_bytes()
    stored = content(path, tmp_path).replace(outside, b"", 1)  # the file itself
    with pytest.raises(QuestionFailed):
        ledger.run(charge("r"), lambda draws: 1 // 0)
    for key in (worker.keys[0], outside):
        told = (str(list(ledger.entries())) + caplog.text).encode()
        for written in (key, key.hex().encode(), base64.b64encode(key), repr(key).encode()[2:-1]):
            assert written not in stored
            assert written not in told
    (said,) = {record.getMessage() for record in caplog.records if record.name == "discreet"}
    assert said == "a question failed after it was paid for, and is settled as failed"


def test_the_chain_has_a_commitment_and_nothing_else_of_a_key(ledger):
    worker = begun(ledger)
    (entry,) = [entry.record() for entry in ledger.entries() if entry.kind == "charge"]
    assert entry["draws"] == sealed_key.commitment(worker.keys[0])
    with ledger._read() as look:
        assert look.get(StoredDraw, charge().key).sealed.hex() not in str(entry)


def test_nothing_is_left_in_the_vault_of_a_debit_that_is_settled(ledger, path, tmp_path):
    begun(ledger)
    with ledger._read() as look:
        sealed = look.get(StoredDraw, charge().key).sealed
    ledger.run(charge(), Worker())
    with ledger._read() as look:
        assert next(look.all(StoredDraw), None) is None
    if hasattr(path, "parent"):
        ledger.close()  # which empties the log into the file
        assert sealed not in content(path, tmp_path)


def test_the_key_outside_is_forgotten_where_no_debit_waits(ledger, path, clock):
    begun(ledger)
    first = ledger._outside.path.read_bytes()
    with Ledger.open(path, clock=clock) as other:  # while one waits it stays
        assert other._outside.path.read_bytes() == first
        other.run(charge(), Worker())
    with Ledger.open(path, clock=clock) as other:
        assert not other._outside.path.exists()
        other.run(charge("r"), Worker())
        assert other._outside.path.read_bytes() != first


def test_a_sealed_key_that_is_left_of_a_settled_debit_is_found(ledger):
    begun(ledger)
    with ledger._read() as look:
        row = look.get(StoredDraw, charge().key)
    ledger.run(charge(), Worker())
    with ledger._write() as transaction:
        transaction.put(row)
    with pytest.raises(Refusal, match="a sealed key"):
        ledger.verify()


def test_a_copy_of_a_vault_without_the_file_has_failed_debits(tmp_path, clock):
    place, copy = tmp_path / "vault.discreet", tmp_path / "copy.discreet"
    with Ledger.create(place, clock=clock) as ledger:
        ledger.add_account("people", epsilon(1))
        begun(ledger)
    for ending in ("", ".anchor"):
        shutil.copy(f"{place}{ending}", f"{copy}{ending}")
    with Ledger.open(copy, clock=clock) as restored:
        assert failed(restored)


@pytest.mark.parametrize("written", [OSError(28, "No space left on device"), 7])
def test_a_key_that_could_not_be_written_whole_leaves_nothing_behind(ledger, tmp_path, monkeypatch, written):
    write = os.write

    def full(file, content):
        if len(content) != 32:  # the anchor
            return write(file, content)
        if isinstance(written, OSError):
            raise written
        return written

    before = sorted(tmp_path.rglob("*"))
    with monkeypatch.context() as changed:
        changed.setattr("discreet.ledger.sealed_key.os.write", full)
        with pytest.raises(Unavailable, match="the key"):
            ledger.run(charge(), lambda *_: "41")
    assert sorted(tmp_path.rglob("*")) == before
    assert ledger.run(charge(), lambda *_: "41")[0] == "41"


def test_no_two_keys_are_sealed_alike(tmp_path, monkeypatch):
    monkeypatch.setattr(draws_module, "new_key", lambda: b"k" * 32)  # not even one and the same
    outside = sealed_key.OutsideKey(tmp_path / "vault.anchor", "id")
    made = [outside.new(charge(), "engine") for _ in range(8)]
    assert len({each.row.sealed[:12] for each in made}) == len({each.row.sealed[12:] for each in made}) == 8
    assert all(outside.opened(charge(), "engine", each.row, each.commitment) == each.key for each in made)


def test_what_nobody_will_ask_for_again_is_settled_and_the_outside_key_forgotten(ledger, clock):
    def killed(_draws):
        raise KeyboardInterrupt

    ledger._release = lambda _: None  # as of a worker that dies
    for each in (False, True):
        with pytest.raises(KeyboardInterrupt):
            ledger.run(charge(), killed, fresh=each)
    assert (ledger.settle_abandoned(), len(ledger.unsettled())) == (0, 2)
    clock.move(hours=6)
    assert (ledger.settle_abandoned(), len(ledger.unsettled())) == (1, 1)  # the fresh one
    assert ledger._outside.path.exists()
    clock.move(hours=19)
    assert (ledger.settle_abandoned(), ledger.unsettled()) == (1, ())
    assert not ledger._outside.path.exists()
    assert failed(ledger, charge())
    assert ledger.verify().entries == ledger.head[0]


def test_a_question_that_was_interrupted_just_now_is_not_abandoned(ledger, clock):
    ledger.charge(charge("by hand", key="mine"))
    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge(), Worker(interrupted=True))
    clock.move(hours=23)
    assert ledger.settle_abandoned() == 0
    clock.move(hours=1)
    assert ledger.settle_abandoned() == 2
