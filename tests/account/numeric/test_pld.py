"""The numerical accountant: never below the truth, close above it, fast enough and unafraid of extremes."""

import math
import resource
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.account import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    total,
)
from discreet.account.numeric import pld
from discreet.account.numeric.pair import normal, response
from discreet.account.numeric.pilot import Leaf, Pilot
from tests.account.truth import (
    composed_delta,
    enumerated_delta,
    gaussian_epsilon,
    laplace_law,
    poisson_law,
    response_epsilon,
    response_law,
)

DELTAS = [1e-6, 1e-8, 1e-10, 1e-12, 1e-15]


def assert_just_above(found, laws, delta, tolerance):
    """`found` holds at delta, and an epsilon smaller by the tolerance does not."""
    assert composed_delta(laws, found) <= delta * (1 + 1e-7)
    assert composed_delta(laws, found / (1 + tolerance)) > delta


@pytest.mark.parametrize("delta", DELTAS)
def test_repeated_randomized_response_is_the_optimal_composition_numerically(delta):
    truth = response_epsilon(0.1, 1000, delta)
    found = (RandomizedResponse(0.1) * 1000).epsilon(delta, method="pld")
    assert truth <= found <= truth * (1 + 1e-4)


@pytest.mark.parametrize("delta", DELTAS)
def test_a_thousand_laplace_mechanisms_cost_what_they_cost(delta):
    found = (Laplace(10) * 1000).epsilon(delta)
    assert_just_above(found, [(laplace_law(0.1), 1000)], delta, 1e-4)


def test_continuous_and_discrete_laplace_noise_differ_as_they_should():
    assert (Laplace(10) * 1000).epsilon(1e-6) == pytest.approx(18.9503, abs=1e-3)
    assert (DiscreteLaplace(10) * 1000).epsilon(1e-6) == pytest.approx(19.3447, abs=5e-5)


@pytest.mark.parametrize("delta", [1e-6, 1e-10])
@pytest.mark.parametrize(("rate", "k"), [(0.01, 10**4), (0.001, 10**5)])
def test_gaussian_noise_on_poisson_samples_costs_what_it_costs(rate, k, delta):
    found = (Gaussian(0.8).sampled(rate) * k).epsilon(delta)
    removed, added = ([(poisson_law(1.25, rate, way), k)] for way in ("remove", "add"))
    assert_just_above(found, removed, delta, 1e-4)
    assert composed_delta(added, found) <= delta


@pytest.mark.parametrize(
    ("rate", "k", "delta", "published"),
    [
        (0.01, 10**4, 1e-6, 11.1832),
        (0.01, 10**4, 1e-10, 15.0582),
        (0.001, 10**5, 1e-6, 2.91454),
        (0.001, 10**5, 1e-10, 4.06924),
    ],
)
def test_poisson_figures_agree_with_those_of_others(rate, k, delta, published):
    found = (Gaussian(0.8).sampled(rate) * k).epsilon(delta)
    assert -1e-5 <= found / published - 1 <= 1e-3


@pytest.mark.parametrize("delta", [1e-6, 1e-10])
def test_five_hundred_mixed_mechanisms_are_within_a_two_thousandth_of_the_finest_grid(delta):
    mixed = Laplace(10) * 125 + Gaussian(10) * 125 + RandomizedResponse(Fraction(1, 10)) * 125 + Exponential(0.1) * 125
    (leaves,) = mixed._case().directions
    coarse, fine = (pld.epsilon(leaves, delta, accuracy=accuracy) for accuracy in (pld.ACCURACY, pld.ACCURACY / 100))
    assert -1e-6 <= coarse / fine - 1 <= 5e-4


@pytest.mark.parametrize("delta", [1e-6, 1e-10])
def test_laplace_gaussian_and_response_together_cost_what_they_cost(delta):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    mu = math.sqrt(1.25)
    gaussian = mu * nodes + mu * mu / 2, weights / math.sqrt(2 * math.pi)
    laws = [(laplace_law(0.1), 125), (gaussian, 1), (response_law(0.1), 125)]
    found = (Laplace(10) * 125 + Gaussian(10) * 125 + RandomizedResponse(0.1) * 125).epsilon(delta)
    assert_just_above(found, laws, delta, 1e-4)


