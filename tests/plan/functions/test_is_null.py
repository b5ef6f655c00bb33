"""is_null(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("n").is_null(), "n", [3, None]) == [False, True]


def test_it_is_never_null_itself():
    assert not type_of(Name("n").is_null(), COLUMNS).nullable
