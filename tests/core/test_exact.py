"""Exact values: nothing can be done with one but to hand it on, and only the listed doors open it."""

import ast
import copy
import json
import operator
import pickle
from pathlib import Path

import pytest

import discreet
from discreet.core.exact import Closed, Exact, Kernel, opened

SOURCE = Path(discreet.__file__).parent

# Every module that opens an exact value or declares a kernel, with the kind of its door and the reason.
DOORS: dict[str, tuple[str, str]] = {}

LOOKS = [
    bool,
    int,
    float,
    list,
    len,
    abs,
    hash,
    round,
    copy.copy,
    copy.deepcopy,
    pickle.dumps,
    json.dumps,
    format,
    operator.index,
    operator.neg,
    reversed,
    lambda exact: exact == 3,
    lambda exact: exact < 3,
    lambda exact: exact + 1,
    lambda exact: 1 + exact,
    lambda exact: exact * 2,
    lambda exact: exact[0],
    lambda exact: 3 in exact,
    lambda exact: f"{exact:d}",
    lambda exact: setattr(exact, "_hidden_exact", 4),
    lambda exact: exact.map(lambda inside: inside),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("inside", [3, [3]])
def test_nothing_looks_inside(look, inside):
    with pytest.raises(TypeError):
        look(Exact(inside))


def test_its_text_does_not_tell_what_is_inside():
    assert repr(Exact(31337)) == str(Exact(31337)) == "Exact(hidden)"
    assert "31337" not in f"{[Exact(31337)]}"


def test_its_error_does_not_tell_what_is_inside():
    with pytest.raises(Closed) as refused:
        Exact(31337) + 1
    assert "31337" not in str(refused.value)


def test_a_kernel_makes_another_exact_value():
    doubled = Exact(3).map(Kernel(lambda inside: 2 * inside))
    assert isinstance(doubled, Exact)
    assert opened(doubled) == 6


def test_doors_take_plain_values_too():
    assert opened(3) == 3


def doors_in(file):
    """Return whether a module imports what opens exact values."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "discreet.core.exact"
        and {"opened", "Kernel"} & {alias.name for alias in node.names}
        for node in ast.walk(tree)
    )


def test_only_the_listed_doors_open_exact_values():
    found = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if doors_in(file)}
    assert found == set(DOORS)
    assert all(kind in ("noise", "choice", "kernel", "invariant", "custodian") and why for kind, why in DOORS.values())


def test_nobody_reaches_inside_by_its_slot():
    touching = [
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if file.name != "exact.py" and "_hidden_exact" in file.read_text(encoding="utf-8")
    ]
    assert touching == []
