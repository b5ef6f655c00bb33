"""Composition theorems: the numbers of the lectures, the truth in 200-bit arithmetic, and what is refused."""

import math
import time
from decimal import Decimal
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.budgets.compose import advanced, basic, basic_sum, optimal, strong
from discreet.account.losses.four_point import FourPoint
from discreet.account.numeric.binomial import MOST, log_factorial
from discreet.account.numeric.rounding import decimal, precise, up, zeros
from discreet.core.errors import BadParameter

TENTH = Fraction(1, 10)
BITS = 300
THEOREMS = [basic, strong, advanced, optimal]


@cache
def masses(k, epsilon):
    """P_l of k-fold randomized response, at BITS bits, with the losses they come with."""
    with mpmath.workprec(BITS):
        each = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        x = mpmath.exp(-each)
        return [(mpmath.binomial(k, lies) * x**lies / (1 + x) ** k, (k - 2 * lies) * each) for lies in range(k + 1)]


def true_delta(k, epsilon, target):
    """The hockey-stick divergence of k-fold randomized response, summed term by term from its definition."""
    with mpmath.workprec(BITS):
        excess = (mass * (1 - mpmath.exp(target - loss)) for mass, loss in masses(k, epsilon) if loss > target)
        return mpmath.fsum(excess)


def test_the_lectures_numbers_are_reproduced():
    figures = [basic(100, TENTH), strong(100, TENTH, slack=1e-6), advanced(100, TENTH, slack=1e-6)]
    assert figures[0] == (10.0, 0.0)
    assert [round(figure.epsilon, 2) for figure in figures[1:]] == [6.31, 5.76]
    assert round(optimal(100, TENTH, slack=1e-6).epsilon, 3) == 4.775


def test_the_drift_is_not_the_slip_that_adds_where_it_should_subtract():
    # THEORY.md E10: k epsilon (e^epsilon + 1), as one lecture has it, would make 26.3 of these.
    slip = 0.1 * math.sqrt(200 * math.log(1e6)) + 100 * 0.1 * (math.exp(0.1) + 1)
    assert round(slip, 1) == 26.3
    assert advanced(100, TENTH, slack=1e-6).epsilon < strong(100, TENTH, slack=1e-6).epsilon < 7


@pytest.mark.parametrize(("slack", "epsilon"), [(1e-6, "19.34467145"), (1e-10, "24.40669539"), (1e-12, "26.52918692")])
def test_a_thousand_randomized_responses_cost_what_is_known(slack, epsilon):
    assert f"{optimal(1000, TENTH, slack=slack).epsilon:.8f}" == epsilon


@pytest.mark.parametrize("slack", [1e-6, 1e-9, 1e-12, 1e-15, 1e-40])
@pytest.mark.parametrize("epsilon", [TENTH, 1e-3, 2.5])
def test_optimal_is_never_below_the_truth_and_within_a_few_units_in_the_last_place(slack, epsilon):
    found = optimal(300, epsilon, slack=slack).epsilon
    assert true_delta(300, epsilon, found) <= slack
    assert true_delta(300, epsilon, found * (1 - 1e-15)) > slack


@given(
    k=st.integers(1, 60),
    epsilon=st.floats(1e-12, 60) | st.fractions(Fraction(1, 10**6), 4),
    slack=st.floats(1e-30, 0.999),
)
@settings(max_examples=60, deadline=None)
def test_optimal_is_the_least_epsilon_on_the_whole_line(k, epsilon, slack):
    found = optimal(k, epsilon, slack=slack).epsilon
    assert true_delta(k, epsilon, found) <= slack
    if found > 0:
        assert true_delta(k, epsilon, found * (1 - 1e-12)) > slack


@given(k=st.integers(1, 500), epsilon=st.floats(1e-6, 3), slack=st.floats(1e-12, 0.5))
@settings(max_examples=60, deadline=None)
def test_the_theorems_are_ordered_as_their_proofs_say(k, epsilon, slack):
    best, root, first = (rule(k, epsilon, slack=slack).epsilon for rule in (optimal, advanced, strong))
    assert best <= basic(k, epsilon).epsilon
    assert best <= root <= first


def test_advanced_alone_may_exceed_basic_for_few_mechanisms():
    assert round(advanced(20, TENTH, slack=1e-6).epsilon, 2) == 2.45
    assert basic(20, TENTH).epsilon == 2


@given(k=st.integers(1, 10**6), epsilon=st.floats(1e-300, 50), slack=st.floats(1e-300, 0.9))
@settings(max_examples=60, deadline=None)
def test_the_square_root_theorems_are_their_formulas_rounded_up(k, epsilon, slack):
    with mpmath.workprec(2400):
        each = mpmath.mpf(epsilon)
        deviation = each * mpmath.sqrt(2 * k * mpmath.log(1 / mpmath.mpf(slack)))
        truths = [deviation + k * each * mpmath.tanh(each / 2), deviation + k * each * mpmath.expm1(each)]
        for rule, truth in zip((advanced, strong), truths, strict=True):
            found = rule(k, epsilon, slack=slack).epsilon
            assert found >= truth
            assert math.nextafter(found, 0) < truth


