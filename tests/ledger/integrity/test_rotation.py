"""Rotation: a new key signs from now on, what the old one signed stays valid, and it signs nothing of later entries."""

import json
import shutil

import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.core.errors import Refusal
from discreet.ledger.entry import Head
from discreet.ledger.integrity import keys
from discreet.ledger.integrity.anchor import Anchor
from discreet.ledger.integrity.certificate import Certificate, checked
from discreet.ledger.integrity.seal import SealedTransaction
from discreet.ledger.integrity.witnesses import Witnesses
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusals import Conflict, Frozen, Tampered, Unavailable
from discreet.ledger.store import Paper, Secret
from tests.ledger.helpers import charge

EVERY_STORE = True
SAID = {"unit": None, "protects": "one row", "files": [], "invariants": [], "assumptions": []}


def certified(ledger, question="{}"):
    receipt = ledger.run(charge(question, label="number of rows"), lambda _: "41")[1]
    return ledger.certify(ledger.released(receipt.sequence), SAID)


def held(ledger):
    with ledger._store.read() as raw:
        return raw.get(Secret, "signing").value


def test_certificates_of_every_key_stay_verifiable_and_new_ones_have_the_new_key(path, ledger, clock):
    old, first = ledger.public_key, certified(ledger)
    found = [first]
    for number in range(2):
        new = ledger.rotate()
        assert new == ledger.public_key
        found.append(certified(ledger, f"q{number}"))
        assert found[-1].claims["public_key"] == new != old
    checked(first.to_json(), [old])
    for each in found:
        assert ledger.check_certificate(each.to_json()) == each
    assert ledger.verify().public_key == new
    ledger.close()
    with Ledger.open(path, clock=clock) as again:
        assert (again.public_key, again.frozen) == (new, None)
        assert again.verify().anchor == again.head[0]
        assert [again.check_certificate(each.to_json()) for each in found] == found


def test_the_old_key_certifies_nothing_that_came_after_it(ledger):
    stolen = keys.Signer(ledger.vault_id, held(ledger))
    ledger.rotate()
    late = certified(ledger)
    forged = Certificate.signed({**late.claims, "public_key": stolen.public_key}, stolen.sign)
    with pytest.raises(Tampered, match="exchanged before"):
        ledger.check_certificate(forged.to_json())
    with pytest.raises(Conflict):
        ledger.check_certificate(Certificate.signed({**late.claims, "public_key": "0" * 64}, stolen.sign).to_json())


def test_the_old_key_anchors_no_later_head(ledger):
    stolen = keys.Signer(ledger.vault_id, held(ledger))
    ledger.rotate()
    certified(ledger)
    now = ledger._anchors.signer
    assert not Anchor.signed(Head(*ledger.head), stolen).is_of(now)
    assert Anchor.signed(Head(1, "ab"), stolen).is_of(now)


def test_a_program_that_has_the_vault_open_goes_on_with_the_new_key(path, ledger, clock):
    with Ledger.open(path, clock=clock) as other:
        new = ledger.rotate()
        made = certified(other)
        assert (other.public_key, made.claims["public_key"]) == (new, new)
        assert ledger.check_certificate(made.to_json()) == made
        ledger.verify()


@pytest.mark.parametrize("step", ["exchange", "put"])
def test_a_rotation_that_is_broken_off_leaves_the_old_key_or_the_new_one_and_a_vault_that_opens(
    path, ledger, clock, monkeypatch, step
):
    before, old = certified(ledger), ledger.public_key

    def broken(*_):
        raise Unavailable("the disk", why="it broke", fix="repair it")

    home = Witnesses if step == "put" else SealedTransaction
    with monkeypatch.context() as patched:
        patched.setattr(home, step, broken)
        with pytest.raises(Unavailable):
            ledger.rotate()
    ledger.close()
    with Ledger.open(path, clock=clock) as again:
        assert (again.public_key == old) == (step == "exchange")
        assert again.frozen is None
        assert again.check_certificate(before.to_json()) == before
        again.rotate()
        assert again.check_certificate(certified(again, "more").to_json())
        again.verify()


