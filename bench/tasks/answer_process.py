"""Tasks of answers: a new process that asks a vault once, or scans the same file with DuckDB alone; and one process
that asks again what was answered, or for previews of questions at prices of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.ask.report import Report

# So many are asked for in one timed call.
ASKED = 100

_ASK = """
import discreet as dp
session = dp.connect("vault.discreet", {token!r})
rand = session.table("rand")
print(rand.group_by("health").agg(n=dp.count(), spending=dp.mean("spending")).release(epsilon=0.5, fresh=True))
"""
_SCAN = """
import duckdb
print(duckdb.sql("SELECT health, count(*), avg(spending) FROM 'rand.parquet' GROUP BY ALL ORDER BY ALL").fetchall())
"""


def ask() -> Callable[[], object]:
    """One grouped count and mean of the RAND table, from the start of the interpreter to the printed answer."""
    folder = _folder()
    return _process(folder, _ASK.format(token=_vault(folder, delta=None)))


def replayed() -> Callable[[], object]:
    """The settled answer to a grouped count and mean, asked for again in one process."""
    report = _report()
    report.release(epsilon=Fraction(1, 2))

    def call() -> None:
        for _ in range(ASKED):
            report.release(epsilon=Fraction(1, 2))

    return call


def previewed() -> Callable[[], object]:
    """Previews of a grouped count and mean, the same again, in one process."""
    report = _report()

    def call() -> None:
        for _ in range(ASKED):
            report.preview(epsilon=Fraction(1, 2))

    return call


def repriced() -> Callable[[], object]:
    """Previews of a grouped count and mean, each at another price, in one process."""
    report, numbers = _report(), count(1)

    def call() -> None:
        for _ in range(ASKED):
            report.preview(epsilon=Fraction(1, 2) + Fraction(next(numbers), 10**6))

    return call


def _report() -> Report:
    """Return a grouped count and mean, under a budget with a delta and a cap."""
    import discreet as dp

    folder = _folder()
    session = dp.connect(folder / "vault.discreet", _vault(folder, delta=1e-6))
    return session.table("rand").group_by("health").agg(n=dp.count(), spending=dp.mean("spending"))


def _vault(folder: Path, delta: float | None) -> str:
    """Make a vault with the RAND table, and return a token."""
    import discreet as dp
    from discreet.lab import rand

    budget = dp.Budget(epsilon=10_000) if delta is None else dp.Budget(epsilon=100, delta=delta)
    with dp.Curator(folder / "vault.discreet") as curator:
        curator.register(
            "rand",
            folder / "rand.parquet",
            unit=rand.unit(),
            columns=rand.columns(),
            rows=rand.ROWS,
            budget=budget,
        )
        return curator.grant("bench", "rand", budget=None if delta is None else budget)


def scan() -> Callable[[], object]:
    """The same figures, exact and without any protection."""
    return _process(_folder(), _SCAN)


def _folder() -> Path:
    """Return a new folder with the table in it; the system clears it away."""
    from discreet.lab import rand

    folder = Path(tempfile.mkdtemp(prefix="discreet-bench-"))
    shutil.copy(rand.path(), folder / "rand.parquet")
    return folder


def _process(folder: Path, code: str) -> Callable[[], object]:
    # As installed: modules are compiled once, and not at every start.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]

    def call() -> None:
        subprocess.run(command, check=True, cwd=folder, env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    return call
