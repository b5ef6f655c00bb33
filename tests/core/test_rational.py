"""Numbers as written: the decimal a person typed, exactly."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.core.rational import as_written, parse_written, typed


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (-2.5, Fraction(-5, 2)),
        (1e-7, Fraction(1, 10**7)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.int64(7), Fraction(7)),
        (np.float64(0.1), Fraction(1, 10)),
        (-0.0, Fraction(0)),
    ],
)
def test_a_number_means_what_it_prints(value, meant):
    found = as_written("low", value)
    assert found == meant
    assert type(found.numerator) is int


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_and_its_text_mean_the_same(value):
    assert as_written("low", value) == parse_written("low", repr(value))


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), Decimal("nan"), Decimal("-inf"), Decimal("1e999999999")],
)
def test_what_is_not_finite_or_has_no_end_is_refused(value):
    with pytest.raises(BadParameter, match="finite") as refused:
        as_written("high", value)
    assert refused.value.value is value


@pytest.mark.parametrize("value", [True, False, "3", None, 1j, [1]])
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(BadParameter, match="not a number") as refused:
        as_written("high", value)
    assert refused.value.name == "high"


@pytest.mark.parametrize(
    ("text", "meant"), [("2", 2), ("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), (" 1e-6 ", Fraction(1, 10**6))]
)
def test_typed_text_is_read_exactly(text, meant):
    assert parse_written("scale", text) == meant


@pytest.mark.parametrize("text", ["", "x", "1/0", "1/2/3", "nan", "inf", "1e999999999", "1/"])
def test_text_that_is_no_number_is_refused(text):
    with pytest.raises(BadParameter) as refused:
        parse_written("scale", text)
    assert refused.value.name == "scale"


@pytest.mark.parametrize("value", [Fraction(1, 10**5000), Fraction(10**5000), -(10**4000), 10**801])
def test_a_rational_of_very_many_digits_is_refused_as_a_decimal_is(value):
    with pytest.raises(BadParameter, match="at most 800 digits") as refused:
        as_written("epsilon", value)
    assert refused.value.value is value
    assert str(refused.value)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_what_was_read_once_can_be_read_again(value):
    try:
        found = as_written("low", value)
    except BadParameter:
        return
    assert as_written("low", found) == found


@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(lambda each: Fraction(repr(each))))
def test_a_number_as_it_would_be_typed_means_the_same(value):
    assert as_written("low", typed(value)) == value


def test_fractions_are_typed_as_people_do():
    numbers = [Fraction(-1), Fraction(1, 1000), Fraction(1, 3), Fraction(10**100), 0.5, None]
    assert list(map(repr, map(typed, numbers))) == ["-1", "0.001", "Fraction(1, 3)", "1e+100", "0.5", "None"]