def test_deltas_add_by_sum_and_by_the_exact_union():
    assert basic(10, 0.1, 1e-9).delta == up(10 * Fraction(1e-9))
    assert advanced(10, 0.1, 1e-9, slack=1e-6).delta == up(10 * Fraction(1e-9) + Fraction(1e-6))
    delta, slack = Fraction(1, 10), Fraction(1, 5)
    assert optimal(3, 1, delta, slack=slack).delta == up(1 - (1 - delta) ** 3 * (1 - slack))


@given(k=st.integers(1, 90), delta=st.floats(1e-290, 0.9), slack=st.just(0) | st.floats(1e-290, 0.9))
@settings(max_examples=60, deadline=None)
def test_the_union_of_failures_is_rounded_up_from_the_truth(k, delta, slack):
    truth = 1 - (1 - Fraction(delta)) ** k * (1 - Fraction(slack))
    found = optimal(k, 0, delta, slack=slack).delta
    assert Fraction(found) >= truth or found == 1
    assert Fraction(found) <= truth * (1 + Fraction(2, 2**52))


def test_many_failures_never_add_to_more_than_one():
    assert basic(10**6, 1, 0.5).delta == advanced(10**6, 1, 0.5, slack=0.1).delta == 1
    assert optimal(10**5, 1, 0.5, slack=0.1).delta == 1


def test_unlike_mechanisms_add_their_losses():
    parts = [(Fraction(1, 3), Fraction(1, 10)), (Fraction(2, 3), 0), (2, 0)]
    assert basic_sum(parts) == (3.0, 0.1)
    assert basic_sum([(TENTH, 0)] * 100) == basic(100, TENTH)
    assert basic_sum([]) == (0.0, 0.0)


@pytest.mark.parametrize("k", [10**4, 10**6])
def test_a_million_compositions_agree_with_the_normal_limit_and_are_quick(k):
    # Losses of randomized response at epsilon = 1/sqrt(k) tend to those of a Gaussian at mu = 1: 4.88655 at 1e-6.
    started = time.perf_counter()
    found = optimal(k, 1 / math.sqrt(k), slack=1e-6).epsilon
    assert time.perf_counter() - started < 10
    assert found == pytest.approx(4.88655, rel=2 / math.sqrt(k))


def test_extreme_parameters_give_finite_and_sensible_numbers():
    assert optimal(5, 1e5, slack=0.2).epsilon == pytest.approx(5e5 + math.log(0.8), rel=1e-15)
    assert optimal(100, 1e-300, slack=1e-6).epsilon == 0
    assert 0 < optimal(100, 1e-300, slack=1e-302).epsilon < 1e-298
    assert optimal(100, 0.1, slack=0).epsilon == basic(100, 0.1).epsilon
    assert optimal(100, 0, slack=0.1) == (0, 0.1)
    assert advanced(100, 0, slack=0.1) == (0, 0.1)
    assert strong(3, 1e6, slack=0.1).epsilon == math.inf  # no float is that large; the theorem says no less


def test_more_compositions_than_can_be_summed_are_refused():
    with pytest.raises(BadParameter, match="too long") as refusal:
        optimal(MOST + 1, 0.1, slack=1e-6)
    assert refusal.value.value == MOST + 1


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("k", value) for value in (0, -1, 2.5, 2.0, True, "3", None)),
        *(("epsilon", value) for value in (-0.1, math.nan, math.inf, True, "1", None, 1j)),
        *(("delta", value) for value in (-1e-9, 1, 1.5, math.nan, True)),
    ],
)
def test_nonsense_is_refused_by_name_with_its_value_and_a_fix(theorem, name, value):
    given = {"k": 2, "epsilon": 0.1, "delta": 0} | ({} if theorem is basic else {"slack": 1e-6}) | {name: value}
    with pytest.raises(BadParameter) as refusal:
        theorem(**given)
    assert refusal.value.name == name
    assert refusal.value.value is value
    assert refusal.value.fix.startswith("use ")


@pytest.mark.parametrize("theorem", [strong, advanced])
@pytest.mark.parametrize("slack", [0, 1, -1e-9, math.nan])
def test_the_square_root_needs_a_positive_slack(theorem, slack):
    with pytest.raises(BadParameter) as refusal:
        theorem(2, 0.1, slack=slack)
    assert refusal.value.name == "slack"


def test_numbers_of_numpy_count_as_numbers():
    assert basic(np.int64(10), np.float64(0.5)) == basic(10, 0.5)


