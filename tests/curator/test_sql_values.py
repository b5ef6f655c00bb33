"""What expressions in SQL mean: the same as DuckDB's, on the values that the declared columns hold."""

import duckdb
import pandas as pd
import pytest

import discreet as dp
from tests.curator.questions import ROWS
from tests.curator.spoken import DAYS, session_of

# The table as it is read: clamped, rounded to its steps, undeclared keys null.
READ = {
    **ROWS,
    "age": [41, 42, 43, 7, 8, 90, 110, None, 30, 31],
    "cost": [10.0, 20.5, -50.0, 0.0, 450.0, 450.0, None, 3.0, -0.5, 100.0],
    "ward": ["A", "A", "B", "B", "A", "B", "A", "A", None, None],
    "day": pd.to_datetime(pd.Series(DAYS)).dt.date,
    "grade": [1, 2, 3, 1, 2, 3, 1, 2, 3, None],
}
NUMBERS = [
    "age * 2 - 3",
    "-cost + age",
    "ABS(cost)",
    "FLOOR(cost)",
    "CEIL(cost)",
    "FLOOR(cost / 7)",
    "CEIL(cost / 7)",
    "FLOOR(-cost / 2.5)",
    "FLOOR(age / 10) * 10",
    "LENGTH(ward) + age",
    "COALESCE(age, 5)",
    "NULLIF(age, 8)",
    "NULLIF(age, CAST(grade AS INTEGER) * 41)",
    "CASE WHEN urgent THEN 1 WHEN age > 40 THEN 2 ELSE 3 END",
    "CASE WHEN urgent THEN NULL WHEN age > 40 THEN 2 ELSE 3 END",
    "CASE WHEN age > 40 THEN 1 WHEN urgent THEN NULL ELSE 3 END",
    "CASE ward WHEN 'A' THEN 1 WHEN 'B' THEN 2 END",
    "IF(urgent, 1, 2)",
    "CAST(urgent AS INTEGER)",
    "grade::int * 2",
    "EXTRACT(YEAR FROM day) + MONTH(day) * DAY(day)",
    "EXTRACT(ISODOW FROM day)",
    "day - DATE '2020-02-28'",
    "DATE '2021-12-31' - day",
]
CONDITIONS = [
    "age >= 18 AND cost < 100",
    "NOT (age > 40 OR urgent)",
    "age BETWEEN 8 AND 42 AND NOT cost BETWEEN 0 AND 10",
    "ward IN ('A', 'C') OR ward IS NULL",
    "ward NOT IN ('A') AND ward <> 'C'",
    "ward LIKE 'A%' OR NOT ward ILIKE '%b'",
    "city LIKE 'B%' OR city = '東京'",
    "urgent IS TRUE OR urgent IS NOT FALSE",
    "urgent = TRUE",
    "age * 2 > cost",
    "day > '2020-02-28' AND day <= DATE '2021-01-03'",
    "day + INTERVAL '7' DAY < DATE '2020-03-09'",
    "DATE_ADD(day, INTERVAL 1 WEEK) < DATE '2020-03-09'",
    "ward NOT LIKE 'A' AND ward NOT ILIKE 'c'",
    "STARTS_WITH(city, 'Z')",
    "LEAST(age, 40) = 40 AND GREATEST(cost, 0) > 5",
    "1.5 < cost AND 1e1 >= age",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return session_of(tmp_path_factory.mktemp("values"), budget=dp.Budget(epsilon=10**12))


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        connection.register("visits", pd.DataFrame(READ))
        yield connection


@pytest.mark.parametrize("expression", NUMBERS)
def test_numbers_are_what_they_are_elsewhere(session, engine, expression):
    text = f"SELECT SUM({expression}), COUNT({expression}) FROM visits"
    total, count = engine.execute(text).fetchone()
    found = session.sql(text.replace("),", ") AS total,").replace(" FROM visits", " AS n FROM visits"), 10**5)
    assert (found.value("total"), found.value("n")) == (
        pytest.approx(float(total), rel=1e-3, abs=0.1),
        pytest.approx(count, abs=0.01),
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_hold_where_they_hold_elsewhere(session, engine, condition):
    text = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"
    # Counts of people's rows are made of parts of rows, and so is their noise.
    assert session.sql(text, 10**5).value() == pytest.approx(engine.execute(text).fetchone()[0], abs=0.01)


def test_groups_are_those_of_elsewhere(session, engine):
    text = "SELECT FLOOR(age / 25) AS band, urgent, COUNT(*) AS n FROM visits GROUP BY band, urgent HAVING n > 0.5"
    wanted = {(band, urgent, n) for band, urgent, n in engine.execute(text).fetchall() if None not in (band, urgent)}
    assert {(row["band"], row["urgent"], round(row["n"])) for row in session.sql(text, 10**5)} == wanted
