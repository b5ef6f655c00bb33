"""Columns of every kind, and what the engine makes of an expression over some of their values."""

import datetime as dt

import duckdb

import discreet as dp
from discreet.engines.duckdb.dialect import DIALECT
from discreet.plan.to_sql.scalar import expression_sql, stored_type

EPOCH = dt.date(1970, 1, 1)
DECLARED = {
    "n": dp.between(-100, 100),
    "d": dp.date("1900-01-01", "2030-12-31"),
    "t": dp.text(),
    "f": dp.flag(),
}
COLUMNS = {name: column.named(name) for name, column in DECLARED.items()}


def computed(expression, name, values):
    """Return the expression for each value of one column, as the engine computes it."""
    stored = [(dt.date.fromisoformat(each) - EPOCH).days if name == "d" and each else each for each in values]
    kind = stored_type(COLUMNS[name], DIALECT)
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE t ("~at" INTEGER, "{name}" {kind})')
        connection.executemany("INSERT INTO t VALUES (?, ?)", [list(each) for each in enumerate(stored)])
        found = connection.execute(f'SELECT {expression_sql(expression, COLUMNS)} FROM t ORDER BY "~at"').fetchall()
    return [each for (each,) in found]
