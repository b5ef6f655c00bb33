"""Allowance: what a budget buys, by the tightest curve, and never more of it than was asked for."""

from fractions import Fraction

import pytest

from discreet import Budget
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter
from discreet.learn.allowance import TrainingAllowance


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-6), (10, 1e-6), (1, 1e-9), (0.01, 1e-5)])
def test_a_run_keeps_its_epsilon_and_delta_and_uses_all_of_them(epsilon, delta):
    loss = TrainingAllowance.of(Budget(epsilon=epsilon, delta=delta)).loss
    assert 0.999 * epsilon < loss.epsilon(delta) <= epsilon
    assert loss.rho > 1.02 * TrainingAllowance.of(Budget(rho=by_zcdp(epsilon, delta))).loss.rho


def by_zcdp(epsilon, delta):
    low, high = 0.0, 10.0 * epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if Zcdp(middle).epsilon(delta) <= epsilon else (low, middle)
    return low


def test_pure_epsilon_and_rho_are_taken_as_they_are():
    assert TrainingAllowance.of(Budget(epsilon=0.3)).loss.peak == Fraction(3, 10)
    assert TrainingAllowance.of(Budget(rho=0.5)).loss.rho == Fraction(1, 2)
    assert TrainingAllowance.of(Budget(epsilon=1), "replace").loss.relation == "replace"


@pytest.mark.parametrize("budget", [Budget(epsilon=0.5), Budget(epsilon=1, delta=1e-6), Budget(rho=0.1)])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_parts_of_a_run_cost_together_no_more_than_all_of_it(budget, relation):
    allowance = TrainingAllowance.of(budget, relation)
    parts = [(Fraction(1, 50), 1), (Fraction(49, 50), 40)]
    paid = [
        allowance.noise(allowance.amount * share, l1=3, l2_squared=10**8, dimension=5, times=times).loss * times
        for share, times in parts
    ]
    together = paid[0] + paid[1]
    for delta in (0, 1e-6) if allowance.is_pure else (1e-3, 1e-6):
        assert together.epsilon(delta) <= allowance.loss.epsilon(delta) * (1 + 1e-9)


def test_a_budget_that_buys_nothing_is_refused():
    with pytest.raises(BadParameter, match="nothing to learn"):
        TrainingAllowance.of(Budget(epsilon=1e-14))
    with pytest.raises(BadParameter, match="nothing to learn"):
        TrainingAllowance.of(Budget(rho=1e-26))