@pytest.mark.parametrize("delta", [1e-6, 1e-10])
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_the_numerical_accountant_agrees_with_the_closed_form_of_gaussian_noise(k, delta):
    truth = gaussian_epsilon(math.sqrt(k), delta)
    found = pld.epsilon([Leaf(lambda tail: normal(1.0, tail), k)], delta)
    assert truth <= found <= truth * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.35, 0.9, 1.0])
def test_a_handful_of_unlike_responses_is_enumerated(epsilon):
    epsilons = [0.1, 0.2, 0.3, 0.45]
    truth = enumerated_delta([response_law(each) for each in epsilons], epsilon)
    found = sum(RandomizedResponse(each) for each in epsilons).delta(epsilon)
    assert truth <= found <= truth * (1 + 1e-3) + 1e-6


def test_epsilon_and_delta_invert_each_other_from_the_safe_side():
    loss = Laplace(10) * 100 + Gaussian(3) * 4
    for delta in (1e-3, 1e-6, 1e-12):
        found = loss.epsilon(delta)
        assert loss.delta(found) <= delta * (1 + 2e-3)
        assert loss.delta(found * 0.999) > delta


def test_a_planted_underestimate_is_caught():
    # The test above must fail for an accountant that is a ten-thousandth too low: the bars have teeth.
    laws, delta = [(laplace_law(0.1), 1000)], 1e-6
    found = (Laplace(10) * 1000).epsilon(delta)
    with pytest.raises(AssertionError):
        assert_just_above(found * (1 - 1e-4), laws, delta, 1e-4)
    with pytest.raises(AssertionError):
        assert_just_above(found * (1 + 2e-4), laws, delta, 1e-4)


def test_only_the_removal_of_a_person_is_not_enough():
    """Both directions count: with a small sigma the loss of adding a person is not the smaller one everywhere."""
    loss = Gaussian(0.8).sampled(0.3)
    removed, added = (pld.delta(leaves, 0.2) for leaves in loss._case().directions)
    assert removed != added
    assert loss.delta(0.2) == max(removed, added)


