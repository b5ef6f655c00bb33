"""Statement: a question in SQL, read: what is measured, and what is made of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.plan.aggregates import Aggregate
from discreet.plan.keys import Keys
from discreet.plan.nodes import Plan
from discreet.plan.sql.formula import Formula, Ordering
from discreet.plan.sql.options import Options
from discreet.plan.sql.refusals import Span
from discreet.plan.sql.source import SqlText

GroupingSets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """What a SELECT asks. `plan`, `keys` and `aggregates` are what is paid for; all the rest is done to the answer.

    `titles` are the keys under the names the answer shows, `columns` its columns; `sets` are the keys that are kept in
    each of the grouping sets of a ROLLUP. `spans` says where keys and aggregates stand.
    """

    source: SqlText
    options: Options
    plan: Plan
    keys: Keys | None
    aggregates: tuple[tuple[str, Aggregate], ...]
    titles: tuple[str, ...]
    columns: tuple[tuple[str, Formula], ...]
    sets: GroupingSets
    having: Formula | None
    order: tuple[Ordering, ...]
    limit: int | None
    offset: int
    spans: Mapping[str, Span]
