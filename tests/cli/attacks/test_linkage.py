"""discreet attack linkage: uniqueness, releases, a join of two files, and facts not all right."""

import pytest

from discreet.cli.shared.exits import Exit
from discreet.testing import seeded

ROWS = "id,zip,sex,ill\n" + "".join(f"{at},{2139 + at % 40},{'fm'[at % 2]},{at % 3 % 2}\n" for at in range(60))
NAMES = "name,zip,sex\n2,2141,f\n21,2160,m\n99,9999,m\n"


@pytest.fixture
def table(folder):
    (folder / "table.csv").write_text(ROWS)
    (folder / "names.csv").write_text(NAMES)
    return "table.csv"


def test_a_table_is_shown_with_who_is_alone_and_what_falls(run, table, folder):
    with seeded(1):
        code, out, _ = run("attack", "linkage", "--table", table, "--identifier", "id", "--plot", "alone.svg")
    assert code == Exit.DONE
    for word in ("zip", "+ sex", "among fewer than 5", "succeeds", "bounded", "table without names", "promise"):
        assert word in out
    assert (folder / "alone.svg").read_text().startswith("<?xml")


def test_columns_targets_and_the_secret_may_be_named(result, table):
    with seeded(2):
        found = result(
            "attack", "linkage", "--table", table, "--quasi", "zip, sex", "--secret", "ill", "--target", "exact"
        )
    first, second = found["outcomes"]
    assert [step["columns"] for step in first["figures"]["steps"]] == [["zip"], ["zip", "sex"]]
    assert first["figures"]["who"] == "rows"
    assert second["target"] == "table, exact"
    assert second["figures"]["secret"] == "ill"


def test_the_most_telling_columns_are_sought(result, table):
    (found,) = result("attack", "linkage", "--table", table, "--identifier", "id", "--search")["outcomes"]
    assert found["figures"]["searched"]
    assert found["figures"]["steps"][0]["columns"] == ["zip"]


def test_two_files_are_joined(result, table):
    words = ("--table", table, "--identifier", "id", "--with", "names.csv", "--with-identifier", "name")
    (found,) = result("attack", "linkage", *words, "--on", "zip,sex")["outcomes"]
    assert found["figures"] == {"on": ["zip", "sex"], "total": 60, "alone": 20, "matches": 1, "right": 1}


def test_a_join_on_nothing_is_refused(run, table):
    code, _, err = run("attack", "linkage", "--table", table, "--with", "names.csv")
    assert code != Exit.DONE
    assert "joined on columns" in err


def test_facts_of_a_table_that_are_not_all_right(result, run, folder, table):
    with seeded(3):
        (found,) = result("attack", "linkage", "--table", table, "--identifier", "id", "--fuzzy")["outcomes"]
    assert [point["known"] for point in found["figures"]["points"]] == [2, 3]
    (folder / "one.csv").write_text("a\n1\n2\n")
    code, _, err = run("attack", "linkage", "--table", "one.csv", "--fuzzy")
    assert code != Exit.DONE
    assert "two facts" in err


def test_ratings_are_read_from_named_columns(result, folder):
    rows = [
        f"{who},{film},{(who * film) % 5},2020-01-{1 + (who + film) % 28:02d}" for who in range(40) for film in range(9)
    ]
    (folder / "films.csv").write_text("who,film,stars,day\n" + "\n".join(rows) + "\n")
    words = ("--fuzzy", "--item", "film", "--rating", "stars", "--day", "day")
    with seeded(4):
        (found,) = result("attack", "linkage", "--table", "films.csv", "--identifier", "who", *words)["outcomes"]
    assert {point["days"] for point in found["figures"]["points"]} == {3, 14}
    assert found["figures"]["people"] == 40
