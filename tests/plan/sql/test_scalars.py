"""Scalar subqueries: which are numbers bought first, what stands in their place, and what is refused."""

from fractions import Fraction

import pytest

from discreet.plan.expressions import Name
from discreet.plan.from_sql import from_sql
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.sql.scalars import LARGEST, settled_number
from discreet.plan.sql.scope import Catalogue
from tests.plan.sql.tables import PUBLIC, TABLES, read

DEARER = "SELECT ward, COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits WHERE urgent) GROUP BY ward"


def statement(text, *values):
    return from_sql(text, Catalogue(list(TABLES), TABLES.__getitem__, PUBLIC, {}), [Fraction(each) for each in values])


def test_a_number_is_a_question_of_its_own_and_then_a_constant():
    found = statement(DEARER, "12.5")
    (first,) = found.first
    assert first.written == "(SELECT AVG(cost) FROM visits WHERE urgent)"
    assert first.statement.plan.predicate.same_as(Name("urgent"))
    assert found.plan.predicate.same_as(Name("cost") > Fraction("12.5"))
    assert statement(DEARER, "-3").plan.predicate.same_as(Name("cost") > -3)


def test_it_is_the_question_with_the_number_written_in_its_place():
    by_hand = read("SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 12.5 GROUP BY ward")
    found = statement(DEARER, "12.5")
    assert found.plan.predicate.same_as(by_hand.plan.predicate)
    assert (found.keys, found.aggregates) == (by_hand.keys, by_hand.aggregates)


def test_numbers_stand_in_having_and_in_the_columns_too():
    text = (
        "SELECT ward, 100 * COUNT(*) / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY ward "
        "HAVING AVG(cost) > (SELECT AVG(cost) FROM visits)"
    )
    found = statement(text, 400, 7)
    assert [each.written for each in found.first] == ["(SELECT COUNT(*) FROM visits)", "(SELECT AVG(cost) FROM visits)"]
    assert "Fraction(400, 1)" in repr(found.columns)
    assert "Fraction(7, 1)" in repr(found.having)


def test_a_number_may_be_about_what_with_names_before():
    text = (
        "WITH adults AS (SELECT cost, age FROM visits WHERE age >= 18), "
        "dear AS (SELECT age FROM adults WHERE cost > (SELECT AVG(cost) FROM adults)) SELECT COUNT(*) AS n FROM dear"
    )
    assert statement(text, 3).first[0].statement.plan.source.predicate.same_as(Name("age") >= 18)


def test_which_keys_there_are_does_not_depend_on_a_noisy_number():
    text = "SELECT age, COUNT(*) AS n FROM visits WHERE age >= (SELECT AVG(age) FROM visits) AND age < 40 GROUP BY age"
    for number in (0, 20, 39, 200):
        assert [*statement(text, number).keys.columns[0].values] == [*range(40)]
    plain = read("SELECT age, COUNT(*) AS n FROM visits WHERE age >= 20 AND age < 40 GROUP BY age")
    assert [*plain.keys.columns[0].values] == [*range(20, 40)]


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("LEFT(city, 2) IN ('Be', 'Ge')", ("Be", "Ge")),
        ("LEFT(city, 2) = 'Be' OR LEFT(city, 2) = 'Ge'", ("Be", "Ge")),
        ("LEFT(city, 2) IN ('Be', 'Ge') AND NOT LEFT(city, 2) = 'Ge' AND age > 3", ("Be", "Ge")),
        ("LEFT(city, 3) IN ('Be', 'Ge')", None),
        ("LEFT(city, 2) IN ('Be', 'Ge') OR age > 3", None),
    ],
)
def test_conditions_on_an_expression_are_the_keys_of_groups_by_it(where, kept):
    found = read(f"SELECT LEFT(city, 2) AS c, COUNT(*) AS n FROM visits WHERE {where} GROUP BY LEFT(city, 2)")
    assert found.keys.columns[0].values == kept


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("cost > (SELECT AVG(s.nights) FROM stays s WHERE s.ward = visits.ward)", "its rows follow from the row"),
        ("cost > (SELECT AVG(cost) FROM visits GROUP BY ward)", "groups of groups"),
        ("cost > (SELECT AVG(cost), MIN(cost) FROM visits)", "has one column"),
        ("cost > (SELECT COUNT(*) > 5 FROM visits)", "has one column"),
        ("cost > (SELECT cost FROM visits)", "single rows"),
        ("cost > (SELECT AVG(cost) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits))", "stands in another one"),
        (" AND ".join(["cost > (SELECT AVG(cost) FROM visits)"] * 5), "at most 4 numbers"),
        ("ward = (SELECT AVG(cost) FROM visits)", "ward"),
        ("cost > (SELECT AVG(price) FROM visits)", "price"),
    ],
)
def test_what_is_no_number_is_refused_where_it_stands(where, why):
    with pytest.raises(SqlRefused, match=why):
        read(f"SELECT COUNT(*) AS n FROM visits WHERE {where}")


def test_a_noisy_number_has_nine_digits_within_limits():
    assert settled_number(Fraction(1, 3)) == Fraction(333333333, 10**9)
    assert settled_number(Fraction(-123456789123)) == -123456789000
    assert settled_number(Fraction(1, 10**12)) == 0
    assert settled_number(Fraction(10**40)) == LARGEST
    assert settled_number(Fraction(-(10**40))) == -LARGEST
