"""Scalars: DuckDB computes exactly what the reference does, for any expression, any row and any raw value."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import Refusal
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.plan.expressions import Name, when
from discreet.plan.to_sql.scalar import expression_sql, is_readable, raw_sql, stored_type
from discreet.plan.to_sql.thresholds import rounded_float, thresholds
from discreet.plan.types import type_of
from tests.plan import reference
from tests.plan.strategies import OPERATORS, accepted, names_in, numbers, relation, rows, schemas, texts


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        yield connection


def check(engine, expression, schema, found_rows):
    """Compare the engine with the reference, and both with the derived type."""
    column = type_of(expression, schema)
    sql = expression_sql(expression, schema)
    found = engine.execute(f"SELECT {sql}, typeof({sql}) FROM {relation(schema, found_rows)}").fetchall()
    assert [value for value, _ in found] == [reference.evaluate(expression, row, schema) for row in found_rows]
    assert {kind for _, kind in found} == {stored_type(column)}
    for value, _ in found:
        check_value(column, value)


def check_value(column, value):
    if value is None:
        return
    match column.kind:
        case "number" | "date":
            assert type(value) is int
            assert column.steps[0] <= value <= column.steps[1]
        case "category":
            assert value in column.keys
        case "flag":
            assert type(value) is bool
        case "text":
            assert type(value) is str


@pytest.mark.parametrize("many", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_engine_computes_what_the_reference_does(engine, operator, many):
    seen = 0

    @settings(max_examples=many, database=None)
    @given(st.data())
    def run(data):
        nonlocal seen
        schema = data.draw(schemas())
        expression = data.draw(OPERATORS[operator](schema, data.draw(st.sampled_from([0, 0, 1, 2]))))
        assume(accepted(expression, schema))
        schema = {name: schema[name] for name in names_in(expression)} or schema
        found = rows(schema, data.draw(st.integers(0, 1 << 32)))
        check(engine, expression, schema, found)
        seen += len(found)

    run()
    assert seen >= 50 * many


SPECIAL = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994]
SPECIAL += [2.0**52 + 1, 2.0**53, -(2.0**62), 2.0**63, 2.0**126, 1e22, 0.1, 0.005, 4503599627370497.5]
ODD = ["", " ", "1", " 12 ", "+3", "-4.5", ".5", "5.", "1e3", "1E-3", "1e400", "-1e400", "nan", "inf", "Infinity"]
ODD += ["1_000", "0x10", "1,5", "12abc", "\uff11\uff12", "1e", ".", "--1", "1 2", "9" * 30, "9" * 60, "0." + "3" * 50]
ODD += ["true", "T", "YES", "No", "0", "f", "ye\u017f", "2024-02-29", "2023-02-29", "2024-2-3", "0000-02-29", "epoch"]
ODD += ["false", "True", "FALSE", " true", "true "]
ODD += ["0000-01-01", "9999-12-31", "2024-02-03 10:11:12", "2024-02-03T23:59:59Z", "2024-02-03x", "infinity", "\t1"]
ODD += ["1\n", "\U0001f600", "O'Neil", "A", "4611686018427387904", "-9223372036854775809", "1.e5", "+.5e+2", "1" * 38]


def whole(low, high):
    edges = [edge for edge in (low, high, 0, 1, -1, 5, 100, 2**31, 2**53 + 1, -(2**63), 2**63) if low <= edge <= high]
    return st.one_of(st.sampled_from(edges), st.integers(low, high), st.integers(max(low, -200), min(high, 200)))


def decimal(digits, places):
    return whole(1 - 10**digits, 10**digits - 1).map(lambda units: Decimal(f"{units}e-{places}"))


moments = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
spelled = st.one_of(
    st.sampled_from(ODD), texts, st.from_regex(r"[+-]?[0-9]{0,4}\.?[0-9]{0,4}(e[+-]?[0-9]{1,3})?", fullmatch=True)
)
RAW = {
    "TINYINT": whole(-(2**7), 2**7 - 1),
    "UTINYINT": whole(0, 2**8 - 1),
    "INTEGER": whole(-(2**31), 2**31 - 1),
    "UINTEGER": whole(0, 2**32 - 1),
    "BIGINT": whole(-(2**63), 2**63 - 1),
    "UBIGINT": whole(0, 2**64 - 1),
    "HUGEINT": whole(-(2**127), 2**127 - 1),
    "UHUGEINT": whole(0, 2**128 - 1),
    "DOUBLE": st.one_of(st.sampled_from(SPECIAL), st.floats(), st.floats(-1e4, 1e4), st.integers(-99, 99).map(float)),
    "FLOAT": st.one_of(st.sampled_from([math.nan, math.inf, -math.inf, 0.5, 1.5, 1.0, 0.0]), st.floats(width=32)),
    "DECIMAL(9,2)": decimal(9, 2),
    "DECIMAL(18,0)": decimal(18, 0),
    "DECIMAL(18,4)": decimal(18, 4),
    "DECIMAL(38,0)": decimal(38, 0),
    "DECIMAL(38,6)": decimal(38, 6),
    "DECIMAL(38,20)": decimal(38, 20),
    "DECIMAL(38,38)": decimal(38, 38),
    "BOOLEAN": st.booleans(),
    "VARCHAR": spelled,
    "DATE": st.dates(),
    "TIMESTAMP": moments,
    "TIMESTAMP WITH TIME ZONE": moments.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
    "BLOB": st.just(""),
}
DECLARED = {
    "number": st.one_of(numbers(), numbers(most=2**60), numbers(most=2**100), numbers(most=2**52)),
    "date": st.tuples(st.dates(), st.dates()).map(lambda pair: dp.date(min(pair), max(pair))),
    "flag": st.just(dp.flag()),
    "text": st.just(dp.text()),
    "words": st.just(dp.one_of("A", "true", "12", "O'Neil", "", "-1", "\U0001f600", "0.5", "1e+22", "inf")),
    "keys": st.one_of(st.just(dp.one_of(*range(-3, 13))), st.just(dp.one_of(1, 5, 100, -(2**63), 2**100))),
}


def written(value, physical):
    """Write a raw value as the engine's own type."""
    if value is None or physical == "BLOB":
        return f"CAST({'NULL' if value is None else DUCKDB.literal(value)} AS {physical})"
    if isinstance(value, Decimal):
        value = f"{value:f}"
    text = value if physical == "VARCHAR" else str(value)
    return f"CAST({DUCKDB.literal(text)} AS {physical})"


