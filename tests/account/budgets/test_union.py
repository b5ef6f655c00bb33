"""The union of filters: it admits all that a pure budget admits, nearly all Gaussian questions, and forgets nothing."""

import json
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import Approx, Budget, DiscreteGaussian, DiscreteLaplace, Gaussian, Pure, RandomizedResponse, Zcdp
from discreet.account.budgets.conversion import gaussian_budget, gaussian_delta
from discreet.account.budgets.cost import Uncountable, approximate_gaussian
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.budgets.filter import PrivacyFilter, PureFilter
from discreet.account.budgets.sums import GaussianSum, PureSum, RenyiSum
from discreet.account.budgets.union import UnionCost, UnionFilter
from discreet.account.losses.renyi import Renyi
from discreet.core.errors import BadParameter

MILLIONTH = Fraction(1, 10**6)
THREE = Budget(epsilon=3, delta=MILLIONTH)

losses = st.one_of(
    st.fractions(Fraction(1, 100), 2, max_denominator=100).map(Pure),
    st.fractions(Fraction(1, 100), 2, max_denominator=100).map(RandomizedResponse),
    st.integers(1, 60).map(DiscreteLaplace),
    st.tuples(st.integers(2, 90), st.integers(1, 4)).map(lambda pair: DiscreteLaplace(*pair)),
)


@given(st.lists(losses, max_size=12), st.sampled_from([Fraction(1, 2), 1, 3, 10]))
@settings(max_examples=40, deadline=None)
def test_whatever_a_pure_budget_admits_a_budget_with_a_delta_admits_too(asked, epsilon):
    pure, union = PureFilter(epsilon), Budget(epsilon=epsilon, delta=MILLIONTH).filter()
    for loss in asked:
        assert union.more(loss) >= pure.more(loss)
        if pure.fits(loss):
            pure, union = pure.admit(loss), union.admit(loss)


@pytest.mark.parametrize("epsilon", [1, 3])
def test_of_gaussian_questions_92_percent_of_what_would_fit_in_advance_are_admitted(epsilon):
    loss = DiscreteGaussian(30)
    admitted = Budget(epsilon=epsilon, delta=MILLIONTH).filter().more(loss)
    beyond = int(admitted / Fraction(92, 100)) + 1
    assert (loss * beyond).epsilon(MILLIONTH) > epsilon  # not even fixed in advance


def test_so_many_more_are_admitted_and_not_one_beyond():
    for loss in (Pure(Fraction(2, 7)), DiscreteGaussian(7), Zcdp(Fraction(1, 30)), Approx(Fraction(1, 9), 1e-8)):
        purse = THREE.filter()
        times = purse.more(loss)
        for _ in range(times):
            purse = purse.admit(loss)
        assert times > 1
        assert purse.more(loss) == 0
        assert not purse.fits(loss)


def test_the_parts_of_delta_are_stated_and_add_up_to_no_more_than_delta():
    made = THREE.filter()
    assert [type(each) for each in made.sums] == [PureSum, RenyiSum, RenyiSum, RenyiSum, GaussianSum]
    assert made.pool + sum(each.delta for each in made.sums) == MILLIONTH
    assert made.sums[0].delta == 0
    record = json.loads(made.to_json())["filter"]
    record["pool"] = str(Fraction(record["pool"]) + Fraction(1, 10**12))
    with pytest.raises(BadParameter, match="add up to more than delta"):
        UnionFilter.from_record(record)


def test_every_question_is_added_to_every_sum_and_what_exceeds_one_ends_it():
    after = THREE.filter().admit(Pure(Fraction(1, 10))).admit(Gaussian(20))
    assert [each is None for each in after.spent.losses] == [True, False, False, False, False]
    assert after.spent.texts()[0].startswith("inf ")
    for _ in range(after.more(Pure(Fraction(1, 10)))):
        after = after.admit(Pure(Fraction(1, 10)))
    ended = [each is None for each in after.spent.losses]
    assert ended.count(False) == 1
    again = PrivacyFilter.from_json(after.to_json())
    assert again == after
    assert not again.fits(Pure(Fraction(1, 10)))


def test_a_stored_sum_beyond_its_room_is_refused():
    record = json.loads(THREE.filter().admit(Pure(1)).to_json())["filter"]
    first, *others = record["spent"]["loss"].split()
    record["spent"]["loss"] = " ".join([str(Fraction(first) + 3), *others])
    with pytest.raises(BadParameter, match="more was spent"):
        UnionFilter.from_record(record)
    record["spent"]["loss"] = " ".join(others)
    with pytest.raises(BadParameter, match="one amount for each sum"):
        UnionFilter.from_record(record)


def test_a_stored_mu_beyond_its_share_of_delta_is_refused():
    record = json.loads(THREE.filter().to_json())["filter"]
    record["sums"][-1]["mu"] = str(Fraction(record["sums"][-1]["mu"]) * Fraction(1001, 1000))
    with pytest.raises(BadParameter, match="its delta at this epsilon is more"):
        UnionFilter.from_record(record)