EXTREMES = {
    "a tiny sigma": lambda: Gaussian(0.02).epsilon(1e-6),
    "a tiny sigma, sampled": lambda: (Gaussian(0.02).sampled(0.01) * 1000).epsilon(1e-6),
    "a small sigma, sampled": lambda: (Gaussian(0.05).sampled(0.001) * 10**4).epsilon(1e-6),
    "a million Laplace mechanisms": lambda: (Laplace(1000) * 10**6).epsilon(1e-6),
    "a million loud Laplace mechanisms": lambda: (Laplace(1) * 10**6).epsilon(1e-6),
    "a million samples": lambda: (Gaussian(1).sampled(0.0001) * 10**6).epsilon(1e-6),
    "almost no loss": lambda: (Gaussian(20).sampled(0.0001) * 100).epsilon(1e-6),
    "hardly any noise": lambda: (Laplace(1e-5) + Gaussian(1e-3)).epsilon(1e-6),
    "a delta of 1e-100": lambda: (Laplace(10) * 1000 + Gaussian(10)).epsilon(1e-100),
    "a million discrete steps": lambda: (DiscreteGaussian(10**6, 10**6) * 100).epsilon(1e-6),
    "a mechanism that hardly varies": lambda: (DiscreteGaussian(Fraction(1, 10)) * 3).epsilon(1e-6),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_finish_with_a_finite_epsilon_that_is_not_negative(name):
    started = time.process_time()
    found = EXTREMES[name]()
    assert 0 <= found < math.inf
    assert time.process_time() - started < 10


def test_a_mechanism_that_hardly_varies_costs_what_it_does():
    # Discrete Gaussian noise of sigma 1/10 tells all but surely: each loss is 50, but for e^-50.
    found = (DiscreteGaussian(Fraction(1, 10)) * 3).epsilon(1e-6)
    assert 150 - 2e-6 <= found <= 150 * (1 + 1e-5)


@pytest.mark.soak
def test_ten_thousand_unlike_mechanisms_are_added_up():
    kinds = (Laplace, Gaussian, RandomizedResponse, Exponential)
    losses = [kinds[i % 4](Fraction(100 + i, 10) if i % 4 < 2 else Fraction(10, 100 + i)) for i in range(10**4)]
    loss = total(losses)
    found = loss.epsilon(1e-6, method="pld")
    assert 0.9 * loss.epsilon(1e-6, method="renyi") < found < loss.epsilon(1e-6, method="renyi")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2**20  # KiB


def test_mass_that_is_told_for_sure_never_goes_away():
    loss = Approx(0.1, 1e-8) * 10 + Laplace(10)
    assert loss.epsilon(9e-8) == math.inf
    assert math.isfinite(loss.epsilon(1.1e-7))
    assert loss.delta(50.0) == pytest.approx(1e-7, rel=1e-6)


def test_pure_mechanisms_of_many_kinds_never_exceed_their_sum():
    assert (Pure(Fraction(1, 8)) * 5 + Laplace(8)).epsilon(1e-300) <= 0.75


@pytest.mark.parametrize("delta", [1e-6, 1e-12])
def test_accuracy_is_a_promise_about_closeness_not_about_safety(delta):
    leaves = [Leaf(lambda tail: response(0.1), 1000)]
    truth = float(mpmath.mpf(response_epsilon(0.1, 1000, delta)))
    for accuracy in (1e-2, 1e-4, 1e-6):
        assert truth <= pld.epsilon(leaves, delta, accuracy=accuracy)


@pytest.mark.numeric
@pytest.mark.parametrize(
    ("loss", "delta", "low", "high"),
    [
        (Gaussian(0.7).sampled(1e-4) * 3, 1e-9, 0.10449, 0.1047),
        (Gaussian(20) + Gaussian(0.5).sampled(1e-4) * 5, 1e-7, 0.4116, 0.4139),
    ],
    ids=["a few rare samples", "with a Gaussian"],
)
def test_a_rare_large_loss_is_not_wrapped_into_the_others(loss, delta, low, high):
    # These were .3148 and .568: a circle shorter than its window, and an aim beyond the jump of the curve.
    assert low <= loss.epsilon(delta) <= high


@pytest.mark.parametrize(
    ("sigma", "rate", "copies", "delta", "truth"),
    [
        (0.6, 1.3e-7, 10, 1e-12, 9.8230e-4),
        (1.3, 1e-5, 10, 1e-15, 1.7894e-3),
        (0.8, 5e-6, 3, 1e-15, 2.32828e-2),
        (1.3, 1e-5, 3, 1e-20, 5.2915e-3),
        (1, 1e-7, 5, 1e-20, 2.38418e-4),
        (1, 1.4e-7, 2, 1e-30, 4.3059e-3),
    ],
)
def test_a_few_rare_samples_cost_little_more_than_one_at_a_share_of_delta(sigma, rate, copies, delta, truth):
    # One jump decides: these were up to seventeen times too large, and above basic composition.
    one = Gaussian(sigma).sampled(rate)
    assert truth <= (one * copies).epsilon(delta) <= 1.005 * truth
    assert truth == pytest.approx(one.epsilon(delta / copies), rel=1e-4)


def test_what_lies_above_the_window_of_a_convolution_counts_as_unbounded():
    """Randomized response 4,000 times: the losses of a binomial law, of which a window leaves the largest out."""
    epsilon, count = 0.1, 4000
    pilot = Pilot.of([Leaf(lambda _: response(epsilon), count)], 1e-20)
    found = pld.profile(pilot, pilot.aim_at_delta(1e-6))
    top = float(found.losses[-1])
    assert top < epsilon * count / 2
    truth = mpmath.mpf(1) / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
    least = math.ceil((top / epsilon + count) / 2)
    beyond = mpmath.fsum(
        mpmath.binomial(count, k) * truth**k * (1 - truth) ** (count - k) for k in range(least, least + 400)
    )
    assert 0 < beyond <= found.infinity < 1e-6
