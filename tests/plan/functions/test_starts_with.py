"""starts_with(): some values, and its type."""

import pytest

from discreet.core.errors import Refusal
from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("t").starts_with("A"), "t", ["Ada", "ada", "Áda", "", None]) == [
        True,
        False,
        False,
        False,
        None,
    ]


def test_only_text_begins_with_something():
    with pytest.raises(Refusal, match="not text"):
        type_of(Name("n").starts_with("1"), COLUMNS)
