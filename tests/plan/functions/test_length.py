"""length(): some values, and its type."""

from discreet.plan.expressions import Name
from discreet.plan.functions.length import MOST_LENGTH
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("t").length(), "t", ["Ada", "😀é", "", None]) == [3, 3, 0, None]


def test_it_is_bounded_by_what_no_text_is_longer_than():
    assert type_of(Name("t").length(), COLUMNS).bounds == (0, MOST_LENGTH)
