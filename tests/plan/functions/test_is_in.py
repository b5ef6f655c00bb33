"""is_in(): some values, and its type."""

import pytest

from discreet.core.errors import Refusal
from discreet.plan.expressions import Name
from tests.plan.functions.columns import computed


def test_it_is_computed_as_defined():
    assert computed(Name("n").is_in([3, 99, 1.5]), "n", [3, 4, None]) == [True, False, None]


def test_a_column_is_no_constant():
    with pytest.raises(Refusal, match="constants"):
        Name("n").is_in([Name("n")])
