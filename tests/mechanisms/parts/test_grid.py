"""Grids: integers in, integers out, and nothing in between that could wrap or raise."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.mechanisms.parts.grid import add, integers, on_grid, scaled, whole_steps

WIDE = st.integers(-(2**70), 2**70)
LONG = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(LONG, LONG), min_size=1, max_size=6))
def test_sums_are_exact_whatever_64_bits_would_do(pairs):
    one, other = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    total = add(one, other)
    assert total.tolist() == [a + b for a, b in pairs]
    assert (total.dtype == np.int64) == all(-(2**63) <= a + b < 2**63 for a, b in pairs)


@given(WIDE, st.lists(LONG, min_size=1, max_size=4))
def test_one_number_is_added_to_all(value, noise):
    assert add(value, np.array(noise, dtype=np.int64)).tolist() == [value + each for each in noise]
    assert add(value, noise[0]) == value + noise[0]


@given(st.lists(WIDE, min_size=1, max_size=4), st.fractions(Fraction(1, 1000), 1000))
def test_scaling_gives_the_nearest_floats(values, step):
    counted = integers(values)
    expected = values if step == 1 else [float(value * step) for value in values]
    assert np.asarray(scaled(counted, step)).tolist() == expected
    assert scaled(values[0], step) == expected[0]


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(5)]))
def test_rounding_to_the_grid_never_raises_and_is_nearest(value, step):
    steps = on_grid(value, step)
    if math.isfinite(value):
        assert abs(steps * step - Fraction(value)) <= step / 2
    assert on_grid(np.array([value]), step).tolist() == [steps]


@given(st.fractions(-1000, 1000), st.fractions(0, 10), st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(3, 7)]))
def test_rounding_parts_two_answers_by_no_more_whole_steps_than_declared(value, sensitivity, step):
    moved = on_grid(value + sensitivity, step) - on_grid(value, step)
    assert moved <= whole_steps(sensitivity, step)


DECIMALS = st.decimals(-1000, 1000, places=25)


@given(DECIMALS, DECIMALS, st.sampled_from([Decimal(1), Decimal("0.01"), Decimal("0.3")]))
def test_decimals_and_long_floats_are_rounded_as_the_numbers_they_are(one, other, step):
    steps = Fraction(step)
    assert abs(on_grid(one, steps) * steps - Fraction(one)) <= steps / 2
    assert abs(on_grid(one, steps) - on_grid(other, steps)) <= whole_steps(abs(Fraction(one) - Fraction(other)), steps)
    assert on_grid(np.longdouble("0.75"), Fraction(1, 4)) == 3


@pytest.mark.parametrize("text", ["NaN", "sNaN", "1e-999999", "0e999999"])
def test_decimals_that_say_nothing_count_as_zero(text):
    assert on_grid([Decimal(text), Decimal("2.5")], Fraction(1, 2)).tolist() == [0, 5]


def test_decimals_beyond_all_floats_count_as_the_largest():
    assert on_grid(Decimal("-1e999999"), Fraction(1)) == on_grid(-math.inf, Fraction(1))


@pytest.mark.parametrize(
    "exact",
    [np.array([True]), np.array(["1"]), np.array([1.0]), {1: 2}, object()],
    ids=lambda each: type(each).__name__,
)
def test_other_types_are_refused_without_their_values(exact):
    with pytest.raises(BadParameter, match="integers only") as refused:
        integers(exact)
    assert isinstance(refused.value.value, str)


def test_nested_lists_become_arrays():
    assert integers([[1, 2], [3, 2**70]]).shape == (2, 2)
    assert on_grid([[0.1, 0.2]], Fraction(1, 10)).tolist() == [[1, 2]]
    assert integers([]).shape == (0,)


@pytest.mark.parametrize("kind", ["int64", "uint64", "object"])
def test_what_an_engine_masks_counts_as_nothing_and_decides_no_type(kind):
    masked = np.ma.array([1, 50, 3], mask=[False, True, False], dtype=kind)
    found = integers(masked)
    assert type(found) is np.ndarray
    assert found.tolist() == [1, 0, 3]