def test_the_deltas_of_approximate_parts_come_from_one_pool():
    purse = THREE.filter().admit(Approx(Fraction(1, 10), Fraction(2, 10**7)))
    assert purse.spent.losses[0] is None  # the pure sum has no pool
    with pytest.raises(BudgetExceeded, match=r"delta 1e-7 requested: 5e-8 of 2\.5e-7 remains"):
        purse.admit(Approx(Fraction(1, 10), Fraction(1, 10**7)))
    assert purse.fits(Approx(Fraction(1, 10), Fraction(1, 4 * 10**7)))
    assert not THREE.filter().fits(Approx(0, MILLIONTH))


def test_what_may_fail_several_times_takes_its_delta_from_the_pool_as_often():
    thrice = Approx(Fraction(1, 100), Fraction(1, 10**7)) * 3
    assert THREE.filter().cost(thrice).delta == Fraction(3, 10**7)
    assert not THREE.filter().fits(thrice)  # of a pool of 2.5e-7
    assert THREE.filter().more(Approx(Fraction(1, 100), Fraction(1, 10**8)) * 3) == 8


def test_what_is_counted_again_ends_the_sums_that_it_exceeds():
    purse = THREE.filter()
    cost = purse.cost(Pure(Fraction(5, 2)))
    assert purse.holding(cost + cost).spent == purse.full
    assert purse.holding(cost).spent.losses[0] == Fraction(5, 2)
    assert purse.holding(purse.full).more(Pure(1)) == 0
    spilt = purse.holding(UnionCost(cost.losses, MILLIONTH))
    assert not spilt.fits(Zcdp(Fraction(1, 1000)))
    with pytest.raises(BudgetExceeded, match="raise the budget"):
        purse.holding(purse.full).admit(Pure(1))


def test_a_loss_that_no_sum_can_count_is_refused_as_such():
    with pytest.raises(Uncountable, match="none is known at order"):
        THREE.filter().fits(Renyi({2: Fraction(1, 10)}))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 10), 3, 100])
@pytest.mark.parametrize("delta", [Fraction(1, 2), MILLIONTH, Fraction(1, 10**60)])
def test_the_mu_that_a_budget_buys_is_the_largest_and_no_larger(epsilon, delta):
    mu = gaussian_budget(epsilon, delta)
    with mpmath.workdps(200):
        size, most = (mpmath.mpf(each.numerator) / each.denominator for each in (mu, Fraction(epsilon)))
        ratio = most / size
        true = mpmath.ncdf(size / 2 - ratio) - mpmath.exp(most) * mpmath.ncdf(-size / 2 - ratio)
        stated = gaussian_delta(mu, epsilon)
        assert true <= mpmath.mpf(stated.numerator) / stated.denominator <= true * (1 + mpmath.mpf(10) ** -30)
    assert stated <= delta < gaussian_delta(mu * (1 + Fraction(1, 10**6)), epsilon)


@pytest.mark.parametrize("sigma", [Fraction(5, 7), Fraction(1), Fraction(3, 2), Fraction(4), Fraction(8)])
def test_tests_of_discrete_gaussians_are_no_better_than_their_mu_says(sigma):
    mu_squared = DiscreteGaussian(sigma).mu_squared
    with mpmath.workdps(120):
        reach = int(14 * sigma * max(1, sigma / 4)) + 12
        exact = mpmath.mpf(sigma.numerator) / sigma.denominator
        masses = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * exact**2)) for x in range(-reach, reach + 80)]
        total = mpmath.fsum(masses)
        above, quantiles = mpmath.mpf(0), []
        for mass in reversed(masses[reach:]):  # quantiles of P(X >= k), k > 0, by Newton's method in logarithms
            above += mass / total
            quantiles.append(above)
        levels = [_normal_quantile(each) for each in quantiles[79:]][::-1]
        steps = [after - before for before, after in pairwise(levels)] + [2 * levels[0]]
        bound = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
        assert max(steps) <= bound
        assert bound <= max(steps) * (1 + mpmath.mpf(1) / (6 * exact**2))


def _normal_quantile(tail):
    """The t for which a normal variable exceeds t with that probability."""
    t = mpmath.sqrt(max(mpmath.mpf(0), -2 * mpmath.log(2 * tail)))
    for _ in range(60):
        chance = mpmath.ncdf(-t)
        step = (mpmath.log(chance) - mpmath.log(tail)) * chance / mpmath.npdf(t)
        t += step
        if abs(step) < mpmath.mpf(10) ** -60:
            return t
    raise AssertionError(tail)


def test_nothing_is_proved_of_very_narrow_discrete_gaussians():
    assert DiscreteGaussian(Fraction(7, 10)).mu_squared is None
    with pytest.raises(Uncountable):
        approximate_gaussian(DiscreteGaussian(Fraction(7, 10)))


@given(st.floats(1e-9, 40))
@settings(max_examples=30)
def test_pure_losses_cost_at_least_the_mu_of_randomized_response(epsilon):
    cost = approximate_gaussian(Pure(epsilon)).loss
    with mpmath.workdps(60):
        corner = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        assert corner <= mpmath.ncdf(mpmath.sqrt(mpmath.mpf(cost.numerator) / cost.denominator) / 2)
