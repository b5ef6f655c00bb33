"""Seeds are for tests: nothing that ships can reach them."""

import ast
import inspect
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import discreet
from discreet import noise
from discreet.testing import fit, same, seeded

SOURCES = sorted(Path(discreet.__file__).parent.rglob("*.py"))


def test_no_module_that_ships_names_the_testing_module_or_the_slot_it_fills():
    for path in SOURCES:
        if path.name == "testing.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        imports = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        imports |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        strings = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == "discreet.testing"
        }
        assert not {name for name in imports if name.startswith("discreet.testing")}, path
        assert not strings, path
        if path.parts[-2:] != ("noise", "bits.py"):
            assert "_threads" not in names, path


def test_importing_everything_that_ships_does_not_load_the_testing_module():
    modules = [
        ".".join(("discreet", *path.relative_to(SOURCES[0].parent).with_suffix("").parts)).removesuffix(".__init__")
        for path in SOURCES
        if path.name not in ("testing.py", "__main__.py")
    ]
    load = f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
    code = load + "print('discreet.testing' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


@pytest.mark.parametrize("name", noise.__all__)
def test_no_sampler_takes_a_seed_or_a_source(name):
    parameters = set(inspect.signature(getattr(noise, name)).parameters)
    assert parameters <= {"scale", "sigma", "n", "p", "x", "size"}


def test_no_environment_variable_reaches_the_stream():
    code = "from discreet import noise; print([noise.uniform(2**64) for _ in range(4)])"
    environment = {"DISCREET_SEED": "1", "PYTHONHASHSEED": "0", "SEED": "1"}
    runs = {subprocess.check_output([sys.executable, "-c", code], env=environment) for _ in range(2)}
    assert len(runs) == 2


def test_a_seed_holds_for_its_own_thread_only():
    drawn = []
    with seeded(1):
        for _ in range(2):
            thread = threading.Thread(target=lambda: drawn.append(noise.uniform(2**64)))
            thread.start()
            thread.join()
    assert drawn[0] != drawn[1]


def test_fit_knows_right_counts_from_wrong_ones():
    assert fit([5000, 5000], [0.5, 0.5]) == 1
    assert fit([5600, 4400], [0.5, 0.5]) < 1e-6
    assert fit([10, 1], [1.0, 0.0]) == 0
    # cells too small for the limit law are pooled, and the pool still counts
    assert fit([9000, 500, *[1] * 500], [0.95, *[0.05 / 501] * 501]) < 1e-6
    assert same([500, 500], [5000, 5000]) > 0.9
    assert same([600, 400], [5000, 5000]) < 1e-6


def test_the_same_seed_draws_the_same_whatever_was_drawn_before():
    def drawn():
        with seeded(7):
            return [noise.laplace(2) for _ in range(20)]

    first = drawn()
    noise.laplace(2, size=100_000)  # makes the table of that scale, from which values are drawn otherwise
    assert drawn() == first
