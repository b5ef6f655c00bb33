"""House rules: one source of randomness, docstrings everywhere, small files, pinned tools, honest make targets."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").rglob("*.py")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BANNED = [
    "import random",
    "from random import random",
    "import numpy.random",
    "from numpy import random",
    "from numpy.random import default_rng",
    "import numpy as np\n\nnp.random.default_rng()",
    "import scipy.stats",
    "from scipy import stats",
    "from scipy.stats import norm",
]
# Files that have to be long, each with its reason.
LONG: dict[str, str] = {}


def name(path):
    return str(path.relative_to(ROOT))


def banned(code, file):
    """Return whether the linter finds a banned generator in the code, were it that file."""
    ruff = Path(sys.executable).with_name("ruff")
    words = [ruff, "check", "--select", "TID251", "--output-format", "json", "--stdin-filename", file, "-"]
    ran = subprocess.run(words, input=code + "\n", capture_output=True, text=True, cwd=ROOT)
    return [found["code"] for found in json.loads(ran.stdout)] == ["TID251"]


@pytest.mark.parametrize("code", BANNED)
def test_other_generators_are_banned(code):
    assert banned(code, "src/discreet/core/sample.py")


@pytest.mark.parametrize("file", ["src/discreet/noise/sample.py", "src/discreet/testing.py"])
def test_noise_and_testing_may_know_other_generators(file):
    assert not banned("import random", file)


def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def test_every_module_begins_with_one_line_that_says_what_it_is():
    first = {name(file): (ast.get_docstring(tree_of(file)) or "").partition("\n")[0] for file in SOURCES}
    assert {file: line for file, line in first.items() if not line.endswith((".", "`"))} == {}


def test_everything_public_has_a_docstring():
    files = [file for file in SOURCES if not re.match("_[a-z]", file.name)]
    assert [f"{name(file)}: {node}" for file in files for node in without_docstring(tree_of(file))] == []


def without_docstring(tree):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    public = [
        node
        for parent in ast.walk(tree)
        if isinstance(parent, ast.Module) or (isinstance(parent, ast.ClassDef) and not parent.name.startswith("_"))
        for node in parent.body
        if isinstance(node, kinds) and not node.name.startswith("_") and not is_overload(node)
    ]
    return [node.name for node in public if not ast.get_docstring(node)]


def is_overload(node):
    return any(ast.unparse(decorator).endswith("overload") for decorator in node.decorator_list)


@pytest.mark.parametrize("folder", ["src", "bench", "tools"])
def test_no_file_is_longer_than_a_reader_can_hold(folder):
    long = {name(file) for file in (ROOT / folder).rglob("*.py") if len(file.read_text("utf-8").splitlines()) > 400}
    assert long <= set(LONG)


def pinned():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return {match[1].lower().replace("_", "-") for match in re.finditer(r"^([\w.-]+)==\S+$", text, re.MULTILINE)}


def test_constraints_pin_everything_we_ask_for():
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    wanted += [need for needs in extras.values() for need in needs if not need.startswith("discreet[")]
    assert {re.split(r"[<>=~!\[; ]", need)[0].lower() for need in wanted} <= pinned()


def test_constraints_pin_exactly_and_nothing_but_packages():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.+]+", line) for line in lines)
    assert "discreet" not in pinned()


def test_the_extra_all_is_all_extras_but_torch_which_outweighs_them():
    extras = PROJECT["project"]["optional-dependencies"]
    assert extras["all"] == [f"discreet[{','.join(sorted(set(extras) - {'all', 'torch'}))}]"]


def make(*words):
    # As a person would call it, also when these tests were themselves started by make.
    outer = ("MAKE", "MFLAGS", "PY", "AREA", "CHECK", "PART")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(outer)}
    return subprocess.run(["make", *words], cwd=ROOT, env=environment, capture_output=True, text=True)


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@needs_make
def test_make_alone_lists_every_target():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split())
    shown = {line.split()[1] for line in make().stdout.splitlines()}
    assert shown == targets
    wanted = "demo test check soak install bench docs dist map lint platforms format clean"
    assert targets >= set(wanted.split())


CHECKS = (
    "ruff format --check",
    "ruff check",
    "bin/mypy\n",
    "lint-imports",
    '-m "not slow and not soak"',
    "numeric and",
)
ELSEWHERE = ("--platform win32", "--platform darwin", '-m "slow and not soak"')


@needs_make
def test_make_test_runs_every_check_but_what_is_slow():
    plan = make("-n", "test").stdout
    assert [check for check in CHECKS if check not in plan] == []
    assert [check for check in ELSEWHERE if check in plan] == []


@needs_make
def test_make_check_runs_all_of_make_test_and_what_is_slow_and_other_platforms():
    plan = make("-n", "check").stdout
    assert [check for check in (*CHECKS, *ELSEWHERE) if check not in plan] == []


@needs_make
def test_make_soak_runs_the_long_forms_of_a_part_and_remembers_them():
    assert "-m soak --resume .soak/ledger tests/ledger\n" in make("-n", "soak", "PART=ledger").stdout
    assert "-m soak --resume .soak/all tests\n" in make("-n", "soak").stdout


@needs_make
def test_make_bench_passes_area_and_check():
    assert "-m bench noise --check" in make("-n", "bench", "AREA=noise", "CHECK=1").stdout
    assert "--check" not in make("-n", "bench", "AREA=noise").stdout


@needs_make
def test_another_interpreter_has_an_environment_of_its_own():
    assert ".venv-3.13/bin/pytest" in make("-n", "test", "PY=3.13").stdout


def test_continuous_integration_runs_make_test_and_nothing_else():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "exec make test"]


def test_the_installer_explains_itself_when_python_is_too_old(tmp_path):
    # A folder whose only Pythons are too old; the shell's own tools are found where they always are.
    for word in ("python3", "python3.11"):
        (tmp_path / word).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / word).chmod(0o755)
    ran = subprocess.run(
        ["/bin/sh", ROOT / "tools" / "venv.sh", tmp_path / "venv", "3.11", "demo"],
        env={"PATH": f"{tmp_path}"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert "needs Python 3.11 or newer" in ran.stderr
    assert "Fix:" in ran.stderr
    assert not (tmp_path / "venv").exists()


def test_real_data_is_skipped_with_its_reason_where_it_is_absent(pytestconfig, monkeypatch):
    from tests.conftest import data_folder

    monkeypatch.setenv("DISCREET_DATA", "/nonexistent")
    with pytest.raises(pytest.skip.Exception, match="DISCREET_DATA"):
        data_folder.__wrapped__()
