"""Sum: the grid that values are put on, what one unit moves, the noise drawn, refusals."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Sum
from discreet.testing import seeded
from tests.mechanisms.raw import (
    COLUMNS,
    RELATIONS,
    STRANGE,
    check_error,
    check_fit,
    check_moves,
    check_total,
    neighbours,
)

BOUNDS = st.tuples(st.integers(-9, 9), st.integers(1, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.data(), BOUNDS, RELATIONS)
def test_one_row_moves_it_by_at_most_the_sensitivity(data, bounds, relation):
    mechanism = Sum(low=bounds[0], high=bounds[1], step=0.5, epsilon=1, relation=relation)
    tables = data.draw(neighbours(relation=relation))
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@pytest.mark.parametrize(
    ("low", "high", "relation", "steps"),
    [
        (0, 5, "add_remove", 5),
        (-7, 5, "add_remove", 7),
        (0, 5, "replace", 5),
        (-7, 5, "replace", 12),
        (3, 5, "replace", 5),
    ],
)
def test_the_sensitivity_depends_on_the_relation_and_is_attained(low, high, relation, steps):
    mechanism = Sum(low=low, high=high, epsilon=1, relation=relation)
    assert mechanism.sensitivity == steps
    assert mechanism.loss == DiscreteLaplace(Fraction(steps), steps, relation=relation)
    extremes = [mechanism.exact([value]) for value in (low, high, None)]
    reach = max(map(abs, extremes)) if relation == "add_remove" else max(extremes) - min(extremes)
    assert reach == steps


@given(COLUMNS)
def test_every_table_has_an_answer(values):
    check_total(Sum(low=-1, high=2.5, step=0.1, epsilon=1), values)


@pytest.mark.parametrize(
    "kind", ["float16", "float32", "float64", "int8", "uint8", "int64", "uint64", "bool", "object"]
)
def test_the_type_of_an_array_changes_nothing(kind):
    mechanism = Sum(low=-2, high=3, step=0.5, epsilon=1)
    assert mechanism.exact(np.array([0, 1, 1, 1], dtype=kind)) == 6


def test_rounding_is_that_of_floor_of_x_plus_a_half_and_bounds_are_snapped():
    mechanism = Sum(low=0, high=0.25, step=0.1, epsilon=1)
    assert mechanism.high == Fraction(1, 5)
    assert [mechanism.exact([value]) for value in (0.04, 0.05, 0.15, 0.25, 7, -3)] == [0, 1, 2, 2, 2, 0]


@given(st.integers(-(10**30), 10**30), st.sampled_from([1, 3, Fraction(1, 7), Fraction(5, 3)]))
def test_whole_numbers_are_rounded_without_floats(value, step):
    mechanism = Sum(low=-(2**40), high=2**40, step=step, epsilon=1)
    low, high = mechanism.grid.low, mechanism.grid.high
    expected = min(max(math.floor(Fraction(value) / Fraction(step) + Fraction(1, 2)), low), high)
    assert mechanism.exact([value]) == expected
    if abs(value) < 2**63:
        assert mechanism.exact(np.array([value], dtype=np.int64)) == expected


GRIDS = [
    (17 * 10**17, 17 * 10**17 + 10**5, 1000),
    (0, 2**53, 1),
    (2**52, 2**52 + 100, 1),
    (-(2**50), 2**50, Fraction(3, 7)),
    (-(2**49), 2**49, 3),
]


@given(st.sampled_from(GRIDS), st.lists(st.integers(0, 2**62), min_size=1, max_size=5))
def test_one_missing_value_does_not_decide_how_pandas_reads_the_others(grid, values):
    low, high, step = grid
    mechanism = Sum(low=low, high=high, step=step, epsilon=1)
    held = [low - 3 + value % (high - low + 7) for value in values]
    assert mechanism.exact(pd.Series(held)) == mechanism.exact(pd.Series([*held, None]))


def test_strange_values_change_nothing_but_their_own_contribution():
    mechanism = Sum(low=0, high=10, epsilon=1)
    alone = [mechanism.exact([value]) for value in STRANGE]
    assert all(0 <= each <= 10 for each in alone)
    assert mechanism.exact([*STRANGE, 4, 5]) == sum(alone) + 9


def test_sums_do_not_wrap():
    mechanism = Sum(low=0, high=2**53, epsilon=1)
    assert mechanism.exact(np.full(5000, 2**62)) == 5000 * 2**53
    assert abs(mechanism.release(5000 * 2**53) - 5000 * 2**53) < 2**60


def test_neighbours_of_large_values_stay_as_near_as_declared():
    # Floats near 2**53 round; a float sum of these would move by 2048 where 8 is claimed.
    mechanism = Sum(low=2**53 - 8, high=2**53, epsilon=1)
    values = [float(2**53 - 8 + place % 9) for place in range(1024)]
    assert mechanism.exact(values) - mechanism.exact(values[1:]) == int(values[0])


def test_answers_have_the_exact_distribution():
    mechanism = Sum(low=-2, high=3, step=0.5, epsilon=2)
    with seeded(5):
        answers = mechanism.releases(7, 100_000)
    check_fit(answers.tolist(), mechanism.chances(7))


def test_the_error_is_in_units_of_the_values():
    mechanism = Sum(low=0, high=1, step=0.1, epsilon=0.5)
    assert check_error(mechanism, 40, lambda answer: abs(answer - 4.0)) > 0.05


def test_answers_are_whole_where_the_step_is():
    assert isinstance(Sum(low=0, high=10, step=5, epsilon=1).release(1), int)
    assert isinstance(Sum(low=0, high=10, step=0.5, epsilon=1).release(1), float)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"low": 3, "high": 1}, "low"),
        ({"low": 1, "high": 1}, "high"),
        ({"low": 0, "high": 0.5}, "high"),
        ({"low": 0, "high": 1, "step": 0}, "step"),
        ({"low": 0, "high": 1, "step": 1e-20}, "step"),
        ({"low": 0, "high": float("inf")}, "high"),
        ({"low": True, "high": 2}, "low"),
    ],
)
def test_bad_bounds_are_refused_by_name(given, name):
    with pytest.raises(BadParameter) as caught:
        Sum(epsilon=1, **given)
    assert caught.value.name == name
