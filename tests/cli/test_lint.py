"""discreet lint: remarks as a table or a list, JSON, and an exit code for errors."""

import pytest

from discreet.cli.shared.exits import Exit
from tests.cli.vaults import PRICE, TERMS


@pytest.fixture
def poor(folder, run):
    """A vault whose table has a delta that is too large and a key that nobody has."""
    run("init")
    words = ("--unit", "person:patient_id", "--max-rows", "2", "--column", "age=0..110", "--column", "ward=A,B,D")
    run("register", "visits", "visits.csv", *words, "--epsilon", "1", "--delta", "0.01")


def test_a_table_in_order_says_so(vault, run):
    code, out, _ = run("lint")
    assert code == Exit.DONE
    # What several bounds would cut is no finding, and is always told.
    assert "would cut" in " ".join(out.split())
    assert "error" not in out
    assert "warning" not in out


@pytest.mark.parametrize("width", [40, 72, 140])
def test_remarks_are_shown_at_any_width(poor, run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = run("lint", "visits")
    words = " ".join(out.split())
    assert code == Exit.REFUSED
    assert max(len(line.rstrip()) for line in out.splitlines()) <= width
    for said in (
        "error",
        "warning",
        "note",
        "1 error, 2 warnings, 2 notes",
        "exact and not private: do not share them",
    ):
        assert said in words


def test_json_has_every_remark(poor, result):
    found = result("lint")
    assert found["tables"] == ["visits"]
    assert [each["severity"] for each in found["remarks"]] == ["error", "warning", "warning", "note", "note"]
    assert all(each["what"] and each["why"] and each["fix"] for each in found["remarks"])


def test_warnings_alone_are_no_failure(folder, run):
    run("init")
    run("register", "visits", "visits.csv", *TERMS, *PRICE, "--rows", "5")
    assert run("lint")[0] == Exit.DONE


def test_an_unknown_table_is_refused(vault, run):
    code, _, err = run("lint", "visit")
    assert code == Exit.USAGE
    assert "did you mean 'visits'?" in err


def test_an_empty_vault_has_nothing_to_say(folder, run):
    run("init")
    assert run("lint")[1] == "No findings for an empty vault.\n"


def test_a_source_is_looked_at_before_there_is_a_vault(tmp_path, monkeypatch, run, result):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("id,n\nP7,1\np7 ,2\n")
    words = ("--unit", "person:id", "--max-rows", "2", "--column", "n=0..9")
    found = result("lint", "--source", "v.csv", *words)
    assert found["tables"] == ["v"]
    assert any("2 identifiers become 1" in each["what"] for each in found["remarks"])
    policy = '[tables.v]\nsource = "v.csv"\nunit = { person = "id", max_rows = 2 }\n[tables.v.columns]\nn = "0..9"\n'
    (tmp_path / "discreet.toml").write_text(policy)
    assert result("lint", "--from", "discreet.toml") == found
    assert [*tmp_path.glob("*.discreet")] == []
    code, _, err = run("lint", "--source", "v.csv")
    assert code == Exit.USAGE
    assert "--unit" in err
