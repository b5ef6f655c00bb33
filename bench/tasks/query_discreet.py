"""Tasks of query for Discreet: what an analyst waits for: charge, engine, noise and settled answer of one release."""

from __future__ import annotations

import resource
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import discreet as dp

# Of the coarse median: the candidates among which OpenDP chooses, so that both answer about the same grid.
GRID = 1000
AGGREGATES: dict[str, Callable[[], dict[str, Any]]] = {
    "count": lambda: {"n": dp.count()},
    "sum": lambda: {"total": dp.sum("income")},
    "mean": lambda: {"mean": dp.mean("income")},
    "count and sum": lambda: {"n": dp.count(), "total": dp.sum("income")},
    "count by two": lambda: {"n": dp.count()},
    "median": lambda: {"median": dp.median("income")},
    "median, coarse": lambda: {"median": dp.median("income")},
}
KEYS = {"count by two": ("region", "category")}


def columns(question: str) -> dict[str, dp.Column]:
    """The declaration of the table; the coarse median is asked about a grid of thousands."""
    return {
        "region": dp.one_of(*(f"R{number:02d}" for number in range(50))),
        "category": dp.one_of(*(f"C{number:02d}" for number in range(20))),
        "age": dp.between(18, 90),
        "income": dp.between(0, 200_000, step=GRID if question == "median, coarse" else 1),
    }


def ask(
    question: str,
    path: str,
    rows: int,
    people: int,
    max_rows: int | None = None,
    max_groups: int | None = None,
    bound: str = "query",
) -> Callable[[], object]:
    """A question of a session, paid for again at every call; with bound="table" the kept rows are cached in advance."""
    made = runpy.run_path(str(Path(__file__).with_name("query_table.py")))["path"]
    call = released(question, made(rows, people, Path(path)), rows, unit_of(max_rows, max_groups, bound))
    if bound == "table":
        call()
    return call


def unit_of(max_rows: int | None, max_groups: int | None, bound: str = "query") -> dp.Unit:
    """Single rows, or people."""
    if max_rows is None:
        return dp.row()
    return dp.Unit("user_id", max_rows, max_groups or max_rows, bound=bound)  # type: ignore[arg-type]


def released(question: str, path: Path, rows: int, unit: dp.Unit) -> Callable[[], object]:
    """The question about a file, in a vault of its own that is gone when nobody can ask any more."""
    folder = tempfile.TemporaryDirectory(prefix="discreet-bench-")
    curator = dp.Curator(Path(folder.name) / "vault.discreet")
    budget = dp.Budget(rho=1_000_000)
    curator.register("people", path, unit=unit, columns=columns(question), rows=rows, budget=budget)
    session = curator.session(curator.grant("analyst", "people"))
    asked = session.table("people").group_by(*KEYS.get(question, ("region",))).agg(**AGGREGATES[question]())

    def call(kept: object = (folder, curator, session)) -> object:
        return asked.release(epsilon=1, fresh=True), kept

    return call


def peak(**arguments: Any) -> Callable[[], float]:
    """The most memory a process had that asked the question."""
    call = ask(**arguments)

    def measured() -> float:
        call()
        return _most_memory()

    return measured


def large(question: str, rows: int, people: int, **unit: Any) -> Callable[[], float]:
    """The most memory of a process that asked about a table which DuckDB has just made and which is removed again."""
    folder = tempfile.TemporaryDirectory(prefix="discreet-bench-large-")
    path = Path(folder.name) / "people.parquet"
    # By another process, whose memory is not ours.
    script = Path(__file__).with_name("query_table.py")
    subprocess.run([sys.executable, script, str(rows), str(people), str(path)], check=True, stdin=subprocess.DEVNULL)
    call = released(question, path, rows, unit_of(unit.get("max_rows"), unit.get("max_groups")))

    def measured() -> float:
        with folder:
            call()
        return _most_memory()

    return measured


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
