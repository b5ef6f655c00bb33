"""CDF: bins, the tree that counts, least squares against the textbook solution, monotone answers, error."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Cdf, Linear
from discreet.mechanisms.cdf import best_branching, consistent, depth, monotone
from discreet.testing import seeded
from tests.mechanisms.raw import COLUMNS, check_error, check_moves, check_noise, check_total, neighbours


@given(st.data(), st.sampled_from(["add_remove", "replace"]), st.sampled_from([2, 3, None]))
def test_one_row_moves_the_tree_by_at_most_the_sensitivity(data, relation, branching):
    mechanism = Cdf(thresholds=(-2, 0, 0.5, 3), branching=branching, epsilon=1, relation=relation)
    tables = data.draw(neighbours(relation=relation))
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(COLUMNS)
def test_every_table_has_an_answer_that_rises(values):
    answer = check_total(Cdf(thresholds=(-2, 0, 0.5, 3), epsilon=1), values)
    assert answer.shape == (5,)
    assert (np.diff(answer) >= 0).all()
    assert answer[0] >= 0


def test_a_value_at_a_threshold_is_counted_by_it():
    mechanism = Cdf(thresholds=(1, 2), epsilon=1)
    assert mechanism.exact([1, 1.5, 2, 3, None, 10**400, float("-inf")]).tolist() == [2, 2, 2]


def tree(branching, levels):
    """The matrix of all nodes over the leaves, level by level from the top."""
    size = branching**levels
    return np.concatenate([np.kron(np.eye(branching**k), np.ones(size // branching**k)) for k in range(1, levels + 1)])


@pytest.mark.parametrize(("branching", "levels"), [(2, 1), (2, 4), (3, 3), (5, 2)])
def test_consistency_is_least_squares(branching, levels):
    nodes = tree(branching, levels)
    noisy = np.sin(np.arange(len(nodes)) * 12.9898) * 50
    solved = np.linalg.lstsq(nodes, noisy, rcond=None)[0]
    assert consistent(noisy, branching, levels) == pytest.approx(solved)


@pytest.mark.parametrize(("branching", "levels"), [(2, 4), (3, 3), (5, 2)])
def test_prefixes_weigh_no_node_by_more_than_one_and_vary_as_little_as_stated(branching, levels):
    # The two facts that the proof of the error rests on, for every prefix.
    weights = np.cumsum(consistent(np.eye(len(tree(branching, levels))), branching, levels), axis=-1)
    assert np.abs(weights).max() <= 1 + 1e-12
    assert (weights**2).sum(axis=0).max() <= (branching - 1) * levels + 1e-9


@given(st.lists(st.floats(-100, 100), min_size=1), st.lists(st.floats(0, 9), min_size=1))
def test_making_sums_monotone_moves_none_away_from_a_monotone_truth(sums, steps):
    size = min(len(sums), len(steps))
    truth, noisy = np.cumsum(steps[:size]), np.array(sums[:size])
    assert np.abs(monotone(noisy) - truth).max() <= np.abs(noisy - truth).max() + 1e-9


def test_the_loss_is_one_count_for_each_level():
    mechanism = Cdf(thresholds=range(1, 16), branching=4, epsilon=1)
    assert mechanism.levels == 2
    assert mechanism.loss == DiscreteLaplace(2, 1) * 2
    replaced = Cdf(thresholds=range(1, 16), branching=4, epsilon=1, relation="replace")
    assert replaced.loss == DiscreteLaplace(4, 1, relation="replace") * 4
    assert Cdf(thresholds=(1, 2), rho=0.5, contributions=2).loss.zcdp() <= 0.5


@given(st.integers(2, 5000))
def test_the_branching_is_the_best_of_all(bins):
    chosen = best_branching(bins)
    assert chosen ** depth(bins, chosen) >= bins
    for other in (2, 3, 4, 8, 16, 64):
        if other <= bins:
            assert (chosen - 1) * depth(bins, chosen) ** 3 <= (other - 1) * depth(bins, other) ** 3


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.2}])
def test_the_noise_has_the_exact_distribution(price):
    check_noise(Cdf(thresholds=(1, 2, 3), branching=2, **price), [2, 1, 0, 3], count=20_000)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.2}])
def test_the_error_holds_for_all_thresholds_together(price):
    mechanism = Cdf(thresholds=range(1, 64), **price)
    bins = np.arange(64)
    check_error(mechanism, bins, lambda answer: np.abs(answer - np.cumsum(bins)).max(), count=1000)


def test_over_many_thresholds_the_tree_beats_noise_on_every_sum():
    cells = 256
    bins, truth = np.full(cells, 10), 10 * np.arange(1, cells + 1)
    prefix = np.tri(cells, dtype=int)
    with seeded(11):
        tree_error = np.sqrt(((Cdf(thresholds=range(1, cells), epsilon=1).releases(bins, 50) - truth) ** 2).mean())
        flat = Linear(matrix=prefix, epsilon=1)
        flat_error = np.sqrt(((flat.releases(flat.exact(bins), 50) - truth) ** 2).mean())
    assert tree_error * 8 < flat_error


def test_one_threshold_needs_no_tree():
    mechanism = Cdf(thresholds=0.5, epsilon=1)
    assert (mechanism.branching, mechanism.levels) == (2, 1)
    assert math.isfinite(mechanism.error())


@pytest.mark.parametrize("thresholds", [(), (1, 1), (2, 1), (float("nan"),), ("a",)])
def test_bad_thresholds_are_refused(thresholds):
    with pytest.raises(BadParameter, match="thresholds"):
        Cdf(thresholds=thresholds, epsilon=1)


def test_a_tree_that_does_not_branch_is_refused():
    with pytest.raises(BadParameter, match="branching"):
        Cdf(thresholds=(1, 2), branching=1, epsilon=1)
