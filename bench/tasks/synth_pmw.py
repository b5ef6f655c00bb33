"""Tasks of private multiplicative weights: one session on a vault, run once, of which several figures are told."""

from __future__ import annotations

import runpy
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
TABLES = runpy.run_path(str(HERE / "synth_tables.py"))
SEED = 7


def needed(**terms: Any) -> Callable[[], float]:
    """The share of questions that the histogram could not answer."""
    return lambda: _session(**terms)[0]


def worst(**terms: Any) -> Callable[[], float]:
    """The largest error, over alpha times the rows and the printed bound on the noise."""
    return lambda: _session(**terms)[1]


def seconds(**terms: Any) -> Callable[[], float]:
    """CPU seconds from opening the session to its last answer."""
    return lambda: _session(**terms)[2]


@cache
def _session(kind: str, questions: int, epsilon: str, delta: str, alpha: str) -> tuple[float, float, float]:
    import pandas as pd

    from discreet.account.budgets.budget import Budget
    from discreet.core.schema import one_of
    from discreet.core.unit import row
    from discreet.curator.curator import Curator

    sizes, columns = TABLES["table"]("Adult-8")
    asked = [*_asked(kind, questions, sizes)]
    folder = Path(tempfile.mkdtemp())
    try:
        with Curator(folder / "vault.discreet") as curator:
            declared = {name: one_of(*map(str, range(size)), nullable=False) for name, size in sizes.items()}
            rows = pd.DataFrame({name: values.astype(str) for name, values in columns.items()})
            # The account has twice as much: its filter counts at one order, fixed for questions of all kinds.
            budget = Budget(epsilon=2 * float(epsilon), delta=float(delta))
            curator.register("adult", rows, unit=row(), columns=declared, budget=budget)
            token = curator.grant("analyst", "adult")
            start = time.process_time()
            session = curator.session(
                token, pmw=True, epsilon=float(epsilon), delta=float(delta), alpha=float(alpha), questions=questions
            )
            told = [session.answer({name: [*map(str, codes)] for name, codes in where.items()}) for where in asked]
            taken = time.process_time() - start
            errors = [abs(found.value - _exact(columns, where)) for found, where in zip(told, asked, strict=True)]
            bound = max(found.error or 0.0 for found in told)
            return session.updates / questions, max(errors) / bound, taken
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _asked(kind: str, questions: int, sizes: dict[str, int]) -> Iterator[dict[str, list[int]]]:
    """Random questions about three columns, the same each time."""
    generator = np.random.default_rng(SEED)  # noqa: TID251  (what is asked is no secret)
    for _ in range(questions):
        names = generator.choice([*sizes], 3, replace=False).tolist()
        if kind == "cells":
            yield {name: [int(generator.integers(sizes[name]))] for name in names}
        else:
            yield {name: np.flatnonzero(generator.random(sizes[name]) < 0.5).tolist() or [0] for name in names}


def _exact(columns: Any, where: dict[str, list[int]]) -> int:
    return int(np.logical_and.reduce([np.isin(columns[name], codes) for name, codes in where.items()]).sum())
