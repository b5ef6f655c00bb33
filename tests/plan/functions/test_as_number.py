"""as_number(): some values, and its type."""

import pytest

from discreet.core.errors import Refusal
from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed


def test_it_is_computed_as_defined():
    assert computed(Name("f").as_number(), "f", [True, False, None]) == [1, 0, None]


def test_a_text_has_no_number():
    with pytest.raises(Refusal, match="number"):
        type_of(Name("t").as_number(), COLUMNS)
