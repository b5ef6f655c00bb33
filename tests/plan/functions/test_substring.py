"""substring(): some values, its type, and its words in SQL."""

import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.plan.expressions import Name
from discreet.plan.functions.substring import MOST_PLACE
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed
from tests.plan.sql.tables import read


def test_it_is_computed_as_defined():
    values = ["Ada", "😀é", "", None, "x"]
    assert computed(Name("t").substring(1, 2), "t", values) == ["Ad", "😀é", "", None, "x"]
    assert computed(Name("t").substring(2, 9), "t", values) == ["da", "é", "", None, ""]


def test_of_declared_keys_the_parts_are_the_keys():
    wards = {"w": dp.one_of("A1", "A2", "B1").named("w"), "n": dp.one_of("A", "A2").named("n")}
    assert type_of(Name("w").substring(1, 1), wards).keys == ("A", "B")
    # One of them would be empty, which is no key.
    assert type_of(Name("n").substring(2, 1), wards).kind == "text"
    assert type_of(Name("t").substring(1, 2), COLUMNS).kind == "text"


@pytest.mark.parametrize("place", [(0, 2), (-1, 2), (1, 0), (1, -1), (1.5, 2), (1, MOST_PLACE + 1)])
def test_places_where_engines_differ_are_refused(place):
    with pytest.raises(Refusal, match="begins at, and is as long as"):
        type_of(Name("t").substring(*place), COLUMNS)


def test_only_text_has_parts():
    with pytest.raises(Refusal, match="not text"):
        type_of(Name("n").substring(1, 1), COLUMNS)


@pytest.mark.parametrize(
    "written", ["SUBSTRING(city, 1, 2)", "SUBSTRING(city FROM 1 FOR 2)", "substr(city, 1, 2)", "LEFT(city, 2)"]
)
def test_all_its_words_are_one_expression(written):
    plan = read(f"SELECT COUNT(*) AS n FROM visits WHERE {written} = 'Be'").plan
    assert plan.predicate.same_as(Name("city").substring(1, 2) == "Be")
