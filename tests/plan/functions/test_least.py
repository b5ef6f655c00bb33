"""least(): some values, and its type."""

from discreet.plan.expressions import Name, least
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(least(Name("n"), 2), "n", [-50, 3, None]) == [-50, 2, None]


def test_its_bounds_are_the_least_of_both():
    assert type_of(least(Name("n"), 2), COLUMNS).bounds == (-100, 2)
