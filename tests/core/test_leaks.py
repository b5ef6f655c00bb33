"""Changes that pass exact values on are refused: by the token itself when they run, by types before they run."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

import discreet as dp
from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.account.budgets.price import Price
from discreet.core.exact import Exact
from discreet.mechanisms.contribution_bound import ContributionBound
from discreet.mechanisms.count import Count
from discreet.mechanisms.key_selection import KeySelection
from discreet.publish.allowance import Allowance, Spending
from tests.core.leaks import LEAKS, SOURCE
from tests.measures.made import reach

# All are loaded before anything is planted: a module that is first loaded meanwhile would keep the planted code.
for each in ("measures", "mechanisms", "mechanisms.parts", "publish", "publish.methods", "publish.model", "ask"):
    package = import_module(f"discreet.{each}")
    for found in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{found.name}")

DOMAIN = {"a": 2, "b": 2}
ROWS = {"a": np.array([0, 0, 1, 1, 1, 0] * 50), "b": np.array([0, 0, 1, 1, 0, 0] * 50)}
BUDGET = Budget(epsilon=50)


AGGREGATES = {
    "count": ("count", dp.count()),
    "histogram": ("histogram", dp.histogram("ward")),
    "top_k": ("top_k", dp.top_k("ward", 1)),
    "median": ("quantile", dp.median("n")),
}


def shown(what):
    """Run what a change is planted in: an aggregate, a method of synthetic data, or a session of many counts."""
    if what in AGGREGATES:
        module, aggregate = AGGREGATES[what]
        made = import_module(f"discreet.measures.{module}").measure("value", aggregate, Price.of(epsilon=1), reach())
        counted = lambda requests: Exact([{0: 5} for _ in requests])  # noqa: E731
        return made.noisy(counted if what == "median" else Exact([(3,), (2,)]), 1, "mark")
    if what != "pmw":
        return publish.synthesize(ROWS, DOMAIN, budget=BUDGET, method=what, workload=2)
    weighing = import_module("discreet.publish.pmw_session").weigh(ROWS, DOMAIN, budget=BUDGET, alpha=0.01)
    return [weighing.answer({"a": a, "b": b}) for a in (0, 1) for b in (0, 1)]


@pytest.mark.parametrize("what", sorted({leak.shown for leak in LEAKS if leak.shown} - {"merf"}))  # which takes long
def test_what_leaks_are_planted_in_runs_without_them(what):
    assert shown(what)


@pytest.mark.parametrize("leak", [leak for leak in LEAKS if leak.shown], ids=lambda leak: leak.name)
def test_a_planted_leak_fails_when_it_runs(leak, monkeypatch):
    leak.plant(monkeypatch)
    with pytest.raises((TypeError, AttributeError)) as failed:
        shown(leak.shown)
    assert "xact" in str(failed.value)


def test_what_a_mechanism_answers_is_no_exact_value():
    answers = [
        Count(epsilon=1).measured(Exact([3])).values,
        KeySelection(epsilon=1, delta=0.01).release(Exact({"A": 10**6})),
        ContributionBound(epsilon=1, most=6).release(Exact({1: 100})),
        Spending(Allowance.of(BUDGET)).measure((0,), Exact(np.zeros(3, np.int64)), BUDGET.epsilon / 2).values,
    ]
    assert not any(isinstance(each, Exact) for each in answers)


@pytest.mark.soak
def test_types_refuse_every_planted_leak(tmp_path):
    copy = tmp_path / "src" / "discreet"
    shutil.copytree(SOURCE, copy)
    files = {}
    for leak in LEAKS:
        text = files.get(leak.file) or (SOURCE / leak.file).read_text(encoding="utf-8")
        assert text.count(leak.old) == 1
        text = text.replace(leak.old, leak.new.replace("\n", " "))
        if leak.imports and leak.imports not in text:
            text = text.replace("\nfrom discreet.", f"\n{leak.imports}\nfrom discreet.", 1)
        files[leak.file] = text
    for file, text in files.items():
        (copy / file).write_text(text, encoding="utf-8")
    config = SOURCE.parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", str(tmp_path / "cache")]
    command += [f"discreet/{file}" for file in files]
    ran = subprocess.run(command, cwd=copy.parent, capture_output=True, text=True, check=False)
    errors = re.findall(r"^discreet/(\S+\.py):(\d+): error", ran.stdout, re.MULTILINE)
    for leak in LEAKS:
        first = files[leak.file].splitlines()
        here = next(number for number, line in enumerate(first, 1) if leak.new.splitlines()[0] in line)
        # There, or where what was passed on is used.
        assert any(file == leak.file and here <= int(line) < here + 10 for file, line in errors), leak.name
