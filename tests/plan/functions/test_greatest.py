"""greatest(): some values, and its type."""

from discreet.plan.expressions import Name, greatest
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(greatest(Name("n"), 2), "n", [-50, 3, None]) == [2, 3, None]


def test_its_bounds_are_the_greatest_of_both():
    assert type_of(greatest(Name("n"), 2), COLUMNS).bounds == (2, 100)
