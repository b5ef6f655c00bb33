"""Tasks of TPC-H for Discreet: a vault over the eight tables, and the queries as they stand."""

from __future__ import annotations

import runpy
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import discreet as dp
from discreet.answers.select_clauses import arranged
from discreet.ask.programme import Programme
from discreet.ask.sql import spoken
from discreet.core.value import replace
from discreet.curator.tables import Tables
from discreet.noise.draws import Draws, new_key

PRICE = {"epsilon": 1, "delta": 1e-9}
EXACT, RUNS = 10**9, 100


def _sibling(name: str) -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).with_name(f"{name}.py")))


@cache
def _queries() -> dict[int, str]:
    found: dict[int, str] = _sibling("tpch_queries")["QUERIES"]
    return found


@cache
def _opened(folder: str, scale: float) -> Any:
    """A session on a vault of its own, registered in one call; it is gone at the end of the process."""
    place = tempfile.TemporaryDirectory(prefix="discreet-bench-")
    curator = dp.Curator(Path(place.name) / "vault.discreet")
    # Made-up people are compared with nobody: that is for custodians who have other accounts, and takes longest.
    curator._tables = Tables(curator.ledger, sketch=lambda *_: None)  # noqa: SLF001
    terms = _sibling("tpch_schema")
    curator.schema(**terms["schema"](Path(folder), scale), budget=dp.Budget(epsilon=10**12, delta=0.5))
    session = curator.session(curator.grant("analyst", terms["TABLES"]))
    return session, place


def registered(folder: str, scale: float) -> Callable[[], float]:
    """The bytes of a vault over all eight tables; these have to be there only when it is called."""
    return lambda: float(sum(file.stat().st_size for file in Path(_opened(folder, scale)[1].name).rglob("*")))


def ask(number: int, folder: str, scale: float, *, cold: bool) -> Callable[[], object]:
    """A query as it stands, paid for at every call; a cold one opens an engine that remembers nothing."""
    session, _ = _opened(folder, scale)

    def call() -> object:
        if cold:
            session.desk.rest()
        return session.sql(_queries()[number], **PRICE, fresh=True)

    return call


def refused(folder: str, scale: float) -> Callable[[], float]:
    """The share of the 22 queries that are refused as they stand."""
    session, _ = _opened(folder, scale)

    def call() -> float:
        found = 0
        for text in _queries().values():
            try:
                session.preview_sql(text, **PRICE)
            except dp.Refusal:
                found += 1
        return found / len(_queries())

    return call


def error(number: int, folder: str, scale: float) -> Callable[[], float]:
    """The median relative error of a query's numbers, over all of them and many runs, against plain DuckDB."""
    return lambda: median(_runs(number, folder, scale)[0])


def missed(number: int, folder: str, scale: float) -> Callable[[], float]:
    """The share of intervals that miss the value which bounding people leaves, over all numbers and many runs."""

    def call() -> float:
        found = _runs(number, folder, scale)[1]
        return sum(found) / len(found)

    return call


@cache
def _runs(number: int, folder: str, scale: float) -> tuple[list[float], list[bool]]:
    """Relative errors against the truth, and whether intervals missed what bounding people leaves of it.

    The engine is asked once: every run draws its own noise for the same integers, as releases of one version do.
    """
    session, _ = _opened(folder, scale)
    call = _sibling("tpch_duckdb")["ask"](number, folder)
    spoken_now = spoken(session.desk, _queries()[number], *PRICE.values(), None, None)
    asked = spoken_now.report.asked(**PRICE)
    exactly = spoken_now.report.asked(epsilon=EXACT)
    truth = _plain(call(), len(asked.report.query.keys.names) if asked.report.query.keys is not None else 0)
    query, errors, misses = asked.report.query, [], []

    def values(priced: Any, runner: Any) -> dict[tuple[Any, ...], tuple[float, float, float]]:
        return _values(arranged(Programme(priced).run(runner, Draws(new_key())), spoken_now.statement))

    with query.desk.access.runner(query.registered) as runner:
        once = replace(runner, engine=_Remembering(runner.engine))
        bounded = values(exactly, once)
        for _ in range(RUNS):
            for place, (value, low, high) in values(asked, once).items():
                misses.append(not low - 1e-9 <= bounded[place][0] <= high + 1e-9)
                exact = truth.get(place)
                if exact:
                    errors.append(abs(value - exact) / abs(exact))
    return errors, misses


class _Remembering:
    """An engine that is asked everything once."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._rows = engine, cache(engine.rows)

    def rows(self, sql: str) -> Any:
        """Return the rows of a statement, as they were the first time."""
        return self._rows(sql)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def _values(answer: Any) -> dict[tuple[Any, ...], tuple[float, float, float]]:
    """The value and the interval of each measured column of each group; what has no point has the middle."""
    found = {}
    for row in answer:
        key = tuple(str(row[name]) for name in answer.keys)
        for place, column in enumerate(answer.columns):
            low, high = row[f"{column.name}_low"], row[f"{column.name}_high"]
            value = row[column.name] if row[column.name] is not None else (low + high) / 2
            found[*key, place] = float(value), float(low), float(high)
    return found


def _plain(rows: Any, keys: int) -> dict[tuple[Any, ...], float]:
    """The numbers of plain DuckDB, by the texts of their keys and their places."""
    return {
        (*map(str, row[:keys]), place): float(value)
        for row in rows
        for place, value in enumerate(row[keys:])
        if value is not None
    }
