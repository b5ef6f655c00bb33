"""weekday(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("d").weekday(), "d", ["2024-02-26", "2024-03-03", "1969-12-31", None]) == [1, 7, 3, None]


def test_its_bounds_are_those_of_a_week():
    assert type_of(Name("d").weekday(), COLUMNS).bounds == (1, 7)
