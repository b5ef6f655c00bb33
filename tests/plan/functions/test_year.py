"""year(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("d").year(), "d", ["1970-01-01", "2024-12-31", None]) == [1970, 2024, None]


def test_its_bounds_are_those_of_the_days():
    assert type_of(Name("d").year(), COLUMNS).bounds == (1900, 2030)
