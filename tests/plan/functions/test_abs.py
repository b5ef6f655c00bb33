"""abs(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("n").abs(), "n", [-5, 0, 7, None]) == [5, 0, 7, None]


def test_its_bounds_are_of_one_sign():
    assert type_of(Name("n").abs(), COLUMNS).bounds == (0, 100)
