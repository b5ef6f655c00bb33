"""discreet attack unhash: hashes of a file or of a column, and the identifiers of a table as a demonstration."""

import pytest

from discreet.cli.shared.exits import Exit
from discreet.lab.attacks.unhash import hashed

IDS = ["5X55", "1A00"]


@pytest.fixture
def hashes(folder):
    (folder / "hashes.txt").write_text("\n".join(hashed(IDS)) + "\n\n")
    return "hashes.txt"


def test_the_hashes_of_a_file_are_read_back(run, result, hashes, folder):
    code, out, _ = run("attack", "unhash", "--hashes", hashes, "--pattern", "9A99", "--plot", "read.svg")
    assert code == Exit.DONE
    out = " ".join(out.split())
    for word in ("succeeds", "5X55", "1A00", "2 of 2 identifiers"):
        assert word in out
    assert (folder / "read.svg").exists()
    found = result("attack", "unhash", "--hashes", hashes, "--pattern", "9A99")
    assert found["found"] == dict(zip(hashed(IDS), IDS, strict=True))
    assert found["outcomes"][0]["figures"]["size"] == 26_000


def test_many_are_shown_in_part(run, folder):
    (folder / "many.txt").write_text("\n".join(hashed([f"{at:03d}" for at in range(30)], "sha1")))
    _, out, _ = run("attack", "unhash", "--hashes", "many.txt", "--pattern", "999", "--algorithm", "sha1")
    assert "and 20 more" in out


def test_a_column_of_hashes_is_read_back(result, folder):
    lines = "\n".join(f"{digest},1" for digest in hashed(["17", "18"], "sha256", b"salt"))
    (folder / "rides.csv").write_text(f"cab,fare\n{lines}\n")
    words = ("--table", "rides.csv", "--column", "cab", "--pattern", "99", "--salt", "salt")
    assert sorted(result("attack", "unhash", *words)["found"].values()) == ["17", "18"]


def test_a_tables_own_identifiers_are_hashed_where_no_hashes_are_given(result, folder):
    (folder / "people.csv").write_text("card,age\n" + "".join(f"{1000 + at},{at}\n" for at in range(30)))
    found = result("attack", "unhash", "--table", "people.csv", "--identifier", "card")["outcomes"]
    assert [each["verdict"] for each in found] == ["succeeds", "succeeds", "succeeds", "not shown"]
    assert "card of people" in found[0]["target"]


def test_too_many_texts_and_files_that_are_none_are_refused(run, hashes, folder):
    code, _, err = run("attack", "unhash", "--hashes", hashes, "--pattern", "9" * 20)
    assert code != Exit.DONE
    assert "hours" in err
    assert run("attack", "unhash", "--hashes", "absent.txt")[0] != Exit.DONE
    assert run("attack", "unhash", "--table", "visits.csv", "--column", "none")[0] != Exit.DONE
