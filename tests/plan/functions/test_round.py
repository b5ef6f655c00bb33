"""round(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("n").round(10), "n", [-15, -5, 5, 14, None]) == [-1, 0, 1, 1, None]


def test_it_has_the_step_that_is_asked_for():
    found = type_of(Name("n").round(10), COLUMNS)
    assert (found.bounds, found.step) == ((-100, 100), 10)
