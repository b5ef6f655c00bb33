"""discreet releases: what was paid for, with its files, and whole copies of these."""

import pytest

from discreet.cli.shared.exits import Exit
from tests.cli.vaults import PRICE, ROWS, TERMS


@pytest.fixture
def token(vault, result, run):
    """The token of ann, who has one answer and the synthetic data of a table."""
    token = result("grant", "ann", "visits")["token"]
    assert run("ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.25", "--token", token)[0] == Exit.DONE
    made = run("synthesize", "visits", "--method", "independent", "--epsilon", "0.25", "--token", token)
    assert made[0] == Exit.DONE, made[2]
    return token


def test_releases_are_listed_with_their_files_for_everybody_or_for_one(token, vault, result, run):
    asked, made = result("releases")["releases"]
    assert (asked["files"], asked["analyst"], asked["settled"]) == ([], "ann", "answer")
    (file,) = made["files"]
    assert (vault.parent / "vault.discreet.files" / file["name"]).stat().st_size == file["size"]
    assert result("releases", "--token", token)["releases"] == [asked, made]
    assert result("releases", "--analyst", "bob")["releases"] == []
    code, out, _ = run("releases")
    assert code == Exit.DONE
    assert f"{file['name']}  {file['size']:,} bytes  sha256 {file['sha256']}" in out
    assert "Nothing was released" in run("releases", "--analyst", "bob")[1]


def test_a_file_is_copied_whole_or_not_at_all(token, vault, result, run):
    (file,) = result("releases")["releases"][-1]["files"]
    place = vault.parent / "vault.discreet.files" / file["name"]
    assert run("releases", "--token", token, "--file", file["name"], "--out", "model.json")[0] == Exit.DONE
    assert (vault.parent / "model.json").read_bytes() == place.read_bytes()
    entry = result("releases")["releases"][-1]["sequence"]
    assert result("certificate", "make", str(entry))["certificate"]["files"] == [file]
    place.write_bytes(place.read_bytes()[:-1] + b" ")
    assert run("releases", "--file", file["name"], "--out", "again.json")[0] == Exit.REFUSED
    assert not (vault.parent / "again.json").exists()
    code, _, err = run("synthesize", "visits", "--method", "independent", "--epsilon", "0.25", "--token", token)
    assert code == Exit.REFUSED
    assert "not what was settled" in err
    assert run("verify")[0] == Exit.REFUSED
    assert len(result("releases")["releases"]) == 2


def test_a_file_of_another_table_is_unknown_to_an_analyst(token, vault, result, run):
    (file,) = result("releases")["releases"][-1]["files"]
    header, *rows = ROWS.splitlines()
    others = [f"{1000 + number},{row.partition(',')[2]}" for number, row in enumerate(rows)]
    (vault.parent / "other.csv").write_text("\n".join([header, *others]) + "\n")
    found = run("register", "other", "other.csv", *TERMS, *PRICE)
    assert found[0] == Exit.DONE, found[2]
    stranger = result("grant", "bob", "other")["token"]
    for name in (file["name"], "0" * 32):
        code, _, err = run("releases", "--token", stranger, "--file", name, "--out", "x.json")
        assert code == Exit.USAGE
        assert "file" in err


def test_half_a_request_is_refused(vault, run):
    for words in (("--file", "0" * 32), ("--out", "x.json"), ("--token", "t", "--analyst", "ann")):
        assert run("releases", *words)[0] == Exit.USAGE


def test_verify_tells_orphans_and_missing_files_and_removes_the_former(token, vault, result, run):
    folder = vault.parent / "vault.discreet.files"
    (folder / ("0" * 32)).write_bytes(b"left")
    (file,) = result("releases")["releases"][-1]["files"]
    found = result("verify")
    assert (found["files"], found["missing"], found["orphans"]) == (1, [], ["0" * 32])
    assert "left by a writer that was killed" in run("verify")[1]
    assert result("verify", "--remove-orphans")["removed"] == ["0" * 32]
    assert [path.name for path in folder.iterdir()] == [file["name"]]
    (folder / file["name"]).unlink()
    assert result("verify")["missing"] == [file["name"]]
    assert "not on this machine" in run("verify")[1]
