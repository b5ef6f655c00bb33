"""Exchanging the secret: all is sealed anew in one step, nothing of what was promised, paid or answered changes."""

import json
import os
import subprocess
import sys

import pytest

from discreet import noise
from discreet.core.value import replace
from discreet.ledger import AccessRefused, Conflict, Ledger, QuestionFailed, Tampered, Unavailable
from discreet.ledger.integrity import vault_secret
from discreet.ledger.integrity.seal import SealedTransaction, Sealer
from discreet.ledger.running.runs import PartDone
from discreet.ledger.store import DERIVED, Debit, Paper, Private, Secret, StoredDraw
from tests.ledger.helpers import charge, epsilon
from tests.ledger.stores import homes, new_place

EVERY_STORE = True


@pytest.fixture
def token(ledger):
    """What a vault has after a while: answers, a grant, a document with private parts, and a running release."""
    ledger.put("table", "visits", {"rows": "declared"}, private={"digest": "of rows"})
    found = ledger.grant("alice", ["visits"], {"people": epsilon(1)})
    ledger.run(charge("settled", analyst="alice"), lambda _: "41")
    return found


def held(ledger, name="secret"):
    with ledger._store.read() as raw:
        return raw.get(Secret, name).value


def rows(ledger):
    with ledger._read() as look:
        return {
            kind: [each for each in look.all(kind) if not (kind is Paper and each.kind == "keys")] for kind in DERIVED
        }


def number(draws):
    with draws.at("noise"):
        return str(noise.laplace(10**12))


def killed(_draws):
    raise KeyboardInterrupt


def test_another_secret_takes_its_place_and_everything_else_stays(path, ledger, clock, token):
    before, secret = rows(ledger), held(ledger)
    people = [ledger.secret(each) for each in vault_secret.PURPOSES]
    order, grants = ledger.secret("order"), ledger.grants()
    for _ in range(2):
        ended = ledger.rotate_secret()
        assert (ended.questions, ended.parts) == (0, 0)
    assert held(ledger) != secret
    ledger.close()
    with Ledger.open(path, clock=clock) as again:
        assert rows(again) == before
        assert [again.secret(each) for each in vault_secret.PURPOSES] == people
        assert again.secret("order") != order
        assert again.get("table", "visits").private == {"digest": "of rows"}
        assert again.run(charge("settled", analyst="alice"), lambda _: "42")[0] == "41"
        assert again.authenticate(token).id == grants[0].id
        assert again.verify().entries == again.head[0]


def test_what_the_old_secret_seals_is_refused(ledger, token):
    stolen = Sealer(held(ledger))
    ledger.rotate_secret()
    with ledger._store.write() as raw:
        (debit,) = raw.all(Debit)
        raw.put(replace(debit, seal=stolen.of(Debit, [debit])))
    with pytest.raises(Tampered, match="seal of a row"):
        ledger.run(charge("settled", analyst="alice"), lambda _: "42")


def test_the_old_secret_itself_put_back_is_no_secret_of_the_vault(path, ledger, clock, token):
    old = held(ledger)
    ledger.rotate_secret()
    new, kept = held(ledger), held(ledger, "recognition")
    for name, value in (("secret", old), ("recognition", kept[:-1] + bytes([kept[-1] ^ 1]))):
        with ledger._store.write() as raw:
            SealedTransaction(raw, Sealer(new)).exchange(Secret(name, value))
        with pytest.raises(Tampered, match="keys of the vault"):
            Ledger.open(path, clock=clock)
        with ledger._store.write() as raw:
            SealedTransaction(raw, Sealer(new)).exchange(Secret(name, new if name == "secret" else kept))
    ledger.verify()


def test_a_row_that_was_changed_gets_no_new_seal(path, ledger, token):
    before = held(ledger)
    with ledger._store.write() as raw:
        (row,) = [each for each in raw.all(Private) if each.kind == "table"]
        raw.put(Private(row.kind, row.name, row.revision, '{"digest": "another"}', row.seal))
    with pytest.raises(Tampered):
        ledger.rotate_secret()
    assert held(ledger) == before


def test_a_row_that_was_sealed_with_a_stolen_secret_gets_no_new_seal(ledger, token):
    before = held(ledger)
    with ledger._write() as transaction:
        (debit,) = transaction.all(Debit)
        transaction.put(replace(debit, fence=7))
    with pytest.raises(Tampered, match="debits"):
        ledger.rotate_secret()
    assert held(ledger) == before


def test_it_is_refused_while_somebody_works_and_goes_on_afterwards(path, ledger, clock, token):
    with Ledger.open(path, clock=clock) as other:

        def work(draws):
            with pytest.raises(Conflict, match="1 question is being worked on"):
                other.rotate_secret()
            return number(draws)

        ledger.run(charge("q"), work)
        assert other.rotate_secret().questions == 0


def test_what_had_died_unanswered_is_settled_as_failed_and_is_not_given_back(ledger, token):
    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge("dead"), killed)
    spent = ledger.spent("people")
    assert ledger.rotate_secret().questions == 1
    assert ledger.spent("people") == spent
    with pytest.raises(QuestionFailed):
        ledger.run(charge("dead"), number)
    with ledger._read() as look:
        assert [*look.all(StoredDraw)] == []


