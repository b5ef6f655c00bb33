"""Shuffling: the clones' curve against exact sums, against real shuffled reports, and as a loss in budgets."""

import itertools
import json
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.account import ApproxFilter, PrivacyLoss, Pure
from discreet.account.losses.shuffle import Shuffled, closed_epsilon, local_epsilon, shuffled_epsilon
from discreet.account.numeric.shuffle_bounds import Clones
from discreet.core.errors import BadParameter, UnknownName


def truth(epsilon0, n, epsilon, theorem="2023"):
    """delta of the two worlds, from their definition, in many digits."""
    with mp.workdps(60):
        p = mp.exp(mpf(epsilon0))
        rate = 1 / p if theorem == "2021" else 2 / (p + 1)
        total = mpf(0)
        for c in range(n):
            weight = mp.binomial(n - 1, c) * rate**c * (1 - rate) ** (n - 1 - c)
            for a in range(c + 2):
                hers = mp.binomial(c, a - 1) / mpf(2) ** c if a else mpf(0)
                not_hers = mp.binomial(c, a) / mpf(2) ** c
                first, second = (p * hers + not_hers) / (p + 1), (hers + p * not_hers) / (p + 1)
                total += weight * max(mpf(0), first - mp.exp(mpf(epsilon)) * second)
        return total


@pytest.mark.parametrize("theorem", ["2021", "2023"])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize(("epsilon0", "epsilon"), [(1.0, 0.0), (1.0, 0.3), (4.0, 0.5), (4.0, 3.9), (0.1, 0.05)])
def test_the_curve_encloses_exact_sums(epsilon0, epsilon, n, theorem):
    low, high = Clones(epsilon0, n, theorem).delta(epsilon)
    exact = truth(epsilon0, n, epsilon, theorem)
    assert low <= exact <= high
    assert high - low <= 1e-9 * high + 2e-30


@pytest.mark.parametrize("n", [300, 5000])
def test_the_curve_encloses_sums_over_many_clones(n):
    # delta_c from its definition, by floats of the regularised incomplete beta function, good to 1e-10
    from scipy.special import betainc, gammaln

    epsilon0, epsilon = 1.5, 0.2
    p, c = math.exp(epsilon0), np.arange(n, dtype=float)
    rate = 2 / (p + 1)
    weights = np.exp(
        gammaln(n) - gammaln(c + 1) - gammaln(n - c) + c * math.log(rate) + (n - 1 - c) * math.log1p(-rate)
    )
    t = np.floor((c + 1) * (math.exp(epsilon + epsilon0) - 1) / ((p - 1) * (1 + math.exp(epsilon)))) + 1
    above = np.where(t > c, 0.0, betainc(np.maximum(t, 1), np.maximum(c - t + 1, 1e-300), 0.5))
    before = np.where(t - 1 > c, 0.0, betainc(np.maximum(t - 1, 1), np.maximum(c - t + 2, 1e-300), 0.5))
    before = np.where(t - 1 <= 0, 1.0, before)
    truth_share, lie_share = p / (p + 1), 1 / (p + 1)
    each = (truth_share - math.exp(epsilon) * lie_share) * before + (
        lie_share - math.exp(epsilon) * truth_share
    ) * above
    exact = float(weights @ each)
    low, high = Clones(epsilon0, n).delta(epsilon)
    assert low * (1 - 1e-8) <= exact <= high * (1 + 1e-8)
    assert high <= low * (1 + 1e-6)


def test_the_published_example_of_the_clones_is_reproduced():
    low, high = shuffled_epsilon(4, 10**5, 1e-6, theorem="2021")
    assert 0.16754 <= low <= high <= 0.17279
    assert high - low < 1e-6


def test_the_later_theorem_is_tighter_and_the_closed_form_looser():
    earlier, later = (shuffled_epsilon(4, 10**5, 1e-6, theorem=year)[1] for year in ("2021", "2023"))
    assert later < 0.7 * earlier
    assert earlier < closed_epsilon(4, 10**5, 1e-6)


@pytest.mark.parametrize("epsilon0", [0.1, 1, 3, 5])
@pytest.mark.parametrize("n", [10**4, 10**6])
@pytest.mark.parametrize("delta", [1e-4, 1e-10])
def test_the_closed_form_is_never_below_the_numerical_bounds(epsilon0, n, delta):
    closed = closed_epsilon(epsilon0, n, delta)
    assert shuffled_epsilon(epsilon0, n, delta)[1] <= shuffled_epsilon(epsilon0, n, delta, theorem="2021")[1] <= closed


def shuffled_law(report, values):
    """The law of the multiset of reports: every outcome with its probability."""
    law = defaultdict(mpf)
    for outcome in itertools.product(*(report[value].items() for value in values)):
        key = frozenset(Counter(symbol for symbol, _ in outcome).items())
        law[key] += mp.fprod(chance for _, chance in outcome)
    return law


def reports_of(k, epsilon0):
    """k-ary randomized response."""
    p = mp.exp(mpf(epsilon0))
    return {v: {s: (p if s == v else mpf(1)) / (p + k - 1) for s in range(k)} for v in range(k)}


