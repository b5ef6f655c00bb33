"""Tasks of query for Discreet: the exact integers of a question, from a file to Python.

`release` is the one place that knows how a question is asked.
"""

from __future__ import annotations

import resource
import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import discreet as dp
from discreet.data.duckdb import Engine
from discreet.data.ranks import Ranks
from discreet.plan.cells import cells
from discreet.plan.dialect import DUCKDB
from discreet.plan.expressions import Name
from discreet.plan.keys import keys_of
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.relation import Relation
from discreet.plan.rows_sql import scan_sql
from discreet.plan.tallies import Question, Tally
from discreet.plan.to_sql import in_order, tallies_sql

SECRET = b"of a vault that is only measured"
COLUMNS = {
    "region": dp.one_of(*(f"R{number:02d}" for number in range(50))),
    "category": dp.one_of(*(f"C{number:02d}" for number in range(20))),
    "age": dp.between(18, 90),
    "income": dp.between(0, 200_000),
}
PHYSICAL = {"user_id": "BIGINT", "region": "VARCHAR", "category": "VARCHAR", "age": "INTEGER", "income": "DOUBLE"}
INCOME = Name("income")
TALLIES = {
    "count": (Tally("rows"),),
    "sum": (Tally("sum", (INCOME,)), Tally("present", (INCOME,))),
    "mean": (Tally("sum", (INCOME,)), Tally("present", (INCOME,))),
    "count and sum": (Tally("rows"), Tally("sum", (INCOME,))),
    "count by two": (Tally("rows"),),
}
KEYS = {"count by two": ("region", "category")}


def made(path: str, rows: int, people: int) -> str:
    """The path of the table, which is made on first use."""
    return str(runpy.run_path(str(Path(__file__).with_name("query_table.py")))["path"](rows, people, Path(path)))


def unit_of(max_rows: int | None, max_groups: int | None, bound: str) -> dp.Unit:
    """Single rows, or people."""
    if max_rows is None:
        return dp.row()
    return dp.Unit("user_id", max_rows, max_groups or max_rows, bound=bound)  # type: ignore[arg-type]


def release(engine: Engine, question: str, relations: dict[str, Relation]) -> object:
    """Ask one question: tallies in one scan, a median by refining cells."""
    tables = {name: relation.table for name, relation in relations.items()}
    keys = keys_of(KEYS.get(question, ("region",)), columns_of(Scan("people"), tables))
    if question == "median":
        return _median(engine, relations, keys)
    asked = Question(Scan("people"), keys, TALLIES[question])
    return in_order(engine.rows(tallies_sql(asked, relations).sql), asked)


def _median(engine: Engine, relations: dict[str, Relation], keys: Any) -> list[float]:
    """The mechanism itself with a large epsilon, through the passes that it asks for."""
    from discreet.mechanisms import Quantile

    median = Quantile(q=0.5, low=0, high=200_000, step=1, epsilon=1)
    with cells(engine, Scan("people"), keys, INCOME, relations) as counts:
        return [float(each) for each in median.search(counts, keys.size).ravel()]  # type: ignore[arg-type]


def ask(
    question: str,
    path: str,
    rows: int,
    people: int,
    max_rows: int | None = None,
    max_groups: int | None = None,
    bound: str = "query",
) -> Callable[[], object]:
    """The question, from a file to its integers; with bound="table" the kept rows are cached beforehand."""
    engine = Engine(SECRET)
    engine.__enter__()
    table = dp.Table("people", unit_of(max_rows, max_groups, bound), COLUMNS)
    relation = Relation(table, PHYSICAL, f"read_parquet('{made(path, rows, people)}')")
    if bound == "table":
        ranks = Ranks(Path(tempfile.mkdtemp(prefix="discreet-bench-")), SECRET)
        kept = ranks.kept(engine, "people", 1, table.to_json(), scan_sql(relation, DUCKDB))
        relation = Relation(table, PHYSICAL, kept, kept=True)
    return lambda: release(engine, question, {"people": relation})


def peak(**arguments: Any) -> Callable[[], float]:
    """The most memory a process had that asked the question."""
    call = ask(**arguments)

    def measured() -> float:
        call()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return measured
