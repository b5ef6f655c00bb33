"""The layers: stacked as designed, held by the linter, and a planted violation is found."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "discreet"
STACK = [
    {"cli"},
    {"serve"},
    {"lab"},
    {"curator"},
    {"ask"},
    {"ledger"},
    {"publish"},
    {"learn", "local", "games", "stats"},
    {"measures"},
    {"answers"},
    {"mechanisms"},
    {"plan"},
    {"engines"},
    {"account"},
    {"noise"},
    {"core"},
]


def contracts():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]["contracts"]


def test_the_contract_stacks_the_layers_as_designed():
    layers = next(contract["layers"] for contract in contracts() if contract["type"] == "layers")
    assert [{name.strip(" ()") for name in layer.split("|")} for layer in layers] == STACK


def test_the_design_page_names_every_layer():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    named = iter([word.strip(" `") for row in rows for word in row.split("|")[1].split(",")])
    # Packages of one layer may stand in several rows.
    assert [{next(named, "nothing") for _ in layer} for layer in STACK] == STACK
    assert [*named] == []


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, to plant violations in."""
    shutil.copytree(SOURCE, tmp_path / "src" / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder):
    linter = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run([linter, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("noise/planted.py", "import discreet.cli.main", "Layers"),
        ("core/planted.py", "def late():\n    import discreet.noise", "Layers"),
        ("cli/planted.py", "import discreet.testing", "Testing"),
        ("core/planted.py", "import numpy", "standard library alone"),
        ("answers/planted.py", "import discreet.engines.engine", "post-processing"),
        ("answers/planted.py", "def late():\n    import discreet.plan.nodes", "post-processing"),
        ("newcomer/__init__.py", "", "Layers"),
    ],
)
def test_a_planted_violation_is_found(copy, file, line, broken):
    planted = copy / "src" / "discreet" / file
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f'"""Planted."""\n\n{line}\n')
    ran = lint(copy)
    assert ran.returncode != 0
    assert broken in ran.stdout + ran.stderr


def test_a_planted_cycle_is_found(copy):
    for name, other in (("one", "two"), ("two", "one")):
        (copy / "src" / "discreet" / "core" / f"{name}.py").write_text(
            f"def late():\n    import discreet.core.{other}\n"
        )
    ran = lint(copy)
    assert ran.returncode != 0
    assert "No cycles, at any depth BROKEN" in ran.stdout


def test_importing_every_production_module_does_not_load_testing():
    script = """
import importlib, json, pkgutil, sys, discreet
names = [module.name for module in pkgutil.walk_packages(discreet.__path__, "discreet.")]
for name in names:
    if name not in ("discreet.testing", "discreet.__main__"):
        importlib.import_module(name)
print(json.dumps(["discreet.testing" in names, "discreet.testing" in sys.modules, len(names)]))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    exists, loaded, count = json.loads(ran.stdout)
    assert exists
    assert not loaded
    assert count > 10


def test_the_picture_of_the_packages_is_current(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import map as drawing

    drawn = drawing.draw(drawing.packages())
    assert drawing.PICTURE.read_text(encoding="utf-8") == drawn, "run `make map`"
