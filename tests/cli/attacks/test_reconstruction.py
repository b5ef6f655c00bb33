"""discreet attack reconstruction: targets by word, a column of one's own, a picture, and refusals."""

import json

import pytest

from discreet.cli.main import main
from discreet.testing import seeded

SMALL = ("attack", "reconstruction", "--people", "100")


@pytest.fixture
def run(capsys):
    """Run a command on seeded bits and return its exit code, its output and its errors."""

    def command(*words):
        with seeded(1):
            code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("age,ward\n" + "".join(f"{20 + at % 60},{'AB'[at % 2]}\n" for at in range(200)))
    return path


def test_the_public_table_falls_exactly_and_holds_under_discreet(run):
    code, out, _ = run(*SMALL, "--target", "exact", "--target", "laplace:1", "--json")
    result = json.loads(out)["result"]
    assert code == 0
    exact, private = result["outcomes"]
    assert (exact["verdict"], exact["success"]) == ("succeeds", 1.0)
    assert private["verdict"] == "bounded"
    assert private["ceiling"] == pytest.approx(0.731, abs=1e-3)
    assert private["figures"]["asked"] == 400


def test_a_table_for_people_has_a_line_and_a_sentence_for_each_target(run):
    code, out, _ = run(*SMALL, "--target", "exact", "--target", "rounded:5")
    assert code == 0
    out = " ".join(out.split())
    for word in ("reconstruction", "exact", "rounded to 5", "succeeds", "100 of 100 secret bits"):
        assert word in out


def test_a_custodians_own_column_and_value_are_attacked_by_where_clauses(run, table, tmp_path):
    plot = tmp_path / "bars.svg"
    words = ("--table", str(table), "--secret", "ward", "--value", "A", "--shape", "sql", "--target", "exact")
    code, out, _ = run(*SMALL, *words, "--plot", str(plot), "--json")
    result = json.loads(out)["result"]
    assert code == 0
    assert result["secret"] == "ward"
    assert result["outcomes"][0]["figures"]["example"].startswith("SELECT count(*)")
    assert plot.read_text().lstrip().startswith("<?xml")


def test_a_method_is_chosen_by_its_word(run):
    _, out, _ = run(*SMALL, "--target", "exact", "--method", "least-squares", "--questions", "300", "--json")
    figures = json.loads(out)["result"]["outcomes"][0]["figures"]
    assert (figures["method"], figures["asked"]) == ("least_squares", 300)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--secret", "wrad"), "ward"),
        (("--secret", "ward", "--value", "C"), "value of ward"),
        (("--target", "roundd:5"), "rounded"),
        (("--method", "exhaustive"), "16 people"),
        (("--people", "0"), "people"),
    ],
)
def test_what_cannot_be_attacked_is_refused_with_the_fix(run, table, words, said):
    code, _, err = run("attack", "reconstruction", "--table", str(table), *words)
    assert code == 2
    assert said in err


def test_a_table_without_a_secret_is_refused(run, tmp_path):
    path = tmp_path / "unique.csv"
    path.write_text("n\n" + "\n".join(map(str, range(50))))
    code, _, err = run("attack", "reconstruction", "--table", str(path))
    assert code == 2
    assert "--secret" in err
