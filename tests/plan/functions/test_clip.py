"""clip(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("n").clip(-10, 20), "n", [-50, 0, 50, None]) == [-10, 0, 20, None]


def test_its_bounds_are_those_given_within_those_of_the_column():
    assert type_of(Name("n").clip(-10, 500), COLUMNS).bounds == (-10, 100)
