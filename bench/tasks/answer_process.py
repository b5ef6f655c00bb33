"""Tasks of the first answer: a new process that asks a vault once, or scans the same file with DuckDB alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

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
    import discreet as dp
    from discreet.lab import rand

    folder = _folder()
    with dp.Curator(folder / "vault.discreet") as curator:
        curator.register(
            "rand",
            folder / "rand.parquet",
            unit=rand.unit(),
            columns=rand.columns(),
            rows=rand.ROWS,
            budget=dp.Budget(epsilon=10_000),
        )
        token = curator.grant("bench", "rand")
    return _process(folder, _ASK.format(token=token))


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
