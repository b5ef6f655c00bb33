"""like(): some values, its type, and patterns that engines would read differently."""

import pytest

from discreet.core.errors import BadParameter, Refusal
from discreet.plan.expressions import Name
from discreet.plan.types import type_of
from tests.plan.functions.columns import COLUMNS, computed

TEXTS = ["special requests", "requests special", "aspecialx requestsb", "Special requests", "specialrequests", "", None]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("%special%requests%", [True, False, True, False, True, False, None]),
        ("special%", [True, False, False, False, True, False, None]),
        ("%requests", [True, False, False, True, True, False, None]),
        ("special%requests", [True, False, False, False, True, False, None]),
        ("%", [True, True, True, True, True, True, None]),
        ("%ss%", [False, False, False, False, False, False, None]),
        ("special%special", [False] * 6 + [None]),
    ],
)
def test_it_is_computed_as_defined(pattern, found):
    assert computed(Name("t").like(pattern), "t", TEXTS) == found


def test_only_text_matches_a_pattern():
    with pytest.raises(Refusal, match="not text"):
        type_of(Name("n").like("%1%"), COLUMNS)


@pytest.mark.parametrize("pattern", ["a_b%", "%a\\%", "%a%b%c%d%e%"])
def test_what_engines_would_read_differently_is_refused(pattern):
    with pytest.raises(BadParameter, match="pieces"):
        type_of(Name("t").like(pattern), COLUMNS)
