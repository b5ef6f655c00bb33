"""discreet attack differencing: a person named, amounts, rollups, and what is refused."""

import pytest

from discreet.testing import seeded

TABLE = "name,age,ill,pay\n" + "".join(
    f"p{i},{20 + i % 30},{'sick' if i % 3 else 'well'},{900 + 7 * i}\n" for i in range(60)
)


@pytest.fixture
def clinic(folder):
    (folder / "clinic.csv").write_text(TABLE)
    return "--table", "clinic.csv"


def test_a_person_named_is_learned_from_exact_answers_and_not_from_discreet(result, clinic):
    words = ("--identifier", "name", "--person", "p7", "--secret", "ill", "--value", "sick", "--runs", "30")
    with seeded(1):
        found = result("attack", "differencing", *clinic, *words, "--target", "exact", "--target", "laplace:0.5")
    exact, private = found["outcomes"]
    assert exact["verdict"] == "succeeds"
    assert exact["success"] == 1
    assert "name p7" in exact["sentence"]
    assert private["verdict"] == "bounded"
    assert private["ceiling"] == pytest.approx(0.5622, abs=1e-4)


def test_a_person_may_be_known_by_attributes(result, clinic):
    words = ("--person", "age=27", "--person", "pay=949", "--secret", "ill", "--runs", "5", "--target", "exact")
    (exact,) = result("attack", "differencing", *clinic, *words)["outcomes"]
    assert exact["success"] == 1


def test_people_see_a_table_and_a_picture(run, clinic, folder):
    words = ("--runs", "10", "--target", "exact", "--plot", "bars.svg")
    code, out, _ = run("attack", "differencing", *clinic, *words)
    assert code == 0
    assert "succeeds" in out
    assert (folder / "bars.svg").read_text().startswith("<?xml")


def test_amounts_come_out_of_sums(result, clinic):
    (found,) = result("attack", "differencing", *clinic, "--amount", "--secret", "pay", "--target", "exact")["outcomes"]
    assert found["target"] == "sums, exact"
    assert found["success"] == 1


def test_withheld_cells_come_out_of_totals(result):
    found = result("attack", "differencing", "--rollup", "10")["outcomes"]
    assert [each["verdict"] for each in found] == ["succeeds", "not shown", "bounded"]


@pytest.mark.parametrize(
    "words",
    [("--person", "p99"), ("--person", "a", "--person", "b"), ("--secret", "il"), ("--target", "magic")],
)
def test_what_makes_no_sense_is_refused(run, clinic, words):
    code, _, err = run("attack", "differencing", *clinic, "--runs", "1", *words)
    assert code == 2
    assert "fix" in err


def test_a_table_without_a_secret_is_refused(run, folder):
    (folder / "dull.csv").write_text("a\n1\n1\n")
    code, _, err = run("attack", "differencing", "--table", "dull.csv")
    assert code == 2
    assert "--secret" in err
