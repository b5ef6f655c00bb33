"""Many sums in one question: what is written for each does not grow with the number of the others."""

import duckdb
import pytest

import discreet as dp
from discreet.plan.expressions import Expression, Name
from discreet.plan.keys import Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import tallies_sql
from discreet.plan.to_sql.sums import Sums


def _relations(many, unit):
    columns = {f"c{place:04}": dp.between(0, 100) for place in range(many)}
    table = dp.Table("wide", unit, columns)
    return {"wide": Relation(table, dict.fromkeys(["id", *columns], "INTEGER"), '"wide"')}


def _written(many, unit):
    tallies = tuple(Tally(kind, (Name(f"c{place:04}"),)) for place in range(many) for kind in ("sum", "present"))
    question = TallyQuery(Scan("wide"), keys_of([], {}), tallies, weighed=True)
    return tallies_sql(question, _relations(many, unit)).sql


@pytest.mark.parametrize("unit", [dp.row(), dp.person("id", max_rows=10)], ids=["rows", "people"])
def test_the_statement_grows_with_the_number_of_sums_and_no_faster(unit):
    few, many = len(_written(100, unit)), len(_written(400, unit))
    assert many < 4.2 * few


def test_expressions_are_looked_up_and_not_compared_with_one_another(monkeypatch):
    read = []
    signature = Expression.signature.fget
    monkeypatch.setattr(Expression, "signature", property(lambda self: read.append(1) or signature(self)))
    columns = {f"c{place}": dp.between(0, 100) for place in range(300)}
    from discreet.engines.duckdb.dialect import DIALECT

    found = Sums.of([Tally("sum", (Name(name),)) for name in columns for _ in range(2)], columns, DIALECT)
    assert len(found.values) == 300
    assert len(read) == 600


def test_no_column_is_read_by_a_condition_inside_another_one():
    """DuckDB plans many nested conditions in quadratic time: see `clamp_sql`."""
    assert "CASE WHEN NOT" not in _written(3, dp.row())
    assert "THEN CASE" not in _written(3, dp.row())


def test_values_are_clamped_at_both_ends_and_nulls_stay():
    from discreet.engines.duckdb.dialect import DIALECT
    from discreet.plan.whole import Whole

    sql = Whole.of('"x"', (-1000, 1000), DIALECT).clamped(-5, 7).sql
    found = duckdb.sql(f'SELECT {sql} FROM (VALUES (-1000), (-6), (-5), (0), (7), (8), (1000), (NULL)) AS v("x")')
    assert [row[0] for row in found.fetchall()] == [-5, -5, -5, 0, 7, 7, 7, None]
