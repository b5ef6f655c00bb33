"""fill_null(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("n").fill_null(7), "n", [3, None]) == [3, 7]


def test_its_bounds_hold_both():
    assert type_of(Name("n").fill_null(500), COLUMNS).bounds == (-100, 500)
