"""The suite's time is a budget: every folder has its seconds, an overrun fails the run, a slow machine does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.resume import Resume, fingerprint
from tests.seconds import HOUSE, TOTAL, Budget, folder_of

ROOT = Path(__file__).parents[1]
CONFTEST = """
from pathlib import Path
import tests_of_the_house as house

def pytest_configure(config):
    for word in ("slow", "soak"):
        config.addinivalue_line("markers", word)
    house.Budget.read.__func__.__defaults__ = (Path(__file__).with_name("seconds.toml"),)
    house.MORE, house.crowding = 0, lambda: 0.0
    config.pluginmanager.register(house.Clock(config))
"""
BODY = """
import time
import pytest

@pytest.mark.parametrize("at", range(3))
def test_a(at):
    time.sleep(0.05)

@pytest.mark.slow
def test_b():
    time.sleep(0.3)

@pytest.mark.soak
def test_c():
    time.sleep(0.3)
"""


def folders():
    return {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("*/test_*.py")}


def test_every_folder_of_tests_has_its_seconds_and_together_they_are_a_thousand_at_most():
    budget = Budget.read()
    assert set(budget.folders) == folders() | {HOUSE}
    assert sum(budget.folders.values()) <= TOTAL == 1000
    assert budget.slow + 2 * TOTAL <= 3600 * 2  # both workers, an hour at most


@pytest.mark.parametrize(
    ("nodeid", "folder"),
    [
        ("tests/plan/to_sql/test_scalar.py::test_a[x/y]", "plan"),
        ("tests/core/test_log.py::test_a", "core"),
        ("tests/test_house_names.py::test_a", HOUSE),
    ],
)
def test_a_test_belongs_to_its_top_level_folder(nodeid, folder):
    assert folder_of(nodeid) == folder


def spent(seconds, *, timings=(), crowds=(), words=()):
    budget = Budget({"plan": 10}, slow=20, loop=0.002, timings=list(timings), crowds=list(crowds))
    budget.add("tests/plan/test_x.py::test_a", seconds, words)
    return budget


def test_a_folder_may_take_half_more_and_five_seconds_but_not_longer():
    assert spent(19.9).exceeded == []
    assert spent(20.1).exceeded == ["plan"]
    assert any("plan" in line and "OVER" in line for line in spent(20.1).table())


def test_the_whole_may_take_a_quarter_more_but_not_longer():
    budget = Budget(dict.fromkeys("abcdefghij", 100), slow=0, loop=0.002)
    for name in budget.folders:
        budget.add(f"tests/{name}/test_x.py::test_a", 124, ())
    assert budget.exceeded == []
    budget.add("tests/a/test_x.py::test_b", 20, ())
    assert budget.exceeded == ["in all"]


def test_a_folder_without_seconds_has_five():
    budget = Budget({}, slow=0, loop=0.002)
    budget.add("tests/new/test_x.py::test_a", 6, ())
    assert budget.exceeded == ["new"]


def test_times_are_divided_by_the_slowness_of_the_machine_but_a_fast_one_gets_no_less():
    assert spent(39, timings=[0.003, 0.005]).exceeded == []
    assert spent(41, timings=[0.003, 0.005]).exceeded == ["plan"]
    assert spent(39, timings=[0.002], crowds=[1, 3]).exceeded == []
    assert spent(41, timings=[0.002], crowds=[1, 3]).exceeded == ["plan"]
    assert spent(19, timings=[0.0001], crowds=[0.1]).exceeded == []


def test_slow_tests_have_a_budget_of_their_own_and_long_forms_none():
    assert spent(24, words=("slow",)).exceeded == []
    assert spent(26, words=("slow",)).exceeded == ["slow tests"]
    assert spent(10**6, words=("soak",)).exceeded == []


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_run_that_takes_too_long_fails_with_a_table(tmp_path, workers):
    place = tmp_path / "tests" / "plan"
    place.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "seconds.py", tmp_path / "tests_of_the_house.py")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (place / "test_x.py").write_text(BODY)

    def run(seconds):
        (tmp_path / "seconds.toml").write_text(f"loop = 1\nslow = 100\n[folders]\nplan = {seconds}\n")
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *workers, "--rootdir", ".", "tests"]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)

    ran = run(100)
    assert (ran.returncode, "OVER" in ran.stdout) == (0, False), ran.stdout + ran.stderr
    ran = run(0.05)
    assert (ran.returncode, "5 passed" in ran.stdout) == (1, True), ran.stdout + ran.stderr
    assert "Too long: plan." in ran.stdout
    assert "seconds by folder" in ran.stdout


def test_a_long_run_goes_on_where_it_stopped(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nfrom tests_resume import Resume\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(Resume(Path('state', 'x'), Path('print').read_text()))\n"
    )
    shutil.copy(ROOT / "tests" / "resume.py", tmp_path / "tests_resume.py")
    (tmp_path / "print").write_text("one")
    (tmp_path / "test_x.py").write_text(
        "from pathlib import Path\n\ndef test_a():\n    pass\n\ndef test_b():\n    assert Path('done').exists()\n"
    )

    def run():
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", "."]
        ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        return ran.returncode, ran.stdout

    code, text = run()
    assert (code, "1 failed, 1 passed" in text) == (1, True), text
    code, text = run()
    assert (code, "1 failed, 1 deselected" in text) == (1, True), text
    (tmp_path / "done").touch()
    code, text = run()
    assert (code, "1 passed, 1 deselected" in text) == (0, True), text
    code, text = run()
    assert (code, "2 passed before" in text) == (0, True), text
    (tmp_path / "print").write_text("another")  # the sources have changed
    code, text = run()
    assert (code, "2 passed" in text) == (0, True), text


def test_the_fingerprint_tells_changed_sources_and_tests(tmp_path):
    for folder in ("src", "tests"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("")
    (tmp_path / "constraints.txt").write_text("")
    seen = {fingerprint(tmp_path)}
    for file in ("src/a.py", "tests/a.py", "constraints.txt", "src/b.py"):
        (tmp_path / file).write_text("new")
        seen.add(fingerprint(tmp_path))
    assert len(seen) == 5
    assert Resume(tmp_path / "none", "one").passed == set()
