"""discreet labs: listed, shown, run and exported, for people and programs."""

import json

import pytest

from discreet.cli.shared.exits import Exit
from discreet.lab.pages.labs import labs
from tests.lab.lab_pages import PAGE, put


def test_the_labs_are_listed(run, result):
    code, out, err = run("labs")
    assert (code, err) == (Exit.DONE, "")
    assert "Randomized response" in out
    found = result("labs")["labs"]
    assert [each["number"] for each in found] == [each.number for each in labs()]
    assert found[1]["lectures"] == ["Hardt", "Yu", "Venturi"]
    assert found[1]["minutes"] == 15
    assert "ln 3" in found[1]["bar"]


def test_a_lab_is_shown_with_its_solution_only_on_request(run, result):
    code, out, _ = run("labs", "show", "2")
    assert code == Exit.DONE
    assert "Two coins" in out
    assert "RandomizedResponse.coins" in out
    assert "memoization" not in out
    assert "memoization" in run("labs", "show", "randomized-response", "--solution")[1]
    assert result("labs", "show", "2")["page"].startswith("# 2. Randomized response")


def test_a_lab_is_run_and_its_picture_drawn(run, result, folder):
    code, out, err = run("labs", "run", "6", "--plot", "curves.svg")
    assert (code, err) == (Exit.DONE, "")
    assert "passes" in out
    assert "curves.svg" in out
    assert "k answers of epsilon 0.1 each" in (folder / "curves.svg").read_text()
    found = result("labs", "run", "9", "6", "6")
    assert [each["number"] for each in found["labs"]] == [6, 9]
    assert (found["failed"], found["plot"]) == ([], None)
    assert found["labs"][0]["ran"]["number"] == pytest.approx(4.775, abs=1e-3)


def test_all_labs_are_those_that_there_are(tmp_path, monkeypatch, run):
    put(tmp_path / "pages", monkeypatch)
    code, out, _ = run("labs", "run", "all")
    assert code == Exit.DONE
    assert "A small lab" in out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("number == 1", "number == 2", "misses its bar: It is one."), ("one != 2", "one == 2", "assert one == 2")],
)
def test_a_lab_that_fails_ends_the_command_with_exit_code_5(tmp_path, monkeypatch, run, old, new, said):
    put(tmp_path / "pages", monkeypatch, PAGE.replace(old, new))
    code, out, err = run("labs", "run", "7")
    assert code == Exit.REFUSED
    assert "fails" in out
    assert said in err
    code, out, _ = run("labs", "run", "all", "--json")
    assert code == Exit.REFUSED
    assert json.loads(out)["result"]["failed"] == [7]


def test_notebooks_are_exported(run, result, folder):
    code, out, _ = run("labs", "export", "one", "--only", "3")
    assert code == Exit.DONE
    assert "1 notebook in" in out
    assert [file.name for file in (folder / "one").iterdir()] == ["03-laplace.ipynb"]
    found = result("labs", "export", "all")
    assert found["files"] == [f"{each.name}.ipynb" for each in labs()]
    assert json.loads((folder / "all" / "03-laplace.ipynb").read_text())["nbformat"] == 4


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("run", "99"), "lab='99'"),
        (("show", "x"), "lab='x'"),
        (("run",), "Missing argument"),
        (("run", "1", "2", "--plot", "a.svg"), "--plot a.svg"),
        (("export", "a", "--only", "0"), "lab='0'"),
    ],
)
def test_what_cannot_be_is_refused(result, run, folder, words, what):
    assert run("labs", *words)[0] == Exit.USAGE
    assert what in result("labs", *words)["what"]


def test_a_plot_of_another_kind_is_refused(result, folder):
    assert result("labs", "run", "6", "--plot", "curves.bmp")["what"] == "--plot curves.bmp"
