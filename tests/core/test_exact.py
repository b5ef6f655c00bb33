"""Exact values: nothing can be done with one but to hand it on, and only the listed doors open it."""

import ast
import copy
import json
import operator
import pickle
import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.core.doors import kernel, opened
from discreet.core.exact import Closed, Exact, together

SOURCE = Path(discreet.__file__).parent

# Every module that sees inside an exact value, with the kind of its door and the reason.
DOORS: dict[str, tuple[str, str]] = {
    "lab/audits/release/listener.py": (
        "custodian",
        "the lab keeps what a release of made-up rows hands to its mechanisms",
    ),
    "lab/audits/screening.py": ("custodian", "the lab tries out which of its made-up rows count"),
    "lab/audits/tape.py": ("custodian", "the lab keeps what a program on made-up rows hands to a mechanism"),
    "measures/request.py": ("kernel", "cuts tables of tallies to the shape that a mechanism takes"),
    "mechanisms/above_threshold.py": ("choice", "compares noisy answers with a noisy threshold, and says where"),
    "mechanisms/clipped_sum.py": ("noise", "adds the noise of a clipped vector to each coordinate"),
    "mechanisms/contribution_bound.py": ("choice", "draws a number of rows near an order statistic"),
    "mechanisms/counter.py": ("noise", "adds the noise of its blocks to each total"),
    "mechanisms/gaussian.py": ("noise", "adds discrete Gaussian noise"),
    "mechanisms/key_selection.py": ("choice", "keeps keys by the chance that their people give them"),
    "mechanisms/laplace.py": ("noise", "adds discrete Laplace noise"),
    "mechanisms/parts/correlated_noise.py": ("noise", "adds Gaussian noise of a given covariance"),
    "mechanisms/parts/refinement.py": ("choice", "draws quantiles from counts of cells"),
    "mechanisms/parts/selection.py": ("choice", "draws a candidate by its score"),
    "mechanisms/parts/statistic.py": ("noise", "adds noise to the integers of counts, sums, means and their like"),
    "mechanisms/parts/threshold.py": ("choice", "says whether a noisy answer reaches a noisy threshold"),
    "mechanisms/quantile.py": ("choice", "draws quantiles of values"),
    "mechanisms/sparse_vector.py": ("noise", "answers above the threshold get noise of their own"),
    "mechanisms/top_k.py": ("choice", "draws the most frequent keys"),
    "plan/gradients/person_gradients.py": ("kernel", "clips what a model gets wrong about each person, and adds it up"),
    "plan/person_sums.py": ("kernel", "clips what a function makes of each person's rows, and adds it up"),
    "plan/to_sql/tally_tables.py": ("kernel", "takes the one number of a table"),
    "publish/kernels.py": ("kernel", "marginals as tables, groups, scores and features"),
    "publish/quality.py": ("custodian", "compares synthetic data with the table that its caller has, and says so"),
}

# Every function from an exact value to an exact value, and how far it carries what one row can do.
KERNELS: dict[str, str] = {
    "measures/request.py:picked": "columns of a table: each integer as it was",
    "measures/request.py:from_tallies": "the integers of a statistic, which knows how far its tallies move them",
    "measures/request.py:by_group": "counts of bins: each integer as it was",
    "measures/request.py:end_to_end": "counts of bins: each integer as it was",
    "measures/request.py:in_cells": "counts of cells that share no value: a row moves one of them by 1",
    "measures/request.py:of_group": "the counts of one group: each integer as it was",
    "plan/gradients/person_gradients.py:design_rows": "the rows of a batch, each as a model sees it",
    "plan/gradients/person_gradients.py:gradient_sum": "a person moves it by the bound that clips them there",
    "plan/gradients/person_gradients.py:people_count": "a person moves it by one",
    "plan/person_sums.py:added": "sums over different people: a person is in one of them",
    "plan/person_sums.py:clipped_sum": "a person moves it by the bound, by which their part is clipped there",
    "plan/to_sql/tally_tables.py:single": "the same number",
    "publish/kernels.py:database_scores": "a row moves each score by the rows of a small database",
    "publish/kernels.py:distance": "a row moves it by FINE",
    "publish/kernels.py:feature_sums": "a row moves each feature by a point of the circle, and the count by one",
    "publish/kernels.py:filled": "the same numbers, and zeros",
    "publish/kernels.py:gap": "a row moves it by one",
    "publish/kernels.py:grouped": "a row moves one cell by one",
    "publish/kernels.py:listed": "the same numbers",
    "publish/kernels.py:number": "the same number",
    "publish/kernels.py:total": "a row moves it by one",
    "publish/kernels.py:weighed": "scores that move by a whole number at most stay so",
    "publish/kernels.py:weighted_features": "the same sums, and counts times a weight",
    "publish/kernels.py:wrong": "a row moves each score by FINE times its weight",
}

# Every function that sees bounded rows (a `PersonFunction`), and why what it says of a person is about them alone.
PERSON_FUNCTIONS: dict[str, str] = {}