@pytest.mark.parametrize("n", [0, 1, 3999, 4000, 10**5, 10**8])
def test_the_logarithm_of_a_factorial_has_sixty_digits(n):
    with mpmath.workprec(400), precise(80):
        difference = mpmath.mpf(str(log_factorial(n))) - mpmath.loggamma(n + 1)
        assert abs(difference) < mpmath.mpf("1e-58")


@given(st.fractions(Fraction(1, 10**400), 10**5))
@settings(max_examples=50)
def test_leading_zeros_are_counted_with_none_missed(value):
    assert zeros(value) >= 0
    assert value * 10 ** zeros(value) >= Fraction(1, 10)
    with precise(50):
        assert abs(Fraction(decimal(value)) / value - 1) < Fraction(1, 10**48)


@pytest.mark.parametrize(
    "value",
    [0.1, 10**400, -(10**400), *(Fraction(*pair) for pair in [(1, 2), (1, 3), (-1, 3), (1, 10**400), (-1, 10**400)])]
    + [Decimal(text) for text in ("0.1", "1e500", "-1e500", "1e-500", "-1e-500")],
)
def test_rounding_up_gives_the_least_float_not_below(value):
    found = up(value)
    assert found >= value
    assert math.nextafter(found, -math.inf) < value


# The four-point mechanism.


def test_the_four_points_have_the_probabilities_of_the_table():
    worst = FourPoint(math.log(3), 0.2)
    assert worst.u == pytest.approx((0.2, 0.6, 0.2, 0.0))
    assert worst.v == worst.u[::-1]
    assert math.fsum(worst.u) == pytest.approx(1)


@given(epsilon=st.floats(0, 5), delta=st.floats(0, 0.99))
def test_the_four_point_mechanism_attains_its_epsilon_and_delta_exactly(epsilon, delta):
    worst = FourPoint(epsilon, delta)
    excess = math.fsum(max(0.0, u - math.exp(epsilon) * v) for u, v in zip(worst.u, worst.v, strict=True))
    assert excess == pytest.approx(delta, abs=1e-12)


def test_composing_the_four_point_mechanism_outcome_by_outcome_gives_optimal_composition():
    k, epsilon, delta, target = 4, 0.7, 0.05, 1.1
    u, v = FourPoint(epsilon, delta).u, FourPoint(epsilon, delta).v
    ways = [(1.0, 1.0)]
    for _ in range(k):
        ways = [(p * a, q * b) for p, q in ways for a, b in zip(u, v, strict=True)]
    total = math.fsum(max(0.0, p - math.exp(target) * q) for p, q in ways)
    slack = 1 - (1 - total) / (1 - delta) ** k
    found = optimal(k, epsilon, delta, slack=slack)
    assert found.epsilon == pytest.approx(target, rel=1e-9)
    assert found.delta == pytest.approx(total, rel=1e-9)


distributions = st.lists(st.floats(1e-6, 1), min_size=2, max_size=6).map(
    lambda weights: [weight / math.fsum(weights) for weight in weights]
)


@given(data=st.data(), epsilon=st.floats(0, 3), spare=st.floats(0, 1))
@settings(max_examples=200)
def test_any_pair_of_distributions_is_a_post_processing_of_the_four_points(data, epsilon, spare):
    p = data.draw(distributions)
    q = data.draw(distributions.filter(lambda other: len(other) == len(p)) | st.permutations(p))
    odds = math.exp(epsilon)
    least = max(
        math.fsum(max(0.0, a - odds * b) for a, b in zip(first, second, strict=True))
        for first, second in ((p, q), (q, p))
    )
    delta = least + spare * (1 - least) * 0.99
    worst = FourPoint(epsilon, delta)
    maps = worst.reduction(p, q)
    # The map turns U into P and V into Q, and not the other way about (THEORY.md E27).
    for weights, target in ((worst.u, p), (worst.v, q)):
        mixed = [math.fsum(w * row[j] for w, row in zip(weights, maps, strict=True)) for j in range(len(p))]
        assert mixed == pytest.approx(target, abs=1e-9)
    assert all(min(row) >= 0 and math.fsum(row) == pytest.approx(1) for row in maps)


def test_a_pair_that_is_not_private_enough_has_no_reduction():
    with pytest.raises(BadParameter, match=r"delta of at least 0\.4"):
        FourPoint(0, 0.1).reduction([0.9, 0.1], [0.5, 0.5])
    with pytest.raises(BadParameter, match=r"sums to 1\.1"):
        FourPoint(1).reduction([0.6, 0.5], [0.5, 0.5])
    with pytest.raises(BadParameter, match="3 outcomes"):
        FourPoint(1).reduction([0.2, 0.3, 0.5], [0.5, 0.5])
