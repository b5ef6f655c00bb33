"""What a row adds to a column is known from the declaration, so that an answer may be asked for sampling."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.answers.column import SampledRows
from discreet.core.unit import person, row
from tests.curator.questions import opened

ASKED = {
    "n": dp.count(),
    "aged": dp.count("age"),
    "people": dp.people(),
    "cost": dp.sum("cost"),
    "age": dp.mean("age"),
    "middle": dp.median("age"),
}


@pytest.mark.parametrize(("unit", "most"), [(row(), 1), (person("id", max_rows=3), 3)])
def test_each_column_says_what_one_row_adds(tmp_path, unit, most):
    asked = {name: each for name, each in ASKED.items() if name != "people" or not unit.is_row}
    answer = opened(tmp_path, unit=unit).table("visits").agg(**asked).release(epsilon=50)
    found = {column.name: column.sampled for column in answer.columns}
    assert found["n"] == SampledRows(most, Fraction(0), Fraction(1), all_rows=True)
    assert found["aged"] == SampledRows(most, Fraction(0), Fraction(1))
    assert found["cost"] == SampledRows(most, Fraction(-50), Fraction(450))
    assert found["age"] == SampledRows(most)
    assert found["middle"] is None
    assert answer.column("n").sampled == answer.from_json(answer.to_json()).column("n").sampled
    wide, narrow = answer.sampled().cell(column="n"), answer.cell(column="n")
    assert wide.low < narrow.low <= narrow.high < wide.high


CLAUSE = """
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 5{}) ward, COUNT(*) AS n, MEDIAN(age) AS age, {}
    FROM visits GROUP BY ward
"""


def test_sampling_is_an_option_of_the_clause_and_costs_nothing_more(tmp_path):
    session = opened(tmp_path)
    share = "AVG(age) / 2 AS half"
    plain = session.sql(CLAUSE.format("", share))
    found = session.sql(CLAUSE.format(", sampling = true", share))
    assert found.receipt["sequence"] == plain.receipt["sequence"]
    assert found.receipt["replayed"]
    assert (plain.sampling, found.sampling) == (False, True)
    assert session.sql(CLAUSE.format(", sampling = FALSE", share)).sampling is False
    for one, other in zip(plain, found, strict=True):
        assert (one["n"], other["age_low"]) == (other["n"], None)
        assert other["n_high"] - other["n_low"] > one["n_high"] - one["n_low"]
        assert other["half_low"] <= one["half_low"]


def test_rows_without_a_point_pass_no_condition_and_come_last(tmp_path):
    session = opened(
        tmp_path,
        {
            "id": range(400),
            "ward": ["A"] * 200 + ["B"] * 200,
            "age": [30] * 200 + [60] * 200,
            "cost": [1.0] * 400,
            "city": ["Bern"] * 400,
            "urgent": [True] * 400,
        },
        unit=row(),
    )
    text = "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward {}"

    def wards(clause):
        return [line["ward"] for line in session.sql(text.format(clause), epsilon=5)]

    assert wards("ORDER BY age") == ["A", "B", "C"]
    assert wards("ORDER BY age DESC") == ["B", "A", "C"]
    assert wards("ORDER BY age DESC NULLS FIRST") == ["C", "B", "A"]
    assert wards("HAVING AVG(age) > 10 ORDER BY ward") == ["A", "B"]
    assert wards("HAVING NOT (AVG(age) > 10)") == []
    assert wards("HAVING AVG(age) IS NULL") == ["C"]