def test_running_releases_go_on_with_their_state_and_a_part_that_was_begun_has_failed(path, ledger, clock, token):
    key = ledger.begin_run(charge("running", analyst="alice"), "numbers").key

    def work(draws, state):
        with draws.at("noise"):
            return PartDone(str(noise.laplace(10**12)), state + b"x")

    def dies(_draws, _state):
        raise KeyboardInterrupt

    ledger.part(key, "a", work, known=0)
    with pytest.raises(KeyboardInterrupt):
        ledger.part(key, "b", dies, known=1)
    assert ledger.rotate_secret().parts == 1
    assert ledger.part(key, "b", lambda draws, state: work(draws, b"") if state == b"x" else None, known=2)[0] == 3
    assert [text is None for _, text in ledger.parts(key)] == [False, True, False]
    assert ledger.verify().entries == ledger.head[0]


def test_programs_that_have_the_vault_open_go_on_with_the_new_secret(path, ledger, clock, token):
    with Ledger.open(path, clock=clock) as reader, Ledger.open(path, clock=clock) as writer:
        ledger.rotate_secret()
        assert reader.authenticate(token).analyst == "alice"
        assert writer.run(charge("more"), lambda _: "43")[0] == "43"
        assert reader.secret("order") == writer.secret("order") == ledger.secret("order")
        writer.put("table", "visits", {"rows": "declared"}, private={"digest": "of others"})
        ledger.verify()


def test_a_state_from_before_it_is_read_by_its_own_secret(store, path, ledger, token):
    if store != "sqlite":
        pytest.skip("one reader holds a state of the file")
    with Ledger.open(path) as other, other._store.again().read() as old:
        old.head()
        ledger.rotate_secret()
        with other._read() as look:
            look.head()
        assert other._sealed(old).root()
        assert other.secret("order") == ledger.secret("order")


@pytest.mark.parametrize("step", ["exchange", "seal_anew", "finish"])
def test_one_that_is_broken_off_leaves_the_old_secret(path, ledger, clock, monkeypatch, token, step):
    before = held(ledger)

    def broken(*_):
        raise Unavailable("the disk", why="it broke", fix="repair it")

    with monkeypatch.context() as patched:
        patched.setattr(SealedTransaction, step, broken)
        with pytest.raises(Unavailable):
            ledger.rotate_secret()
    assert held(ledger) == before
    ledger.close()
    with Ledger.open(path, clock=clock) as again:
        again.rotate_secret()
        again.verify()


def test_the_secrets_are_not_in_the_chain(ledger, token):
    kept = [held(ledger)]
    ledger.rotate_secret()
    kept += [held(ledger), held(ledger, "recognition")[:32], held(ledger, "recognition")[32:]]
    text = "".join(entry.body for entry in ledger.entries())
    assert not any(each.hex() in text for each in kept)


def test_a_token_of_another_vault_opens_none_after_it(ledger, token):
    ledger.rotate_secret()
    with pytest.raises(AccessRefused):
        ledger.authenticate(token[:-1] + ("0" if token[-1] != "0" else "1"))


def nursery(store, kills, folder, begin=1):
    """Let children exchange the secret, and check what they left."""
    path = new_place(store, folder)
    words = [sys.executable, "-m", "tests.ledger.killing", str(path), str(kills), "1", "secret", str(begin)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in homes(folder).items():
            patch.setenv(name, value)
        ran = subprocess.run(words, capture_output=True, text=True, timeout=2400, env=os.environ)
        assert ran.returncode == 0, ran.stderr
        lives = [json.loads(line) for line in ran.stdout.splitlines()]
        with Ledger.open(path) as ledger:
            assert ledger.answer(charge("settled").key) == "41"
            assert ledger.spent("people").loss == 3 * charge().losses["people"].epsilon0
            assert ledger.get("table", "visits").private == {"digest": "of rows"}
            assert [each.analyst for each in ledger.grants()] == ["alice"]
            (run,) = [entry.record()["key"] for entry in ledger.entries() if entry.kind == "part"]
            done = ledger.part(run, "b", lambda _draws, state: PartDone(state.decode()), known=1)
            assert done == (2, "kept")
            assert ledger.verify().entries == ledger.head[0]
    assert {each["answer"] for life in lives for each in life["all"]} == {"41"}
    assert sum(life["killed"] for life in lives) >= kills
    return lives


@pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")
def test_children_killed_at_every_step_leave_a_vault_of_one_secret(store, tmp_path):
    if store != "sqlite":
        pytest.skip("the long form does it on both stores")
    nursery(store, 40, tmp_path, 50)  # where rows are sealed, committed and anchored


@pytest.mark.soak
@pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")
def test_five_hundred_children_are_killed_while_the_secret_is_exchanged(store, tmp_path):
    lives = nursery(store, 500, tmp_path)
    assert any(not life["killed"] for life in lives if life["life"] == 0)  # all steps were seen
