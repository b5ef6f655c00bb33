"""The barrier: what is read of a record follows from that record alone, whatever statistics a file has."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines.duckdb.engine import SWITCHED_OFF, DuckDBEngine, connect
from discreet.engines.duckdb.options import parquet
from discreet.engines.duckdb.source import describe, from_sql
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.scalar import Relation, raw_sql
from discreet.plan.to_sql.statement import tallies_sql

SECRET = b"secret" * 8
NANS = [math.nan] * 1000
FLOATS = {"half": pa.float16(), "single": pa.float32(), "double": pa.float64()}


def written(folder, columns, **options):
    file = folder / f"{len([*folder.iterdir()])}.parquet"
    pq.write_table(pa.table(columns), file, **options)
    return parquet(file)


def asked(source, columns, unit, tallies):
    relation = Relation(dp.Table("t", unit, columns), describe(source), from_sql(source))
    return tallies_sql(TallyQuery(Scan("t"), NO_KEYS, tallies), {"t": relation}).sql


def answer(*given):
    with DuckDBEngine(SECRET, threads=1) as engine:
        return engine.rows(asked(*given))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("statistics", "group"), [(True, 2000), (True, 500), (False, 2000)])
@pytest.mark.parametrize("more", [[], [math.inf], [-math.inf], [math.nan], [None], [-0.0]])
def test_one_more_record_moves_an_exact_sum_by_its_own_value_alone(tmp_path, kind, statistics, group, more):
    values = [*NANS, 1.0, 2.0, 60.0, *more]
    numbers = pa.array(values, FLOATS[kind])
    source = written(
        tmp_path, {"pid": range(len(values)), "m": numbers}, write_statistics=statistics, row_group_size=group
    )
    found = answer(source, {"m": dp.between(0, 50)}, dp.person("pid", max_rows=1), (Tally("sum", (Name("m"),)),))
    assert found[0][-1] == 53 + (50 if more == [math.inf] else 0)


@pytest.mark.parametrize("kind", FLOATS)
def test_identifiers_that_are_not_numbers_are_one_missing_identifier(tmp_path, kind):
    columns, unit, tallies = {"m": dp.between(0, 99)}, dp.person("pid", max_rows=1), (Tally("rows"), Tally("people"))
    one = {"pid": pa.array([*NANS, 1.0, 2.0], FLOATS[kind]), "m": [7] * 1002}
    other = {"pid": pa.array([*NANS, 1.0, 2.0, math.inf, None], FLOATS[kind]), "m": [7] * 1004}
    assert answer(written(tmp_path, one), columns, unit, tallies)[0][-2:] == (3, 3)
    assert answer(written(tmp_path, other), columns, unit, tallies)[0][-2:] == (4, 4)


def plan_of(source, columns, unit):
    """Show how an engine means to read columns and people, written without names, which a plan would show instead."""
    physical = describe(source)
    table = dp.Table("t", unit, columns)
    read = [raw_sql(column, physical[column.name]) for column in table.columns]
    read.append(Relation(table, physical, "").person_sql())
    one = " + ".join(f"count({each})" for each in read)
    with DuckDBEngine(SECRET, threads=1) as engine:
        shown = engine.rows(f"EXPLAIN (FORMAT json) SELECT {one} FROM {from_sql(source)} WHERE {read[0]} > 1")
    return shown[0][1].replace(source.path, "")


@pytest.mark.parametrize("kind", FLOATS)
def test_the_plan_keeps_every_comparison_that_was_written(tmp_path, kind):
    rows = {"pid": pa.array([*NANS, 1.0], FLOATS[kind]), "m": pa.array([*NANS, 2.0], FLOATS[kind]), "n": [7] * 1001}
    columns = {"m": dp.between(0, 50), "n": dp.between(0, 1)}
    sources = [written(tmp_path, rows, write_statistics=statistics) for statistics in (True, False)]
    with_statistics, without = (plan_of(source, columns, dp.person("pid", max_rows=1)) for source in sources)
    assert with_statistics == without
    assert "isnan" in with_statistics
    assert "(false)" not in with_statistics.lower()
    assert "(true)" not in with_statistics.lower()


def test_no_condition_reaches_the_scan_of_a_file(tmp_path):
    source = written(tmp_path, {"x": range(1000), "s": ["a"] * 1000}, row_group_size=100)
    where = "x > 990 AND s = 'a' AND s IS NOT NULL"
    sql = f"EXPLAIN (FORMAT json) SELECT count(*) FROM {from_sql(source)} WHERE {where}"
    with connect() as bare, DuckDBEngine(SECRET) as engine:
        for plan in (bare.execute(sql).fetchall(), engine.rows(sql)):
            scans = [node for node in nodes(json.loads(plan[0][1])) if "PARQUET" in node["name"].upper()]
            assert len(scans) == 1
            assert "990" not in str(scans[0]["extra_info"])


def test_every_connection_has_switched_off_what_the_barrier_says():
    sql = "SELECT value FROM duckdb_settings() WHERE name = 'disabled_optimizers'"
    with connect() as bare, DuckDBEngine(SECRET) as engine:
        for ((value,),) in (bare.execute(sql).fetchall(), engine.rows(sql)):
            assert {*value.split(",")} == {*SWITCHED_OFF}


def nodes(plan):
    for node in plan:
        yield node
        yield from nodes(node["children"])


def test_text_that_is_no_unicode_is_found_whatever_the_statistics_say(tmp_path):
    blobs = pa.array([b"a", b"b\xff"], type=pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 2, blobs.buffers())
    with DuckDBEngine(SECRET) as engine:
        for options in ({}, {"row_group_size": 1}, {"write_statistics": False}):
            source = written(tmp_path, {"s": broken}, **options)
            assert engine.rows(f"SELECT count(*) FROM {from_sql(source)} WHERE s > 'b' AND s < 'c'") == [(1,)]