@pytest.mark.parametrize("physical", RAW)
def test_every_raw_value_is_read_as_the_reference_reads_it(engine, physical):
    @settings(max_examples=15, database=None)
    @given(st.fixed_dictionaries(DECLARED), st.lists(st.one_of(*[RAW[physical]] * 6, st.none()), min_size=20))
    def run(declared, raw):
        relation = ", ".join(f"({written(value, physical)})" for value in raw)
        for column in (each.named('the "x"') for each in declared.values()):
            try:
                sql = raw_sql(column, physical)
            except Refusal:  # so many decimal places below so wide bounds fit no integer
                assert physical.startswith("DECIMAL(38,")
                continue
            query = f"SELECT {sql}, typeof({sql}) FROM (VALUES {relation}) AS rows({DUCKDB.quote(column.name)})"
            found = engine.execute(query).fetchall()
            readable = is_readable(column, physical)
            expected = [reference.read(column, value) if physical != "BLOB" else None for value in raw]
            assert [value for value, _ in found] == expected
            assert readable or set(expected) == {None}
            assert {kind for _, kind in found} == {stored_type(column)}
            for value, _ in found:
                check_value(column, value)

    run()


@settings(max_examples=200)
@given(numbers(most=2**60), st.floats(allow_nan=False), st.integers(-3, 3))
def test_thresholds_separate_exactly_the_floats_that_round_into_the_bounds(column, value, ulps):
    first, last = thresholds(column.steps, column.step)
    for edge in (value, first, last):
        for _ in range(abs(ulps)):
            edge = math.nextafter(edge, math.copysign(math.inf, ulps))
        inside = column.steps[0] <= rounded_float(edge, column.step) <= column.steps[1]
        assert inside is (first <= edge <= last)


def test_a_step_finer_than_floats_go_is_read_without_failing(engine):
    column = dp.between(0, Fraction(1, 10**400), step=Fraction(1, 10**401)).named("x")
    sql = raw_sql(column, "DOUBLE")
    query = f"SELECT {sql} FROM (VALUES (CAST('nan' AS DOUBLE)), ('-inf'), (0), (5e-324), (1), (1e308)) AS rows(x)"
    assert engine.execute(query).fetchall() == [(None,), (0,), (0,), (0,), (10,), (10,)]


