"""Value codes: values in memory read as engines read them, one by one, and never failing."""

import datetime as dt
import math

import numpy as np
import pytest

import discreet as dp
from discreet.plan.value_codes import step_codes


class Odd:
    """A value whose every use fails."""

    def __hash__(self):
        raise RuntimeError("no hash")

    def __float__(self):
        raise RuntimeError("no number")


def test_numbers_are_clamped_and_rounded_to_steps_from_the_lower_bound():
    column = dp.between(-1, 2, step=0.5)
    values = [-9, -1, -0.3, 0, 0.25, 2, 99, math.inf, -math.inf, math.nan, None, "x", Odd()]
    assert step_codes(column, values).tolist() == [0, 0, 1, 2, 3, 6, 6, 6, 0, -1, -1, -1, -1]


def test_an_array_of_floats_is_read_as_its_values_one_by_one():
    column = dp.between(-1, 2, step=0.1)
    values = np.concatenate([np.linspace(-2, 3, 501), [np.nan, np.inf, -np.inf]])
    assert step_codes(column, values).tolist() == step_codes(column, values.tolist()).tolist()


@pytest.mark.parametrize(
    ("column", "values", "codes"),
    [
        (dp.one_of("a", "b"), ["b", "a", "c", None, Odd()], [1, 0, -1, -1, -1]),
        (dp.flag(), [True, False, None, "x"], [1, 0, -1, -1]),
        (dp.date(dt.date(2024, 1, 1), dt.date(2024, 1, 3)), [dt.date(2024, 1, 2), dt.date(1999, 1, 1), 7], [1, 0, -1]),
    ],
)
def test_keys_flags_and_days_are_numbered(column, values, codes):
    assert step_codes(column, values).tolist() == codes