@pytest.mark.parametrize("changed", ["public_key", "former", "until", "signature"])
def test_a_rotation_that_the_old_key_has_not_signed_is_no_key_of_the_vault(path, ledger, clock, changed):
    ledger.rotate()
    with ledger._store.write() as raw:
        paper = raw.get(Paper, keys.KIND, keys.NAME)
        record = json.loads(paper.record)
        said = record["rotations"][0]
        said[changed] = said[changed] + 1 if changed == "until" else "0" + said[changed][1:-1] + "0"
        raw.put(Paper(paper.kind, paper.name, paper.revision, json.dumps(record), paper.sequence))
    ledger.close()
    with pytest.raises(Tampered):
        Ledger.open(path, clock=clock)


def test_each_key_is_chosen_by_the_one_before_it():
    signer = keys.Signer("vault", keys.new_signing_key())
    first, said = signer.public_key, []
    for until in (3, 9):
        signer, rotation = keys.rotated(signer, keys.new_signing_key(), until)
        said.append(rotation)
    public, retired = keys.retired_keys("vault", first, said)
    assert (public, retired) == (signer.public_key, signer.retired)
    thief = keys.Signer("vault", keys.new_signing_key())
    _, stolen = keys.rotated(thief, keys.new_signing_key(), 9)
    for lie in ({**stolen, "former": said[0]["public_key"]}, {**said[1], "until": 10}, stolen):
        with pytest.raises(ValueError, match=r"^[0-9a-f]{64}$"):
            keys.retired_keys("vault", first, [said[0], lie])
    with pytest.raises(ValueError, match=r"^[0-9a-f]{64}$"):
        keys.retired_keys("another", first, said)


def test_a_copy_from_before_the_rotation_is_frozen_beside_the_anchors_and_goes_on_by_a_forfeit(
    store, path, ledger, clock, tmp_path
):
    if store != "sqlite":
        pytest.skip("a copy of a file")
    certified(ledger)
    shutil.copy(path, tmp_path / "copy")
    wal = path.with_name(path.name + "-wal")
    if wal.exists():
        shutil.copy(wal, tmp_path / "copy-wal")
    ledger.rotate()
    ledger.close()
    for each in path.parent.glob(path.name + "-*"):
        each.unlink()
    shutil.copy(tmp_path / "copy", path)
    if (tmp_path / "copy-wal").exists():
        shutil.copy(tmp_path / "copy-wal", wal)
    with Ledger.open(path, clock=clock) as copy:
        assert "a head was signed at entry" in copy.frozen
        with pytest.raises(Frozen):
            copy.run(charge("more"), lambda _: "43")
        copy.forfeit()
        with pytest.raises(BudgetExceeded):
            copy.run(charge("more"), lambda _: "43")
    with Ledger.open(path, clock=clock) as again:
        assert again.frozen is None


def test_of_two_copies_that_are_open_only_the_one_with_the_new_key_goes_on(store, path, clock, tmp_path):
    if store != "sqlite":
        pytest.skip("a copy of a file")
    anchor, other = tmp_path / "shared.anchor", tmp_path / "copy.discreet"
    with Ledger.create(path, anchor=anchor, clock=clock) as ledger:
        ledger.add_account("people", Budget(epsilon=9))
    shutil.copy(path, other)
    with Ledger.open(path, anchor=anchor, clock=clock) as ledger, Ledger.open(other, anchor=anchor) as copy:
        ledger.rotate()
        for number in range(3):
            ledger.run(charge(f"vault {number}"), lambda _: "41")
            with pytest.raises(Refusal, match="another program has charged"):
                copy.run(charge(f"copy {number}"), lambda _: "42")
        with pytest.raises(Refusal, match="another program has charged"):
            copy.rotate()
        ledger.verify()