@pytest.mark.parametrize("physical", ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
def test_infinite_days_are_clamped_like_any_other(engine, physical):
    column = dp.date("2020-01-01", "2020-01-31").named("x")
    values = ", ".join(f"(CAST('{value}' AS {physical}))" for value in ("infinity", "-infinity", "290000-01-01"))
    found = engine.execute(f"SELECT {raw_sql(column, physical)} FROM (VALUES {values}) AS rows(x)").fetchall()
    assert found == [(18292,), (18262,), (18292,)]


def test_the_session_time_zone_does_not_move_days(engine):
    column = dp.date("2020-01-01", "2020-12-31").named("x")
    query = f"""SELECT {raw_sql(column, "TIMESTAMP WITH TIME ZONE")}
        FROM (VALUES (CAST('2020-06-01 23:30:00+00' AS TIMESTAMP WITH TIME ZONE))) AS rows(x)"""
    found = set()
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        engine.execute(f"SET TimeZone = '{zone}'")
        found |= set(engine.execute(query).fetchall())
    assert found == {((dt.date(2020, 6, 1) - dt.date(1970, 1, 1)).days,)}


def test_a_promise_of_no_nulls_is_not_relied_upon(engine):
    column = dp.between(0, 9, nullable=False).named("x")
    expression = (Name("x") + 1).fill_null(0)
    read = f"SELECT {raw_sql(column, 'DOUBLE')} AS x FROM (VALUES (CAST('nan' AS DOUBLE)), (NULL), (3)) AS rows(x)"
    sql = expression_sql(expression, {"x": column})
    assert engine.execute(f"SELECT {sql} FROM ({read})").fetchall() == [(0,), (0,), (4,)]


def test_texts_reach_sql_as_quoted_literals_alone(engine):
    text = "'); DROP TABLE t; --\\\" \n"
    schema = {'a"b': dp.text().named('a"b')}
    sql = expression_sql(when(Name('a"b') == text, text).otherwise("no"), schema)
    query = f"SELECT {sql} FROM (VALUES ({DUCKDB.literal(text)}), ('x')) AS rows({DUCKDB.quote(next(iter(schema)))})"
    assert engine.execute(query).fetchall() == [(text,), ("no",)]


def test_a_column_too_fine_for_any_integer_is_refused_when_it_is_read():
    with pytest.raises(Refusal, match="126 bits") as refused:
        raw_sql(dp.between(0, 10**40).named("x"), "DOUBLE")
    assert refused.value.value == "x"


@pytest.mark.parametrize(
    ("column", "physical", "readable"),
    [
        (dp.between(0, 1), "DOUBLE", True),
        (dp.between(0, 1), "BLOB", False),
        (dp.between(0, 1), "DATE", False),
        (dp.date("2020-01-01", "2020-01-02"), "INTEGER", False),
        (dp.one_of("A"), "ENUM('A', 'B')", True),
        (dp.one_of("A"), "DOUBLE", True),
        (dp.one_of("A"), "DECIMAL(9,2)", False),
        (dp.text(), "INTEGER[]", False),
    ],
)
def test_what_a_physical_type_can_hold_is_known_in_advance(column, physical, readable):
    assert is_readable(column, physical) is readable


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_beyond_the_engine_are_clamped_or_null_and_never_fail(engine, unit):
    column = dp.date("2020-01-01", "2020-01-31").named("x")
    values = [2**63 - 1, 1 - 2**63, 10**17, -(10**17), 0, None]
    moments = pa.table({"x": pa.array(values, pa.timestamp(unit))})
    engine.register("moments", moments)
    physical = engine.execute("DESCRIBE moments").fetchone()[1]
    found = [value for (value,) in engine.execute(f"SELECT {raw_sql(column, physical)} FROM moments").fetchall()]
    assert set(found[:4]) <= {18262, 18292, None}
    assert found[4:] == [18262, None]


@pytest.mark.parametrize("moment", [-(2**63), 2 - 2**63])
def test_a_moment_before_all_days_of_the_engine_is_null_wherever_its_zone_is(engine, moment):
    column = dp.date("2020-01-01", "2020-01-31").named("x")
    sql = raw_sql(column, "TIMESTAMP WITH TIME ZONE")
    found = engine.execute(f"SELECT {sql} FROM (VALUES (make_timestamptz({moment})), (make_timestamptz(0))) AS rows(x)")
    assert found.fetchall() == [(None,), (18262,)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda y: y.divided_by(y, 1),
        lambda y: y * y,
        lambda y: y * y + y,
        lambda y: (y * 4) * (y * 4),
    ],
)
def test_no_product_of_wide_numbers_overflows_on_a_row_because_its_operands_are_wide_already(engine, ask):
    for bound in (1 << 62, 1 << 63, 1 << 64, 1 << 80):
        schema = {"y": dp.between(-bound, 1).named("y")}
        expression = ask(Name("y"))
        if accepted(expression, schema):
            check(engine, expression, schema, [{"y": value} for value in (-bound, -1, 0, 1, None)])
        else:
            with pytest.raises(Refusal):
                type_of(expression, schema)


@pytest.mark.parametrize("physical", ["DECIMAL(38,38)", "DECIMAL(38,37)"])
def test_a_type_of_too_many_places_is_refused_with_what_to_declare(physical):
    """The refusal is the one of reading, so that a table is refused when it is registered and not when it is asked."""
    column = dp.between(-9, 9).named("x")
    for door in (is_readable, raw_sql):
        with pytest.raises(Refusal, match="fewer decimal places"):
            door(column, physical)
    assert is_readable(dp.between(0, 1, step=0.1).named("x"), "DECIMAL(38,30)")
