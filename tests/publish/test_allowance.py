"""Spending: parts of an allowance, exact noise of the stated scale, and never more than there is."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.mechanisms.gaussian import Gaussian
from discreet.publish.allowance import Allowance, Overspent, Spending
from discreet.publish.domain import Domain
from discreet.publish.kernels import FINE, distance, distances
from discreet.publish.methods.mst import shared
from discreet.testing import seeded
from tests.publish.worlds import made


def test_a_budget_with_a_delta_is_spent_in_rho_that_stays_within_it():
    allowance = Allowance.of(Budget(epsilon=1, delta=1e-9))
    assert allowance.currency == "rho"
    # The accountant rounds up, and so does the budget round down.
    assert allowance.loss.epsilon(1e-9) <= 1 + 1e-9
    assert allowance.loss.epsilon(1e-9) > 0.999


def test_a_budget_of_epsilon_alone_is_spent_in_epsilon():
    allowance = Allowance.of(Budget(epsilon=Fraction(1, 3)))
    assert allowance.loss == Pure(Fraction(1, 3))


@pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(rho=1)])
def test_no_more_is_spent_than_there_is(budget):
    purse = Spending(Allowance.of(budget))
    exact = np.zeros((2, 2), np.int64)
    for _ in range(4):
        purse.measure((0, 1), exact, Fraction(1, 4))
    assert purse.left == 0
    with pytest.raises(Overspent):
        purse.measure((0, 1), exact, Fraction(1, 10**9))
    with pytest.raises(Overspent):
        purse.choose(Exact([1, 2]), 1, Fraction(1, 10**9))


def test_parts_of_nothing_are_refused():
    with pytest.raises(Overspent):
        Spending(Allowance.of(Budget(rho=1))).measure((0,), np.zeros(2, np.int64), Fraction(0))


@pytest.mark.parametrize(("budget", "rows"), [(Budget(epsilon=1), 1), (Budget(rho=Fraction(1, 8)), 3)])
def test_the_noise_has_the_stated_scale_for_all_rows_of_a_person(budget, rows):
    """A sample variance of 200,000 draws within six standard errors of the stated one (2e-9 for Gaussian noise)."""
    with seeded(1):
        purse = Spending(Allowance.of(budget, rows))
        part = Fraction(1, 10)
        found = purse.measure((0,), np.zeros(200_000, np.int64), part)
    assert found.scale == pytest.approx(float(np.std(found.values)), rel=0.03)
    if purse.allowance.currency == "rho":
        loss = Gaussian(rho=part, sensitivity=rows, dimension=2).loss
        assert isinstance(loss, Zcdp)
        assert loss.rho <= part
        assert found.scale == pytest.approx(rows / np.sqrt(2 * float(part)))


def test_a_choice_costs_its_part_by_bounded_range():
    allowance = Allowance.of(Budget(rho=1))
    epsilon = allowance.chosen_for(Fraction(1, 50))
    assert epsilon**2 / 8 <= Fraction(1, 50) < (epsilon + Fraction(1, 1 << 50)) ** 2 / 8


def test_one_row_moves_a_distance_by_at_most_its_declared_sensitivity():
    generator = made(4)
    for _ in range(500):
        exact = generator.integers(0, 40, (3, 4))
        expected = generator.random((3, 4)) * 30
        more = exact.copy()
        more[generator.integers(3), generator.integers(4)] += 1
        assert abs(distance.function(more, expected) - distance.function(exact, expected)) <= FINE


def test_shares_add_up_exactly():
    domain = Domain.of({"a": 3, "b": 40, "c": 7})
    parts = shared(Fraction(1, 7), domain, [(0, 1), (1, 2), (0,)])
    assert sum(parts) == Fraction(1, 7)
    assert parts[1] > parts[0] > parts[2] > 0


@pytest.mark.parametrize("rows", [1.0, 1e15, 1.5e17, 1e18, 1e30, 1e300, float("inf"), float("nan")])
def test_a_row_moves_a_score_no_further_however_many_rows_noise_pretends(rows):
    """Beyond 2^63 an integer begins again below zero: one row would turn the best candidate into the worst."""
    expected = np.array([[rows, 0.0, -1e-9]])
    for cell in range(3):
        for before in ([[0, 0, 0]], [[5, 2, 9]]):
            exact = np.array(before, np.int64)
            more = exact.copy()
            more[0, cell] += 1
            one, other = (int(distances(table, expected)[0]) for table in (exact, more))
            assert abs(one - other) <= FINE
            assert 0 <= one < 1 << 62


@pytest.mark.parametrize("budget", [Budget(epsilon=Fraction(1, 10**13)), Budget(rho=Fraction(1, 10**400))])
def test_a_budget_of_nothing_but_noise_is_refused_before_anything_is_measured(budget):
    with pytest.raises(BadParameter, match="which no table has"):
        Allowance.of(budget)


@pytest.mark.parametrize("method", ["aim", "mst", "mwem", "smalldb", "merf", "tables", "independent"])
@pytest.mark.parametrize("budget", [Budget(epsilon=Fraction(1, 10**11)), Budget(rho=Fraction(1, 10**23))])
def test_a_synthetic_of_nearly_nothing_but_noise_is_synthetic_data(method, budget):
    columns = {"a": np.arange(30) % 3, "b": np.arange(30) % 2}
    for seed in range(3):
        with seeded(seed):
            synthetic = publish.synthesize(columns, {"a": 3, "b": 2}, budget=budget, method=method, workload=2)
            assert len(synthetic.codes(7)["a"]) == 7
