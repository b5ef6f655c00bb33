"""The labs: every page runs and passes, has the shape of a lab, and becomes a notebook that runs too."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from discreet.core.errors import BadParameter, Refusal
from discreet.lab.pages.labs import SECTIONS, export, lab, labs
from discreet.testing import seeded
from tests.lab.lab_pages import PAGE, put

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "labs"
ALL = labs()
LECTURERS = {"Hardt", "Smith", "Yu", "Ligett", "Venturi"}
every_lab = pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)


@every_lab
def test_every_lab_runs_and_its_number_passes(each):
    # Statistical bars fail by chance with probability 1e-6 at most, and the seed is fixed.
    with seeded(each.number):
        ran = each.run()
    assert (ran.passes, ran.failure) == (True, "")
    assert json.loads(json.dumps(ran.record()))["number"] == ran.number


@pytest.mark.soak
@every_lab
def test_every_lab_passes_whatever_the_noise(each):
    for seed in range(1000, 1020):
        with seeded(seed):
            ran = each.run()
        assert (ran.passes, ran.failure) == (True, ""), seed


@every_lab
def test_every_lab_is_about_at_most_fifteen_lines_of_code(each):
    assert 3 <= len([line for line in each.code.splitlines() if line.strip()]) <= 15


@every_lab
def test_every_lab_shows_its_picture_which_is_small_and_keeps_its_text(each):
    drawn = DOCS / "pictures" / f"{each.name}.svg"
    assert f"](pictures/{drawn.name})" in each.text
    text = drawn.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert "<text" in text
    assert "<dc:date>" not in text


@every_lab
def test_every_lab_names_its_lectures_and_a_source(each):
    assert set(each.lectures) <= LECTURERS
    assert re.search(r"[a-z.],? \(?(19|20)\d\d\b", each.text), "an author and a year"
    assert 5 <= each.minutes <= 45


@every_lab
def test_every_exercise_has_a_solution(each):
    exercise = each.sections[-1]
    assert exercise.title == "Exercise"
    assert exercise.solution
    assert "???" not in exercise.text + exercise.solution


def test_there_are_twenty_labs_at_least_in_order_of_their_numbers():
    numbers = [each.number for each in ALL]
    assert len(numbers) >= 20
    assert numbers == sorted(set(numbers))
    assert {name for each in ALL for name in each.lectures} == LECTURERS


def test_the_list_in_the_documentation_is_the_list_of_labs():
    rows = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\.md\) \| (.+) \| (\d+) \|$", (DOCS / "index.md").read_text(), re.M)
    wanted = [(str(a.number), a.title, a.name, ", ".join(a.lectures), str(a.minutes)) for a in ALL]
    assert rows == wanted, "run tools/labs.py"


def test_a_wheel_takes_the_pages_along():
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "docs/labs" in target["only-include"]
    assert target["sources"]["docs/labs"] == "discreet/lab/labs_pages"


def test_a_lab_is_found_by_number_or_by_name():
    second = lab(2)
    assert second == lab("2") == lab("02-randomized-response") == lab("randomized-response")
    assert second.lectures == ("Hardt", "Yu", "Venturi")
    assert second.introduction.startswith("Nobody has to trust anyone")


@pytest.mark.parametrize("which", [0, 99, "x", "", "٢"])
def test_an_unknown_lab_is_refused_with_those_that_exist(which):
    with pytest.raises(BadParameter, match=f"labs {ALL[0].number} to {ALL[-1].number}"):
        lab(which)


def test_a_page_is_cut_into_sections_and_its_solution_is_apart(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch)
    (small,) = labs()
    assert [section.title for section in small.sections] == list(SECTIONS)
    assert (small.title, small.introduction, small.bar) == (
        "A small lab",
        "An introduction over two lines.",
        "It is one.",
    )
    assert small.code == "one = 1\n"
    assert "That is all." in small.page()
    assert "That is all." not in small.page(solution=False)
    assert "What is one and one?" in small.page(solution=False)


def test_a_number_that_misses_its_bar_does_not_pass(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, PAGE.replace("number == 1", "number == 2"))
    ran = labs()[0].run()
    assert (ran.number, ran.passes, ran.failure) == (1, False, "")


@pytest.mark.parametrize(("line", "where"), [("assert one != 2", "Erratum"), ("    assert one + one == 2", "Solution")])
def test_an_assertion_that_does_not_hold_fails_the_lab_and_is_quoted(tmp_path, monkeypatch, line, where):
    put(tmp_path, monkeypatch, PAGE.replace(line, line.replace("2", "1 - 0" if "!=" in line else "3")))
    ran = labs()[0].run()
    assert not ran.passes
    assert ran.failure.startswith(f"07-small, {where}: assert one")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("one = 1\n", "one = 1\nassert one == 2\n", "assert one == 2"),
        ("number = one", "number = 'one'", "number is none"),
        ("passes = number == 1", "passes = 1", "passes is none"),
        ('picture = Bars("One", ["one"], [one], "value")', "picture = None", "picture is none"),
    ],
)
def test_a_lab_without_a_number_a_verdict_or_a_picture_is_refused(tmp_path, monkeypatch, old, new, why):
    put(tmp_path, monkeypatch, PAGE.replace(old, new))
    with pytest.raises(Refusal, match=why):
        labs()[0].run()


def test_numbers_of_numpy_are_numbers(tmp_path, monkeypatch):
    text = PAGE.replace("number = one", "import numpy\n\nnumber = numpy.float32(one)")
    put(tmp_path, monkeypatch, text.replace("passes = number == 1", "passes = numpy.bool_(True)"))
    ran = labs()[0].run()
    assert (type(ran.number), ran.passes) == (float, True)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("*Lectures: Hardt, Yu. About 5 minutes.*", "By Hardt.", "its lectures and minutes"),
        ("# 7. A", "# 8. A", "another number"),
        ("## Theorem", "## Statement", "its sections are"),
        ("## Exercise", "## Number", "its sections are"),
        ("```python\none = 1\n```", "one = 1", "section Code has one block"),
        ("**Bar.** ", "", "begins with"),
    ],
)
def test_a_page_of_another_shape_is_refused(tmp_path, monkeypatch, old, new, why):
    put(tmp_path, monkeypatch, PAGE.replace(old, new))
    with pytest.raises(Refusal, match=why) as refused:
        labs()
    assert refused.value.value == "07-small"


def test_an_installation_without_pages_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["discreet.lab.pages.labs"], "_HOMES", (tmp_path / "nowhere",))
    with pytest.raises(Refusal, match="not in this installation"):
        labs()


@every_lab
def test_every_notebook_has_what_its_format_requires(each):
    document = json.loads(json.dumps(each.notebook()))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert {"display_name", "name"} <= set(document["metadata"]["kernelspec"])
    assert document["metadata"]["language_info"]["name"] == "python"
    for cell in document["cells"]:
        required = {"id", "cell_type", "metadata", "source"}
        assert set(cell) == required | ({"outputs", "execution_count"} if cell["cell_type"] == "code" else set())
        assert re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", cell["id"])
        assert isinstance(cell["source"], list)
        assert "".join(cell["source"]).strip()
    ids = [cell["id"] for cell in document["cells"]]
    assert len(ids) == len(set(ids))
    prose = "\n".join("".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "markdown")
    assert "```python" not in prose
    assert "???" not in prose
    assert not re.search(r"\]\((?![a-z]+:)", prose)


@pytest.mark.parametrize("which", [2, 6, 9])
def test_the_cells_of_a_notebook_run_in_order(which):
    names = {"__name__": "__main__"}
    with seeded(which):
        for cell in lab(which).notebook()["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    assert names["passes"]


def test_a_notebook_shows_picture_and_number(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch)
    cells = ["".join(cell["source"]) for cell in labs()[0].notebook()["cells"] if cell["cell_type"] == "code"]
    assert [cell.splitlines()[-1] for cell in cells] == [
        "one = 1",
        "picture",
        "number, passes",
        "assert one != 2",
        "assert one + one == 2",
    ]
    assert labs()[0].run().picture._repr_svg_().startswith("<svg")


def test_labs_are_exported_as_files_and_the_same_every_time(tmp_path):
    said = []
    files = export(tmp_path / "new" / "folder", (lab(1), lab(2)), said.append)
    assert [file.name for file in files] == ["01-definition.ipynb", "02-randomized-response.ipynb"]
    assert said == [lab(1).title, lab(2).title]
    first = files[0].read_bytes()
    export(tmp_path / "new" / "folder", (lab(1),), force=True)
    assert files[0].read_bytes() == first
    assert json.loads(first)["cells"][0]["source"][0] == "# 1. The definition: events, not points\n"


def test_a_file_is_no_folder_to_export_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadParameter, match="a file of that name"):
        export(tmp_path / "file")
