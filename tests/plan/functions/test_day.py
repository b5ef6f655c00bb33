"""day(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("d").day(), "d", ["1970-01-01", "2024-12-31", None]) == [1, 31, None]


def test_its_bounds_are_those_of_a_month():
    assert type_of(Name("d").day(), COLUMNS).bounds == (1, 31)
