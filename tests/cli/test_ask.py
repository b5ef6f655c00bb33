"""discreet ask: a question in SQL, paid with a token; the answer for people, programs and spreadsheets."""

import csv
import io
import json
import sys

import pytest

from discreet.answers.answer import Answer
from discreet.cli.shared.exits import Exit
from discreet.engines.engine import EngineFailed

TEXT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.fixture
def token(vault, result, monkeypatch):
    found = result("grant", "alice", "visits")["token"]
    monkeypatch.setenv("DISCREET_TOKEN", found)
    return found


def test_the_answer_is_a_table(token, run):
    code, out, err = run("ask", TEXT, "--epsilon", "1")
    assert (code, err) == (Exit.DONE, "")
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert lines[0] == ["ward", "n"]
    assert [line[0] for line in lines[2:5]] == ["A", "B", "C"]
    assert "remains" in out
    assert "replayed, free" in run("ask", TEXT, "--epsilon", "1")[1]


def test_a_question_comes_from_a_file_or_from_standard_input(token, result, folder, monkeypatch):
    (folder / "question.sql").write_text(TEXT)
    first = result("ask", "--file", "question.sql", "--epsilon", "1")
    monkeypatch.setattr("sys.stdin", io.StringIO(TEXT))
    assert result("ask", "-", "--epsilon", "1")["rows"] == first["rows"]


def test_json_has_values_with_their_intervals_and_the_receipt(token, result):
    found = result("ask", TEXT, "--epsilon", "0.5", "--max-rows", "2")
    assert found["keys"] == ["ward"]
    assert set(found["rows"][0]) == {"ward", "n", "n_low", "n_high"}
    assert found["asked"] == {"epsilon": "1/2"}
    assert not found["receipt"]["replayed"]


def test_what_bounding_cut_is_bought_by_an_option(token, run, result):
    question = TEXT, "--epsilon", "1", "--max-rows", "2", "--cut"
    assert "a tenth of the price" in " ".join(run("preview", *question)[1].split())
    found = result("ask", *question)
    assert set(found["cut"]) >= {"people", "rows"}
    assert "bounding cut at least" in run("ask", *question)[1]


def test_intervals_of_sampling_are_an_option_and_free(token, result):
    plain = result("ask", TEXT, "--epsilon", "0.5")
    found = result("ask", TEXT, "--epsilon", "0.5", "--sampling")
    assert (plain["intervals"], found["intervals"]) == ("noise", "sampling and noise")
    assert found["receipt"]["replayed"]
    assert any("population" in note for note in found["notes"])
    for one, other in zip(plain["rows"], found["rows"], strict=True):
        assert one["n"] == other["n"]
        assert other["n_high"] > one["n_high"]


@pytest.mark.parametrize("cause", [OverflowError("the value 41 of patient 7"), EngineFailed(), MemoryError()], ids=repr)
def test_a_question_that_fails_is_told_in_one_text_with_and_without_debugging(token, run, monkeypatch, cause):
    price = ("--epsilon", "0.5")
    told = set()
    with monkeypatch.context() as patch:

        def fails(*_):
            raise cause

        patch.setattr("discreet.ask.programme.Programme.run", fails)
        told.add(run("ask", TEXT, *price))
        patch.setenv("DISCREET_DEBUG", "1")
        told.add(run("ask", TEXT, *price, "--fresh"))
        told.add(run("ask", TEXT, *price))
    told.add(run("ask", TEXT, *price))
    ((code, out, err),) = told
    assert (code, out) == (Exit.REFUSED, "")
    assert "could not be answered" in err
    assert "ask with --fresh, or" in " ".join(err.split())
    assert "Traceback" not in err
    assert run("ask", TEXT, *price, "--fresh")[0] == Exit.DONE


def test_csv_is_one_table_with_a_header(token, run):
    out = run("ask", TEXT, "--epsilon", "1", "--csv")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["ward"] for row in rows] == ["A", "B", "C"]
    assert all(float(row["n_low"]) <= float(row["n"]) <= float(row["n_high"]) for row in rows)


def test_an_answer_is_kept_for_later(token, run, result, folder):
    run("ask", TEXT, "--epsilon", "1", "--save", "answer.json")
    assert Answer.from_json((folder / "answer.json").read_text()).keys == ("ward",)
    assert result("explain", "answer.json")["rows"] == result("ask", TEXT, "--epsilon", "1")["rows"]


