"""Selection: how many people have each key that nobody declared, for private selection to choose from."""

from __future__ import annotations

from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import Engine
from discreet.plan.keys import Keys, Tally, TallyQuery
from discreet.plan.nodes import Datum, Plan
from discreet.plan.to_sql.rows import Relations
from discreet.plan.to_sql.statement import tallies_sql


def people_by_key(
    engine: Engine,
    source: Plan,
    keys: Keys,
    relations: Relations,
    dialect: Dialect = DUCKDB,
    unit: Unit | None = None,
) -> Exact[dict[tuple[Datum, ...], int]]:
    """Return each key with the number of people that have it, in the order of the keys; a row stands for a person
    where rows are protected.

    Guarantee: one person counts for at most max_groups keys, once for each.
    """  # noqa: D205
    statement = tallies_sql(TallyQuery(source, keys, (Tally("people"),)), relations, dialect, unit)
    found = {tuple(key): int(people or 0) for *key, people in engine.rows(statement.sql)}
    return Exact(dict(sorted(found.items())))
