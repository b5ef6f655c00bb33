"""What only PostgreSQL has: numbers without a limit, collations that fold, names that it cuts, older versions."""

import math
from decimal import Decimal

import pytest

import discreet as dp
from discreet.engines.postgres.dialect import DIALECT as POSTGRES
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.scalar import Relation, is_readable, raw_sql
from discreet.plan.to_sql.statement import tallies_sql
from tests.plan import reference

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def subject(opened):
    return opened["postgres"]


def read(subject, column, physical, raw):
    """Read raw values, given as texts, as a declared column."""
    relation = subject.relation(["place", "x"], ["INTEGER", physical], list(enumerate(raw)))
    sql = raw_sql(column.named("x"), physical, POSTGRES)
    return [value for (value,) in subject.engine.rows(f'SELECT {sql} FROM {relation} ORDER BY "place"')]


NUMERIC = [
    "0",
    "0.5",
    "-0.5",
    "2.5",
    "7.4999999999999999999999999",
    "7.5",
    "1e300",
    "-1e300",
    "1e-300",
    "123456789.125",
]


@pytest.mark.parametrize("column", [dp.between(-10, 10), dp.between(-9, 9, step=3), dp.between(0, 10**20, step=0.01)])
def test_numbers_without_a_limit_are_rounded_exactly(subject, column):
    found = read(subject, column, "NUMERIC", [*NUMERIC, "NaN", "Infinity", "-Infinity", None])
    expected = [reference.read(column, Decimal(text)) for text in NUMERIC]
    assert found == [*expected, None, column.steps[1], column.steps[0], None]


def test_what_is_not_a_number_is_null_in_decimals_too(subject):
    for column in (dp.between(0, 100), dp.between(0, 100, step=3), dp.flag(), dp.one_of(1, 7)):
        assert read(subject, column, "DECIMAL(9,2)", ["NaN", None]) == [None, None]
        assert read(subject, column, "NUMERIC", ["NaN", None]) == [None, None]
    assert read(subject, dp.flag(), "NUMERIC", ["1.000", "0", "0.5"]) == [True, False, None]
    assert read(subject, dp.one_of(1, 7, 2**100), "NUMERIC", ["7.00", "7.5", str(2**100), "Infinity"]) == [
        7,
        None,
        2**100,
        None,
    ]


def test_texts_are_told_apart_by_code_points_whatever_the_collation(subject):
    try:
        subject.engine.run(
            "CREATE COLLATION pg_temp.folded (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
    except dp.Refusal:
        pytest.skip("this server was built without ICU")
    subject.engine.run('CREATE TEMP TABLE folded (id text COLLATE pg_temp.folded, "x" text COLLATE pg_temp.folded)')
    subject.engine.run("INSERT INTO folded VALUES ('a', 'A'), ('A', 'a'), ('ä', 'Ä'), ('a', 'a')")
    sql = raw_sql(dp.one_of("A", "b").named("x"), "VARCHAR", POSTGRES)
    assert subject.engine.rows(f"SELECT count({sql}) FROM pg_temp.folded") == [(1,)]
    assert people(subject, "VARCHAR", "pg_temp.folded") == 3


@pytest.mark.parametrize(
    ("physical", "raw", "many"),
    [
        ("NUMERIC", ["1", "1.0", "1.00", "2"], 2),
        ("DOUBLE", ["0", "-0", "NaN", "NaN", "1"], 3),
        ("FLOAT", ["0", "-0"], 1),
    ],
)
def test_equal_identifiers_are_one_person_however_they_are_written(subject, physical, raw, many):
    relation = subject.relation(["id", "x"], [physical, "INTEGER"], [[value, 1] for value in raw])
    assert people(subject, physical, relation) == many


def people(subject, physical, relation):
    """Count the people of a table, each of whom may have one row."""
    table = dp.Table("t", dp.person("id", max_rows=1), {"x": dp.text()})
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("people"), Tally("rows")))
    statement = tallies_sql(question, {"t": Relation(table, {"id": physical, "x": "INTEGER"}, relation)}, POSTGRES)
    ((_, found, rows),) = subject.engine.rows(statement.sql)
    assert rows == found
    return found


def test_names_too_long_for_the_server_stay_apart(subject):
    one, other = "é" * 40, "é" * 41
    assert len({POSTGRES.quote(name) for name in (one, other, "é" * 31)}) == 3
    first, second = POSTGRES.quote(one), POSTGRES.quote(other)
    sql = f"SELECT {second}, {first} FROM (SELECT 1 AS {first}, 2 AS {second}) AS q"
    assert subject.engine.rows(sql) == [(2, 1)]


@pytest.mark.parametrize("physical", ["jsonb", "integer[]", "bytea", "money", "interval", "public.thing"])
def test_types_of_other_kinds_are_known_to_be_unreadable(physical):
    for column in (dp.between(0, 1), dp.text(), dp.flag(), dp.one_of("A"), dp.date("2020-01-01", "2020-01-02")):
        assert not is_readable(column, physical, POSTGRES)


def test_comparisons_with_nan_and_infinity_are_those_that_reading_relies_on(subject):
    raw = ["NaN", "inf", "-inf", repr(math.nextafter(math.inf, 0)), "-0"]
    assert read(subject, dp.between(-5, 5), "DOUBLE", raw) == [None, 5, -5, 5, 0]
    assert read(subject, dp.between(-5, 5), "FLOAT", ["NaN", "inf", "-inf", "2.5"]) == [None, 5, -5, 3]