def diluted(epsilon0):
    """A randomizer that mostly says nothing."""
    return {v: {**{s: mpf(q) / 10 for s, q in reports_of(2, epsilon0)[v].items()}, "-": mpf(9) / 10} for v in (0, 1)}


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.1])
@pytest.mark.parametrize(
    ("report", "others"),
    [
        (reports_of(2, 2.0), [0, 0, 0, 0]),
        (reports_of(2, 2.0), [0, 1, 1, 0]),
        (reports_of(3, 2.0), [2, 2, 2, 2]),
        (reports_of(3, 2.0), [0, 1, 2, 2]),
        (diluted(2.0), [0, 0, 1, 1]),
    ],
)
def test_real_shuffled_reports_stay_below_the_curve(report, others, epsilon):
    one, other = shuffled_law(report, [0, *others]), shuffled_law(report, [1, *others])
    delta = mp.fsum(max(mpf(0), one[key] - mp.exp(mpf(epsilon)) * other[key]) for key in one)
    assert delta <= Clones(2.0, 1 + len(others)).delta(epsilon)[1]


@settings(max_examples=25)
@given(st.floats(0.05, 6), st.integers(1, 10**7), st.sampled_from([1e-4, 1e-6, 1e-9]))
def test_the_central_epsilon_is_bracketed_and_at_most_the_local_one(epsilon0, n, delta):
    low, high = shuffled_epsilon(epsilon0, n, delta)
    assert 0 <= low <= high <= epsilon0
    assert Clones(epsilon0, n).delta(high)[1] <= delta
    assert high <= low * (1 + 1e-2) + 1e-9


def test_more_honest_reports_cost_less_and_none_cost_the_local_epsilon():
    found = [Shuffled(2, n).epsilon(1e-6) for n in (1, 10, 100, 1000, 10**5, 10**8)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(2, rel=1e-4)
    assert found[-1] < 0.002


@pytest.mark.parametrize("method", ["optimal", "pld", "renyi", "zcdp", "pure"])
def test_every_accountant_answers_and_none_goes_below_the_curve(method):
    loss = Shuffled(2, 5000)
    exact = Clones(2.0, 5000).epsilon(1e-6)[0]
    assert method in loss.methods()
    assert exact * (1 - 1e-6) <= loss.epsilon(1e-6, method=method) <= 2
    if method == "pld":
        assert loss.epsilon(1e-6, method=method) <= exact * 1.01


@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0, 30.0])
@pytest.mark.parametrize("n", [1, 5, 60])
def test_divergences_are_those_of_the_two_worlds(alpha, n):
    epsilon0 = 1.5
    with mp.workdps(40):
        p, total = mp.exp(mpf(epsilon0)), mpf(0)
        rate = 2 / (p + 1)
        for c in range(n):
            weight = mp.binomial(n - 1, c) * rate**c * (1 - rate) ** (n - 1 - c)
            for a in range(c + 2):
                mass = mp.binomial(c + 1, a) / mpf(2) ** (c + 1)
                x = mpf(2 * a - c - 1) / (c + 1) * (p - 1) / (p + 1)
                total += weight * mass * (1 + x) ** alpha * (1 - x) ** (1 - alpha)
        exact = mp.log(total) / (alpha - 1)
    found = Shuffled(epsilon0, n).rdp(alpha)
    assert exact <= found <= exact * (1 + 1e-3) + mpf("1e-12")


def test_divergences_stay_below_those_of_rho_and_above_the_profile():
    loss = Shuffled(1, 10**4)
    orders = np.array([1.2, 2, 5, 20, 100, 1000, 10**5])
    values = loss.rdp(orders)
    assert (values <= loss.zcdp() * orders * (1 + 1e-12)).all()
    assert (np.diff(values) >= 0).all()
    assert values[-1] <= 1


def test_a_composition_of_rounds_costs_more_than_one_and_less_than_their_sum():
    loss = Shuffled(1, 10**4)
    one, ten = loss.epsilon(1e-6), (loss * 10).epsilon(1e-6)
    assert one < ten < 10 * one


def test_a_budget_admits_shuffled_rounds_where_local_ones_would_not_fit():
    budget = ApproxFilter(1, 1e-6, relation="replace")
    loss = Shuffled(2, 10**5)
    for _ in range(20):
        budget = budget.admit(loss)
    assert not ApproxFilter(1, 1e-6, relation="replace").fits(Pure(2, relation="replace"))


def test_the_loss_comes_back_from_json_as_it_was_and_its_record_never_changes():
    loss = Shuffled(4, 10**5)
    record = {"kind": "Shuffled", "epsilon": 4, "honest": 10**5, "relation": "replace"}
    assert json.loads(loss.to_json()) == {"discreet": 1, "loss": record}
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert repr(loss) == "Shuffled(epsilon=4, honest=100000, relation='replace')"


def test_a_group_falls_back_to_the_local_epsilon():
    assert Shuffled(1, 100).group(1) == Shuffled(1, 100)
    assert Shuffled(1, 100).group(3) == Pure(3, relation="replace")


def test_the_local_epsilon_is_found_for_a_central_one():
    found = local_epsilon(0.1, 10**5, 1e-6)
    assert 3 < found < 4
    assert Shuffled(found, 10**5).epsilon(1e-6) <= 0.1
    assert Shuffled(found * 1.001, 10**5).epsilon(1e-6) > 0.1


def test_without_a_crowd_the_closed_form_promises_no_more_than_the_local_epsilon():
    assert closed_epsilon(4, 100, 1e-6) == 4


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Shuffled(1, 100, relation="add_remove"), "relation"),
        (lambda: Shuffled(-1, 100), "epsilon"),
        (lambda: Shuffled(1, 0), "honest"),
        (lambda: shuffled_epsilon(1, 100, 0), "delta"),
        (lambda: closed_epsilon(1, 100, 1), "delta"),
    ],
)
def test_what_makes_no_sense_is_refused(call, name):
    with pytest.raises(BadParameter, match=name):
        call()


def test_an_unknown_theorem_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="2023"):
        shuffled_epsilon(1, 100, 1e-6, theorem="2022")
