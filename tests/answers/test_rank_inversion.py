"""Rank inversion: cells around points, and intervals that hold the quantile of every fixed data set."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr

from discreet import noise
from discreet.answers.rank_inversion import cell_edges, rank_interval
from discreet.testing import seeded

DATA = {
    "nobody": [],
    "one row": [40],
    "one row at a bound": [100],
    "all at the low bound": [0] * 300,
    "all at the high bound": [100] * 300,
    "all alike inside": [7] * 300,
    "half at each bound": [0, 100] * 150,
    "few rows": [3, 50, 90],
    "many rows": [at * 37 % 101 for at in range(2000)],
}
SHARES = [Fraction(1, 10), Fraction(1, 2), Fraction(3, 4)]
RUNS = 100


@given(st.lists(st.integers(-20, 1000), min_size=1, max_size=9), st.integers(0, 30))
def test_cells_fill_the_grid_once_and_have_every_point_for_themselves(points, more):
    low, high = -20, 1000 + more
    points = sorted(points)
    edges = cell_edges(points, low, high)
    assert edges == sorted(set(edges))
    assert low <= edges[0]
    assert edges[-1] == high
    assert all(point in edges and (point == low or point - 1 in edges) for point in points)


def test_cells_are_few_whatever_the_grid():
    assert len(cell_edges([250], 0, 500)) < 40
    assert len(cell_edges([2**39], 0, 2**40)) < 80
    assert len(cell_edges(list(range(50, 500, 50)), 0, 500)) < 70


def truths(values, q):
    """All values that can be called the q-quantile, with as many below as they may have, or fewer, and enough up to."""
    ordered = np.sort(values)
    return [
        value
        for value in range(101)
        if np.searchsorted(ordered, value, "left") <= q * len(values) <= np.searchsorted(ordered, value, "right")
    ]


def most_misses(runs, beta):
    return next(k for k in range(runs + 1) if 1 - bdtr(k, runs, beta) < 1e-6)


def misses(name, q, law, level, runs, points):
    values = DATA[name]
    edges = cell_edges(points, 0, 100)
    counts = np.histogram(values, [0, *(edge + 1 for edge in edges)])[0]
    scale = Fraction(20)
    with seeded(5):
        drawn = getattr(noise, law)(scale, (runs, len(edges)))
    right = truths(values, q)
    found = [rank_interval((counts + each).tolist(), edges, 0, q, law, scale, level) or (0, 100) for each in drawn]
    return max(sum(not low <= value <= high for low, high in found) for value in (right[0], right[-1]))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("name", DATA)
def test_intervals_hold_every_quantile_of_every_data_set(name, law):
    for q in SHARES[::2]:
        for points in ([50], [3, 7, 100]):
            assert misses(name, q, law, 0.95, RUNS, points) <= most_misses(RUNS, 0.05), (q, points)


@pytest.mark.soak
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("name", DATA)
def test_intervals_hold_every_quantile_at_every_level(name, law, level):
    for q in SHARES:
        for points in ([50], [3, 7, 90], [0], [100]):
            assert misses(name, q, law, level, 4000, points) <= most_misses(4000, 1 - level), (q, points)


def test_many_rows_have_a_narrow_interval():
    edges = cell_edges([500], 0, 1000)
    counts = np.histogram(np.arange(100_000) % 1001, [0, *(edge + 1 for edge in edges)])[0]
    low, high = rank_interval(counts.tolist(), edges, 0, Fraction(1, 2), "laplace", Fraction(10))
    assert 450 < low <= 500 <= high < 550


def test_noise_that_contradicts_itself_leaves_all_that_lies_between():
    """The cell below which G is surely negative, and the one above which it is surely positive, never cross."""
    found = rank_interval([10**6, -(10**7), 10**6], [0, 50, 100], 0, Fraction(1, 2), "laplace", Fraction(1))
    assert found == (0, 100)
    found = rank_interval([-(10**7), 10**6, -(10**7)], [0, 50, 100], 0, Fraction(1, 2), "laplace", Fraction(1))
    assert found is not None
    assert found[0] <= found[1]
