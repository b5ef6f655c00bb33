"""discreet restore: a backup put back, receipts shown, and a forfeit where the newest copy is lost."""

import json
import shutil

import pytest

from discreet.cli.shared.exits import Exit

ASK = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def lost(vault, result, run):
    """A vault restored from last night's backup, after an answer of today was lost with the rest of it; her token."""
    token = result("grant", "ann", "visits")["token"]
    assert run("backup", "night")[0] == Exit.DONE
    asked = run("ask", ASK, "--epsilon", "0.25", "--token", token, "--save", "answer.json")
    assert asked[0] == Exit.DONE, asked[2]
    vault.rename(vault.parent / "broken")
    for ending in (".anchor", ".files", ".data", ".draws", "-wal", "-shm"):
        place = vault.with_name(vault.name + ending)
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    return token


def test_last_nights_backup_is_frozen_and_goes_on_with_what_the_newest_receipt_shows_left(lost, vault, result, run):
    found = result("restore", "night")
    assert "charges are lost" in found["frozen"]
    code, _, err = run("ask", "SELECT AVG(age) FROM visits", "--epsilon", "0.25", "--token", lost)
    assert code == Exit.REFUSED
    assert "discreet restore --forfeit" in err
    assert result("preview", ASK, "--epsilon", "0.25", "--token", lost)
    assert "frozen" in run("restore", "--receipt", "answer.json")[1]
    found = result("restore", "--receipt", "answer.json", "--forfeit")
    assert found["frozen"] is None
    assert found["forfeited"]["left"]["visits"]["loss"] != "0"
    assert run("verify")[0] == Exit.DONE
    assert run("ask", ASK, "--epsilon", "0.25", "--token", lost)[0] == Exit.DONE


def test_without_a_receipt_everything_is_forfeited(lost, result, run):
    code, out, err = run("restore", "night", "--forfeit")
    assert code == Exit.DONE, err
    assert "left of visits: 0" in out
    assert run("ask", ASK, "--epsilon", "0.25", "--token", lost)[0] == Exit.BUDGET


def test_on_a_machine_that_knows_no_head_the_receipt_tells(lost, tmp_path, monkeypatch, result):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "new machine"))
    assert result("restore", "night")["frozen"] is None
    assert "charges are lost" in result("restore", "--receipt", "answer.json")["frozen"]


def test_a_restore_of_nothing_over_a_vault_or_by_a_forged_receipt_is_refused(vault, result, run, tmp_path):
    assert run("restore")[0] == Exit.USAGE
    assert run("restore", "--forfeit")[0] == Exit.REFUSED
    assert run("backup", "night")[0] == Exit.DONE
    assert "there is one already" in run("restore", "night")[2]
    (tmp_path / "forged.json").write_text(json.dumps({"attested": {}}))
    (tmp_path / "none.json").write_text("{")
    for name in ("forged.json", "none.json"):
        assert run("restore", "--receipt", name)[0] == Exit.USAGE


def test_a_backup_that_answers_says_that_it_takes_the_place_of_the_vault_it_was_made_of(vault, result, run):
    token = result("grant", "ann", "visits")["token"]
    assert run("backup", "night")[0] == Exit.DONE
    code, out, err = run("restore", "night", "--vault", "restored.discreet")
    assert code == Exit.DONE, err
    assert "takes the place of every other copy" in " ".join(out.split())
    code, _, err = run("ask", ASK, "--epsilon", "0.25", "--token", token)
    assert code == Exit.REFUSED
    assert "it is frozen" in err