@pytest.mark.parametrize(("file", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_an_answer_is_drawn_into_a_file(token, run, folder, file, start):
    code, out, err = run("ask", TEXT, "--epsilon", "1", "--plot", file)
    assert (code, err, out.splitlines()[-1]) == (Exit.DONE, "", f"The plot is in {file}.")
    assert (folder / file).read_bytes().startswith(start)


def test_programs_and_spreadsheets_read_nothing_but_the_answer_beside_a_plot(token, run, folder):
    found = json.loads(run("ask", TEXT, "--epsilon", "1", "--plot", "a.svg", "--json")[1])
    assert found["result"]["plot"] == "a.svg"
    assert len(run("ask", TEXT, "--epsilon", "1", "--plot", "b.svg", "--csv")[1].splitlines()) == 4


@pytest.mark.parametrize(("file", "why"), [("nowhere/a.png", "there is no such folder"), ("a.bmp", "its ending")])
def test_an_answer_that_cannot_be_drawn_is_not_paid_for(token, result, file, why):
    before = result("budget")["limits"]
    found = result("ask", TEXT, "--epsilon", "1", "--fresh", "--plot", file)
    assert found["kind"] == "BadParameter"
    assert ("plot" in found["what"], found["why"].startswith(why)) == (True, True)
    assert result("budget")["limits"] == before


def test_without_matplotlib_an_answer_to_be_drawn_is_not_paid_for(token, run, result, monkeypatch):
    before = result("budget")["limits"]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("ask", TEXT, "--epsilon", "1", "--fresh", "--plot", "a.png")
    assert (code, out) == (Exit.EXTRA, "")
    assert "pip install 'discreet[plot]'" in err
    assert result("budget")["limits"] == before


def test_one_file_for_two_things_is_refused_before_anything_is_paid(token, result, folder):
    words = ("ask", TEXT, "--epsilon", "1", "--save", "s.png", "--plot", str(folder / "s.png"))
    assert "two options name it" in result(*words)["why"]
    assert result("ask", TEXT, "--epsilon", "1")["receipt"]["replayed"] is False


def test_force_is_named_once(token, run, folder):
    (folder / "s.json").write_text("")
    _, _, err = run("ask", TEXT, "--epsilon", "1", "--save", "s.json")
    assert "overwrite it with --force" in " ".join(err.split())
    assert "Python" not in err


def test_fresh_noise_is_paid_again(token, result):
    first = result("ask", TEXT, "--epsilon", "0.1")
    assert result("ask", TEXT, "--epsilon", "0.1", "--fresh")["receipt"]["sequence"] > first["receipt"]["sequence"]


def test_a_refusal_shows_the_place(token, run, result):
    code, out, err = run("ask", "SELECT * FROM visits", "--epsilon", "1")
    assert (code, out) == (Exit.REFUSED, "")
    assert "    SELECT * FROM visits\n           ^\n" in err
    assert "single rows are never shown" in err
    error = result("ask", "SELECT AVG(agee) FROM visits", "--epsilon", "1")
    assert (error["kind"], error["value"]) == ("SqlRefused", "'agee'")


def test_a_budget_that_is_spent_has_its_own_exit_code(token, run):
    assert run("ask", TEXT, "--epsilon", "50")[0] == Exit.BUDGET


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there is no question"),
        ((TEXT, "--file", "question.sql"), "there are two questions"),
        (("--file", "nowhere.sql"), "there is no such file"),
        ((TEXT, "--epsilon", "much"), "it is not a number"),
        ((TEXT,), "paid in epsilon or in rho"),
        ((TEXT, "--epsilon", "1", "--max-rows", "few"), "it is a number of rows"),
        ((TEXT, "--epsilon", "1", "--key", "ward"), "it names a column and its keys"),
    ],
)
def test_what_makes_no_sense_is_a_mistake_of_usage(token, run, words, said):
    code, _, err = run("ask", *words)
    assert code == Exit.USAGE
    assert said in err


def test_a_question_needs_a_token(vault, run):
    code, _, err = run("ask", TEXT, "--epsilon", "1")
    assert code == Exit.USAGE
    assert "DISCREET_TOKEN" in err


def test_json_is_one_object(token, run):
    assert json.loads(run("ask", TEXT, "--rho", "0.1", "--json", "--csv")[1])["command"] == "ask"


@pytest.mark.parametrize("name", ["answer.csv", "ANSWER.PARQUET"])
def test_a_name_that_promises_another_format_is_refused_before_anything_is_paid(token, run, result, folder, name):
    before = result("budget")
    code, _, err = run("ask", TEXT, "--epsilon", "1", "--save", name)
    assert code == Exit.USAGE
    assert "--csv > FILE" in err
    assert result("budget") == before
    assert not (folder / name).exists()


def test_an_answer_that_cannot_be_saved_is_not_paid_for(token, result, folder):
    before = result("budget")["limits"]
    found = result("ask", TEXT, "--epsilon", "1", "--fresh", "--save", "nowhere/answer.json")
    assert (found["kind"], found["why"]) == ("BadParameter", "the file cannot be written")
    assert result("budget")["limits"] == before


def test_an_answer_is_shown_even_where_its_file_cannot_be_written(token, run, folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    code, out, err = run("ask", TEXT, "--epsilon", "1", "--save", "answer.json")
    assert (code, "ward" in out) == (Exit.USAGE, True)
    assert "the file cannot be written" in err


def test_a_number_of_rows_with_thousands_of_digits_is_refused(token, result):
    assert result("ask", TEXT, "--epsilon", "1", "--max-rows", "9" * 5000)["kind"] == "BadParameter"


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eA"


@pytest.fixture
def hostile(vault, run, result, folder, monkeypatch):
    """A table of which one key steers a terminal, and another one a spreadsheet."""
    (folder / "odd.csv").write_text(f"pid,label\n1,{HOSTILE}\n2,=cmd\n")
    words = (
        "--unit",
        "person:pid",
        "--max-rows",
        "1",
        "--column",
        f"label={HOSTILE},=cmd",
        "--epsilon",
        "9",
        "--people",
        "distinct",
    )
    assert run("register", "odd", "odd.csv", *words)[0] == Exit.DONE
    monkeypatch.setenv("DISCREET_TOKEN", result("grant", "bob", "odd")["token"])
    return "SELECT label, COUNT(*) AS n FROM odd GROUP BY label"


def test_keys_do_not_steer_the_terminal(hostile, run):
    for more in ((), ("--json",)):
        code, out, err = run("ask", hostile, "--epsilon", "1", *more)
        assert code == Exit.DONE, err
        assert not {"\x1b", "\x07", "\u202e"} & {*out, *err}
    assert "\\x1b[2J" in run("ask", hostile, "--epsilon", "1")[1]


def test_keys_in_csv_are_not_run_by_a_spreadsheet(hostile, run):
    out = run("ask", hostile, "--epsilon", "1", "--csv")[1]
    assert "'=cmd" in out
    assert HOSTILE in out  # a program gets what is there
