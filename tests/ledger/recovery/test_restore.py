"""Restoring: into a file or a schema, whole, where there is no vault, and frozen where newer heads are known."""

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger import Frozen, Ledger, NotAVault, QuestionFailed, Tampered
from discreet.ledger.artefacts.settlement import Filed
from discreet.ledger.recovery.backup import MANIFEST, VAULT
from discreet.ledger.recovery.restore import restore
from tests.ledger.helpers import charge
from tests.ledger.stores import new_url

EVERY_STORE = True


def never(_draws):
    raise AssertionError("nothing is worked on")


@pytest.fixture
def backed_up(ledger, tmp_path):
    """A backup of a vault with an answer, a file, rows, and a question that waits."""

    def work(_):
        with ledger.artefacts.draft("text/csv", ".csv") as draft:
            draft.file.write(b"a table")
            return Filed("41", (draft,))

    ledger.run(charge(), work)
    with pytest.raises(KeyboardInterrupt):
        ledger.run(charge("waits"), lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    ledger.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (ledger.folder / "visits-1.parquet").write_bytes(b"rows")
    ledger.backup(tmp_path / "backup")
    return tmp_path / "backup"


@pytest.fixture
def elsewhere(store, tmp_path):
    """Where there is no vault."""
    return tmp_path / "restored.discreet" if store == "sqlite" else new_url()


def test_a_restored_vault_replays_answers_charges_and_has_its_files(backed_up, elsewhere, ledger):
    said = restore(backed_up, elsewhere)
    with Ledger.open(elsewhere) as again:
        assert again.frozen is None
        assert again.vault_id == said.vault == ledger.vault_id
        assert again.run(charge(), never)[0] == "41"
        assert again.verify().missing == ()
        assert (again.folder / "visits-1.parquet").read_bytes() == b"rows"
        assert again.run(charge("new"), lambda _: "43")[0] == "43"


def test_a_question_that_waited_has_failed_in_the_restored_vault(backed_up, elsewhere):
    restore(backed_up, elsewhere)
    with Ledger.open(elsewhere) as again, pytest.raises(QuestionFailed):
        again.run(charge("waits"), never)


def test_an_older_backup_is_frozen_and_the_newest_receipt_says_what_is_left(backed_up, elsewhere, ledger):
    _, receipt = ledger.run(charge("later"), lambda _: "41")
    ledger.close()
    restore(backed_up, elsewhere)
    with Ledger.open(elsewhere) as again:
        assert "charges are lost" in again.frozen
        assert again.run(charge(), never)[0] == "41"
        with pytest.raises(Frozen):
            again.run(charge("later"), never)
        again.forfeit([receipt])
        assert again.spent("people") == ledger_spent(receipt, again)
        assert again.run(charge("new"), lambda _: "43")[0] == "43"
        assert again.verify().entries == again.head[0]


def ledger_spent(receipt, ledger):
    """What a receipt attests of the account."""
    (standing,) = [each for each in ledger.standing() if each.scope == "account"]
    return standing.filter.amount(*receipt.attested["spent"]["people"])


def test_nothing_is_restored_over_a_vault(backed_up, path):
    with pytest.raises(NotAVault, match="there is one already"):
        restore(backed_up, path)


def test_a_backup_that_was_changed_leaves_nothing_behind(backed_up, elsewhere, tmp_path):
    manifest = (backed_up / MANIFEST).read_bytes()
    (backed_up / MANIFEST).unlink()
    with Ledger.open(backed_up / VAULT) as opened:
        opened.run(charge("changed"), lambda _: "41")
    (backed_up / MANIFEST).write_bytes(manifest)
    with pytest.raises(Tampered, match="changed since"):
        restore(backed_up, elsewhere)
    assert not Ledger.exists(elsewhere)
    with pytest.raises(BadParameter, match=r"no backup\.json"):
        restore(tmp_path, elsewhere)


def test_a_missing_required_anchor_freezes_until_the_newest_receipt_is_vouched_for(ledger, path, tmp_path):
    from discreet.ledger.integrity.witnesses import AnchorPolicy

    ledger.keep_anchors(AnchorPolicy(required=True, path=str(tmp_path / "second.anchor")))
    _, receipt = ledger.run(charge(), lambda _: "41")
    ledger.close()
    (tmp_path / "second.anchor").unlink()
    with Ledger.open(path) as again:
        assert "the policy requires it" in again.frozen
        again.show([receipt])  # by anyone: it frees nothing
        assert again.frozen
        assert again.vouch([receipt]) is None
        assert again.run(charge("new"), lambda _: "43")[0] == "43"
        (noted,) = [entry.record() for entry in again.entries() if entry.kind == "anchor"]
        assert (noted["absent"], noted["shown"]["sequence"]) == (["path"], receipt.attested["sequence"])
    with Ledger.open(path) as again:
        assert again.frozen is None
