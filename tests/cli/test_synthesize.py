"""discreet synthesize: synthetic data, sampled rows and a report, for people and programs."""

import csv
import json

import pytest

from discreet import publish
from discreet.cli.shared.exits import Exit
from discreet.cli.shared.output import Output
from discreet.cli.synthesize import _progress, left_words
from discreet.publish.stages import Stage

PRICE = ("--method", "mst", "--epsilon", "1", "--delta", "1e-9")


@pytest.fixture
def token(vault, result, monkeypatch):
    found = result("grant", "alice", "visits")["token"]
    monkeypatch.setenv("DISCREET_TOKEN", found)
    return found


def test_synthetic_data_is_saved_sampled_and_reported_on(token, run, folder):
    files = ("--out", "synthetic.json", "--sample", "synthetic.csv", "--rows", "50", "--report", "report.html")
    code, out, err = run("synthesize", "visits", *PRICE, *files)
    assert (code, err) == (Exit.DONE, "")
    assert "paid" in out
    assert publish.load(folder / "synthetic.json").domain.names == ("age", "ward")
    rows = list(csv.DictReader((folder / "synthetic.csv").read_text().splitlines()))
    assert len(rows) == 50
    assert {row["ward"] for row in rows} <= {"A", "B", "C", ""}
    assert "Quality of the synthetic data" in (folder / "report.html").read_text()
    assert "replayed, free" in run("synthesize", "visits", *PRICE)[1]


def test_json_has_the_report_and_the_receipt(token, result):
    found = result("synthesize", "visits", *PRICE, "--column", "age", "--bins", "5")
    assert found["columns"] == ["age"]
    assert found["report"]["marginals"][0]["columns"] == ["age"]
    assert not found["receipt"]["replayed"]
    assert json.dumps(found["report"]["words"])
    again = result("synthesize", "visits", *PRICE, "--column", "age", "--bins", "5", "--fresh")
    assert not again["receipt"]["replayed"]


def test_a_preview_is_free(token, run, result):
    before = result("budget")
    code, out, _ = run("synthesize", "visits", "--epsilon", "0.5", "--preview")
    assert code == Exit.DONE
    assert "would remain" in out
    assert result("synthesize", "visits", "--epsilon", "0.5", "--preview")["method"]
    assert result("budget") == before


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--sample", "synthetic.xlsx"), "sample"),
        (("--report", "report.pdf"), "report"),
        (("--out", "nowhere/synthetic.json"), "out"),
        (("--method", "ami"), "method"),
        (("--column", "wards"), "column"),
        (("--zero", "ward=Z"), "ward"),
        (("--zero", "wards=A"), "column"),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_paid(token, result, words, what):
    before = result("budget")
    error = result("synthesize", "visits", *PRICE, *words)
    assert what in error["what"]
    assert result("budget") == before


def test_a_budget_refuses(token, run):
    assert run("synthesize", "visits", "--epsilon", "100")[0] == Exit.BUDGET


def test_what_no_row_can_be_is_in_no_sample(token, run, folder):
    code, _, err = run(
        "synthesize", "visits", *PRICE, "--zero", "age=0:55,ward=A|B", "--sample", "synthetic.csv", "--rows", "400"
    )
    assert (code, err) == (Exit.DONE, "")
    rows = list(csv.DictReader((folder / "synthetic.csv").read_text().splitlines()))
    assert {row["ward"] for row in rows if row["age"] and int(row["age"]) >= 55} >= {"A", "B"}
    assert not {row["ward"] for row in rows if row["age"] and int(row["age"]) < 55} & {"A", "B"}


def test_what_is_left_is_counted_down_from_the_plan():
    stages = (Stage("count", 1, 3, None), Stage("fit", 2, 3, 40.0), Stage("fit again", 3, 3, 100.0))
    assert left_words(stages, 0, 1000.0) == "< 3 min + counting left"
    assert left_words(stages, 1, 30.0) == "< 110 s left"
    assert left_words(stages, 1, 1000.0) == "< 100 s left"
    assert left_words(stages, 2, 99.5) == "< 2 s left"


def test_progress_is_drawn_on_a_terminal_and_passes_over_nothing(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    stages = (Stage("count", 1, 2, None), Stage("fit", 2, 2, 40.0))
    with _progress(Output(json=False), stages) as say:
        assert [say(stage) for stage in stages] == [None, None]
