"""The command: areas, exit statuses and files."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from bench.harness import areas
from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS
from bench.harness.figure import OURS
from click.testing import CliRunner

from tests.bench.helpers import area, reported, series

# `bench.__main__` is a module to run; its parts are reached as any module's are.
command = import_module("bench.__main__")

PASSES = reported("quick draw", ours=series(1, 1, 1), peers={"a": series(20, 20, 20)}, bars=(faster("a", 10),))
MISSES = reported("slow draw", ours=series(1, 1, 1), peers={"a": series(2, 2, 2)}, bars=(faster("a", 10),))


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Run the command over fake areas, with a page of its own."""
    fakes = {"good": area(PASSES), "bad": area(PASSES, MISSES)}
    page = tmp_path / "benchmarks.md"
    page.write_text("# Benchmarks\n", encoding="utf-8")
    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(areas, "names", lambda package="bench": sorted(fakes))
    monkeypatch.setattr(areas, "import_module", lambda name: _module(fakes[name.rpartition(".")[2]]))
    return lambda *arguments: CliRunner().invoke(command.main, arguments)


def _module(fake):
    return type("module", (), {"AREA": fake, "__doc__": "A fake area.\n\nMore."})


def test_alone_it_lists_the_areas(bench):
    done = bench()
    assert done.exit_code == 0
    assert "good" in done.output
    assert "A fake area." in done.output


def test_a_check_that_clears_every_bar_succeeds(bench):
    done = bench("good", "--check")
    assert done.exit_code == 0
    assert "20.0x" in done.stdout
    assert "every bar was cleared" in done.stderr


def test_a_missed_bar_fails_a_check_and_is_listed(bench):
    done = bench("bad", "--check")
    assert done.exit_code == 1
    assert "bad: slow draw: 2.00x vs a (bar >= 10.0x)" in done.stderr
    assert "quick draw: 20" not in done.stderr


def test_without_a_check_a_missed_bar_is_told_and_no_failure(bench):
    done = bench("bad")
    assert done.exit_code == 0
    assert "missed bad: slow draw" in done.stderr


def test_all_runs_every_area(bench):
    done = bench("all", "--check")
    assert done.exit_code == 1
    assert "good, medians" in done.stdout
    assert "bad, medians" in done.stdout


def test_only_some_cases_can_be_run(bench):
    done = bench("bad", "--check", "--only", "QUICK")
    assert done.exit_code == 0
    assert "slow draw" not in done.output


def test_only_nothing_is_a_usage_error(bench):
    done = bench("bad", "--only", "nonsense")
    assert done.exit_code == 2
    assert "nonsense" in done.stderr


def test_an_unknown_area_is_refused_with_the_nearest(bench):
    done = bench("goood")
    assert done.exit_code == 2
    assert "did you mean 'good'?" in done.stderr


def test_json_is_written_also_when_a_bar_is_missed(bench, tmp_path):
    path = tmp_path / "out.json"
    assert bench("bad", "--check", "--json", str(path)).exit_code == 1
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["misses"] == ["bad: slow draw: 2.00x vs a (bar >= 10.0x)"]


def test_quick_takes_fewer_repetitions(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "QUICK_REPETITIONS", 2)
    path = tmp_path / "out.json"
    bench("good", "--quick", "--json", str(path))
    (case,) = json.loads(path.read_text(encoding="utf-8"))["areas"][0]["cases"]
    assert len(case["participants"]["a"]["samples"]) == 2


def test_markdown_writes_the_page(bench):
    assert bench("good", "--markdown").exit_code == 0
    assert "| quick draw |" in command.PAGE.read_text(encoding="utf-8")


def test_markdown_of_half_an_area_is_refused(bench):
    before = command.PAGE.read_text(encoding="utf-8")
    assert bench("good", "--markdown", "--only", "quick").exit_code == 2
    assert command.PAGE.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", areas.names())
def test_every_area_is_well_formed(name):
    summary, found = areas.load(name)
    assert summary.endswith(".")
    assert found.ours.name == OURS
    assert len({case.name for case in found.cases}) == len(found.cases)
    known = found.participants()
    for case in found.cases:
        assert {bar.peer for bar in case.bars if bar.peer} <= set(case.peers)
        for who, task in case.tasks().items():
            functions = {
                node.name
                for node in ast.parse(known[who].tasks.read_text(encoding="utf-8")).body
                if isinstance(node, ast.FunctionDef)
            }
            assert task.function in functions, f"{case.name}: {known[who].tasks.name} has no {task.function}"
            json.dumps(task.arguments)


@pytest.mark.parametrize("name", areas.names())
def test_every_requirement_of_a_peer_is_pinned(name):
    requirements = [one for peer in areas.load(name)[1].peers for one in peer.requirements]
    assert all("==" in one for one in requirements)


def test_markers_in_the_page_come_in_pairs_and_name_areas():
    page = (Path(command.__file__).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    opened, closed = (re.findall(rf"<!-- {slash}bench:(\w+) -->", page) for slash in ("", "/"))
    assert opened == closed
    assert len(set(opened)) == len(opened)
    assert set(opened) <= set(areas.names())


def test_task_files_never_import_the_harness():
    for path in TASKS.glob("*.py"):
        assert "bench" not in {
            (node.module or "").partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        }, path.name


def test_the_bars_of_noise_are_those_promised():
    cases = {case.name: case for case in areas.load("noise")[1].cases}
    assert (
        cases["laplace, scale 1"].bars
        == cases["gaussian, scale 10"].bars
        == (faster("opendp", 1000), faster("numpy", 3))
    )
    assert cases["laplace, scale 10,000"].bars == (faster("opendp", 300), faster("numpy", 0.8))
    assert cases["gaussian, scale 10,000"].bars == (faster("opendp", 200), faster("numpy", 0.3))
    assert cases["laplace, one draw"].bars == cases["gaussian, one draw"].bars == (faster("opendp", 10),)
    assert cases["laplace, first use of a scale"].bars == (at_most(0.05),)
