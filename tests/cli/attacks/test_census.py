"""discreet attack census: blocks made up or named, verdicts, and refusals."""

import json

import pytest

from discreet.cli.main import main
from discreet.testing import seeded


@pytest.fixture
def run(capsys):
    """Run a command on seeded bits and return its exit code, its output and its errors."""

    def command(*words):
        with seeded(1):
            code = main(("attack", "census", *words))
        out, err = capsys.readouterr()
        return code, out, err

    return command


def test_tables_of_small_blocks_fall_exactly_and_hold_under_discreet(run, tmp_path):
    plot = tmp_path / "census.svg"
    words = ("--blocks", "4", "--seconds", "0.2", "--target", "exact", "--target", "laplace:1", "--plot", str(plot))
    code, out, _ = run(*words, "--json")
    result = json.loads(out)["result"]
    assert code == 0
    exact, private = result["outcomes"]
    assert (exact["verdict"], private["verdict"]) == ("succeeds", "bounded")
    assert exact["figures"]["blocks"] == 4
    assert result["attributes"][:2] == ["age", "female"]
    assert plot.exists()


def test_a_table_for_people_names_the_shares(run):
    columns = ("--attribute", "age", "--attribute", "female", "--attribute", "health")
    code, out, _ = run("--blocks", "2", "--size", "10", *columns, "--target", "exact")
    assert code == 0
    assert "reconstructed exactly" in " ".join(out.split())


def test_blocks_may_be_a_column_of_the_table(run, tmp_path):
    path = tmp_path / "people.csv"
    rows = "".join(f"{at % 3},{20 + 2 * at},{at % 2},{'abc'[at % 3]}\n" for at in range(30))
    path.write_text("village,age,sex,race\n" + rows)
    columns = ("--attribute", "age", "--attribute", "sex", "--attribute", "race")
    code, out, _ = run("--table", str(path), "--block", "village", *columns, "--target", "exact", "--json")
    assert code == 0
    assert json.loads(out)["result"]["outcomes"][0]["figures"]["blocks"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--attribute", "agee", "--attribute", "female"), "age"),
        (("--block", "county"), "county"),
        (("--register", "9"), "register"),
        (("--seconds", "0"), "seconds"),
    ],
)
def test_what_cannot_be_published_is_refused(run, words, said):
    code, _, err = run("--blocks", "1", "--target", "exact", *words)
    assert code == 2
    assert said in err


def test_a_table_without_an_age_is_refused(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a\n1\n2\n")
    code, _, err = run("--table", str(path))
    assert code == 2
    assert "--attribute" in err