# Every module, but for the engines themselves, that takes rows out of a source; and what becomes of them.
BORDER = {
    "ask/runner.py": "returned as exact",
    "ask/steps/public_answer.py": "rows of public tables, which are nobody's",
    "cli/shared/typed_table.py": "the caller's own file, outside any vault",
    "curator/erasure.py": "how many rows were erased, for the custodian, who owns them",
    "curator/identifier_sketch.py": "keyed hashes, which stay in the vault",
    "curator/links.py": "how many keys occur twice, for the custodian, who owns the rows",
    "curator/schemas/inference.py": "rows of public tables, which are nobody's",
    "curator/lint.py": "for the custodian, who owns the rows",
    "curator/quasi_identifiers.py": "for the custodian, who owns the rows",
    "curator/spelling.py": "for the custodian, who owns the rows",
    "lab/rand.py": "a public table",
    "lab/table_copy.py": "a copy for the lab, whose owner has the rows",
    "plan/batches.py": "bounded rows as codes, returned as exact",
    "plan/to_sql/cells.py": "returned as exact",
    "plan/to_sql/key_counts.py": "returned as exact",
    "plan/to_sql/marginals.py": "returned as exact",
    "plan/to_sql/tally_tables.py": "returned as exact",
}

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
    np.asarray,
    sum,
    max,
    lambda exact: exact.__getstate__(),
    lambda exact: vars(exact),
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


@kernel
def times(inside, public):
    return inside * public


def test_a_kernel_makes_another_exact_value():
    doubled = Exact(3).map(times, 2)
    assert isinstance(doubled, Exact)
    assert opened(doubled) == 6


def test_several_exact_values_are_put_together_unseen():
    both = together([Exact(3), Exact(4)])
    assert isinstance(both, Exact)
    assert opened(both) == [3, 4]


def test_doors_take_plain_values_too():
    assert opened(3) == 3


@cache
def texts():
    return {file.relative_to(SOURCE).as_posix(): file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}


def trees(word):
    """Yield the modules in which a word stands; others are not worth parsing."""
    for name, text in texts().items():
        if re.search(word, text):
            yield name, ast.parse(text)


def sees_inside(tree):
    """Return whether a module imports what opens exact values, or what makes kernels of functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            if node.module == "discreet.core.doors" or (node.module == "discreet.core" and "doors" in names):
                return True
            if node.module == "discreet.core.exact" and "Kernel" in names:
                return True
        elif isinstance(node, ast.Import) and any(alias.name.startswith("discreet.core") for alias in node.names):
            return True
    return False


def test_only_the_listed_doors_see_exact_values():
    found = {name for name, tree in trees(r"discreet\.core\b") if sees_inside(tree)} - {"core/doors.py"}
    assert found == set(DOORS)
    assert all(kind in ("noise", "choice", "kernel", "invariant", "custodian") and why for kind, why in DOORS.values())


def test_the_import_contract_lists_the_same_doors():
    settings = tomllib.loads((SOURCE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each.get("protected_modules") == ["discreet.core.doors"]
    ]
    modules = {"discreet." + name.removesuffix(".py").replace("/", ".") for name in DOORS}
    assert set(contract["allowed_importers"]) == modules


def kernels_in(tree):
    """Yield the names of a module's kernels; a kernel that is no decorated function of the module has no name."""
    decorated = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for each in node.decorator_list:
                if isinstance(each, ast.Name) and each.id == "kernel":
                    decorated.add(each)
                    yield node.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "kernel" and node not in decorated:
            yield "<no name>"


def test_every_kernel_is_listed():
    doors = [(name, tree) for name, tree in trees("kernel") if name in DOORS]
    found = [f"{name}:{function}" for name, tree in doors for function in kernels_in(tree)]
    assert sorted(found) == sorted(KERNELS)
    assert all(KERNELS.values())


def test_a_door_of_kernels_opens_nothing_else():
    for name, tree in trees("kernel"):
        if DOORS.get(name, ("",))[0] == "kernel":
            assert not any(isinstance(node, ast.Name) and node.id == "opened" for node in ast.walk(tree)), name


def person_functions_in(tree):
    """Yield the functions of a module that are let see batches; one that is no decorated function has no name."""
    named = {
        each: node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for each in node.decorator_list
        if isinstance(each, ast.Name) and each.id == "person_function"
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and node.id in ("person_function", "PersonFunction")
            and isinstance(node.ctx, ast.Load)
        ):
            yield named.get(node, "<no name>")


def test_every_function_that_sees_rows_is_listed():
    apart = "plan/person_sums.py"  # which makes them
    modules = [(name, tree) for name, tree in trees("person_function|PersonFunction") if name != apart]
    found = [f"{name}:{function}" for name, tree in modules for function in person_functions_in(tree)]
    assert sorted(found) == sorted(PERSON_FUNCTIONS)
    assert all(PERSON_FUNCTIONS.values())


def test_an_unlisted_function_that_sees_rows_is_found():
    assert [*person_functions_in(ast.parse("@person_function\ndef f(batch): ...\nseen = person_function(print)"))] == [
        "f",
        "<no name>",
    ]


def test_nobody_reaches_inside_by_its_slot():
    touching = {name for name, text in texts().items() if "_hidden_exact" in text}
    assert touching == {"core/exact.py", "core/doors.py"}


READS = {("rows", "engine"), ("batches", "engine")}


def reads_rows(tree):
    """Return whether a module takes rows out of an engine, or out of a connection."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = node.func.value
            name = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
            if node.func.attr in ("fetchone", "fetchall", "fetchnumpy") or (node.func.attr, name) in READS:
                return True
    return False


def test_only_the_listed_modules_take_rows_out_of_an_engine():
    aside = ("engines/", "ledger/", "serve/", "local/")  # the engines, and stores of another kind
    found = {
        name for name, tree in trees(r"\.rows\(|\.batches\(|\.fetch") if reads_rows(tree) and not name.startswith(aside)
    }
    assert found == set(BORDER)
    assert all(BORDER.values())
