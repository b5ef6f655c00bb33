"""Losses on random samples."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from discreet.account import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Drawn,
    Exponential,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Renyi,
    Sampled,
    Unsupported,
    Zcdp,
    parallel,
)
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.pair import atoms
from discreet.core.errors import BadParameter
from tests.account.truth import composed_delta, enumerated_delta, gaussian_delta, poisson_law, response_law


def sampled_law(law, rate, direction):
    """Amplify a law of atoms by hand."""
    losses, p = law
    q = p * np.exp(-losses)
    mixed = (1 - rate) * q + rate * p
    ratio = np.log(mixed / q)
    return (ratio, mixed) if direction == "remove" else (-ratio, q)


@pytest.mark.parametrize("rate", [0.001, 0.3, 0.9])
def test_one_sample_of_gaussian_noise_has_the_amplified_delta(rate):
    for epsilon in (0.01, 0.5, 2.0):
        # H((1-q) Q + q P || Q) at e^epsilon is q H(P || Q) at 1 + (e^epsilon - 1)/q.
        removed = rate * float(gaussian_delta(1.0, math.log1p(math.expm1(epsilon) / rate)))
        assert removed * (1 - 1e-9) <= Gaussian(1).sampled(rate).delta(epsilon) <= removed * (1 + 1e-4) + 1e-12


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_two_samples_of_randomized_response_are_enumerated_in_both_directions(rate):
    loss = RandomizedResponse(1.5).sampled(rate) * 2
    for epsilon in (0.0, 0.01, 0.3):
        laws = [[sampled_law(response_law(1.5), rate, way)] * 2 for way in ("remove", "add")]
        truth = max(enumerated_delta(pair, epsilon) for pair in laws)
        assert truth * (1 - 1e-12) <= loss.delta(epsilon) <= truth * (1 + 1e-3) + 1e-9


def test_a_sum_is_sampled_once_not_part_by_part():
    # RULES 4: both answers see the same sample.
    once = (RandomizedResponse(1) + RandomizedResponse(0.5)).sampled(0.1)
    apart = RandomizedResponse(1).sampled(0.1) + RandomizedResponse(0.5).sampled(0.1)
    losses = np.add.outer(response_law(1.0)[0], response_law(0.5)[0]).ravel()
    masses = np.multiply.outer(response_law(1.0)[1], response_law(0.5)[1]).ravel()
    for epsilon in (0.0, 0.05, 0.2):
        laws = [[sampled_law((losses, masses), 0.1, way)] for way in ("remove", "add")]
        truth = max(enumerated_delta(law, epsilon) for law in laws)
        assert truth * (1 - 1e-12) <= once.delta(epsilon) <= truth * (1 + 1e-3) + 1e-9
    assert once.epsilon(1e-6) > apart.epsilon(1e-6) * 1.05


def test_gaussian_sums_on_one_sample_are_one_gaussian():
    loss = (Gaussian(2) + Gaussian(2)).sampled(0.01) * 100
    one = Gaussian(math.sqrt(2)).sampled(0.01) * 100
    assert loss.epsilon(1e-6) == pytest.approx(one.epsilon(1e-6), rel=1e-5)


@pytest.mark.parametrize("loss", [Laplace(1), DiscreteLaplace(3, 2), Exponential(1), Pure(1), DiscreteGaussian(2, 2)])
def test_every_kind_is_amplified_about_in_proportion(loss):
    whole, part = loss.epsilon(1e-9), loss.sampled(0.01).epsilon(1e-9)
    assert part <= math.log1p(0.01 * math.expm1(whole)) * (1 + 1e-3)


@pytest.mark.parametrize("rate", [0, 1, Fraction(1, 2)])
def test_the_ends_of_the_scale_are_nothing_and_everything(rate):
    loss = Laplace(2).sampled(rate)
    expected = {0: 0.0, 1: Laplace(2).epsilon(1e-6)}
    if rate in expected:
        assert loss.epsilon(1e-6) == expected[rate]
    else:
        assert 0 < loss.epsilon(1e-6) < Laplace(2).epsilon(1e-6)


def test_a_sample_of_a_sample_is_a_sample():
    assert Gaussian(1).sampled(Fraction(1, 2)).sampled(Fraction(1, 5)) == Gaussian(1).sampled(Fraction(1, 10))


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, "0.5"])
def test_a_rate_that_makes_no_sense_is_refused(rate):
    with pytest.raises(BadParameter, match="rate="):
        Gaussian(1).sampled(rate)


@pytest.mark.parametrize(("size", "of"), [(5, 3), (-1, 3), (1.5, 3), (1, 0)])
def test_a_sample_that_cannot_be_drawn_is_refused(size, of):
    with pytest.raises(BadParameter):
        Gaussian(1, relation="replace").sampled(size, of=of)


def test_each_kind_of_sampling_has_its_relation():
    # RULES 4, E17: a fixed batch is not a Poisson sample, and neither theorem covers the other relation.
    with pytest.raises(BadParameter, match="Poisson sampling is proved"):
        Gaussian(1, relation="replace").sampled(0.1)
    with pytest.raises(BadParameter, match="neighbours by replacement"):
        Gaussian(1).sampled(10, of=100)
    assert isinstance(Gaussian(1).sampled(0.1), Sampled)
    assert isinstance(Gaussian(1, relation="replace").sampled(10, of=100), Drawn)


def drawn_delta(law, rate, epsilon):
    """Zhu, Dong, Wang 2022, Proposition 30, by hand."""
    losses, p = law
    q = p * np.exp(-losses)
    if epsilon >= 0:
        return float(np.maximum(0, (1 - rate) * q + rate * p - math.exp(epsilon) * q).sum())
    return float(np.maximum(0, p - math.exp(epsilon) * ((1 - rate) * p + rate * q)).sum())


def test_one_drawn_sample_has_the_amplified_delta():
    loss = RandomizedResponse(1.5, relation="replace").sampled(30, of=100)
    for epsilon in (0.0, 0.1, 0.5):
        truth = drawn_delta(response_law(1.5), 0.3, epsilon)
        assert truth * (1 - 1e-12) <= loss.delta(epsilon) <= truth * (1 + 1e-9) + 1e-10
    assert loss.peak == pytest.approx(math.log1p(0.3 * math.expm1(1.5)))


def test_drawn_samples_compose_like_the_glued_pair():
    rate, losses, p = 0.3, *response_law(1.5)
    q = p * np.exp(-losses)
    up = (1 - rate) * q + rate * p
    glued_losses = np.array([math.log(up[0] / q[0]), 0.0, math.log(p[1] / ((1 - rate) * p[1] + rate * q[1]))])
    glued = np.array([up[0], (1 - rate) * (p[0] - q[0]), p[1]])
    assert glued.sum() == pytest.approx(1)
    truth = enumerated_delta([(glued_losses, glued)] * 3, 0.4)
    found = (RandomizedResponse(1.5, relation="replace").sampled(30, of=100) * 3).delta(0.4)
    assert truth * (1 - 1e-12) <= found <= truth * (1 + 1e-3) + 1e-9


def test_gaussian_noise_on_drawn_samples_is_close_to_poisson_and_everything_is_everything():
    loss = Gaussian(1, relation="replace")
    assert (loss.sampled(100, of=100) * 10).epsilon(1e-6) == pytest.approx((loss * 10).epsilon(1e-6), rel=1e-4)
    few = (loss.sampled(1, of=100) * 100).epsilon(1e-6)
    assert few == pytest.approx((Gaussian(1).sampled(0.01) * 100).epsilon(1e-6), rel=0.5)


@pytest.mark.parametrize("rate", [0.01, 0.2])
def test_divergences_of_sampled_gaussian_noise_bound_the_truth_and_are_it_at_whole_orders(rate):
    alphas = np.array([1.5, 2.0, 3.0, 7.5, 12.0])
    truth = np.zeros(len(alphas))
    for way in ("remove", "add"):
        losses, masses = poisson_law(0.5, rate, way)
        moments = (masses[None, :] * np.exp((alphas[:, None] - 1) * losses)).sum(axis=1)
        truth = np.maximum(truth, np.log(moments) / (alphas - 1))
    found = Gaussian(2).sampled(rate).rdp(alphas)
    assert (truth <= found * (1 + 1e-9)).all()
    np.testing.assert_allclose(found[[1, 2, 4]], truth[[1, 2, 4]], rtol=1e-6)


@pytest.mark.parametrize("loss", [Laplace(1), DiscreteLaplace(2), Pure(1.5)])
def test_divergences_of_bounded_losses_are_below_the_general_bound(loss):
    from discreet.account.losses.subsample import _between_orders, _general_moments

    alphas = np.array([2.0, 3.0, 10.0, 40.0])
    found = loss.sampled(0.05).rdp(alphas)
    assert (found <= _between_orders(_general_moments(loss, 0.05), alphas) * (1 + 1e-6)).all()
    assert (np.diff(found) >= 0).all()


def test_stated_losses_are_amplified_by_the_general_bound_and_refused_by_others():
    loss = Zcdp(0.5).sampled(0.01) * 100
    assert loss.methods()[0] == "renyi"
    assert (
        (Gaussian(1).sampled(0.01) * 100).epsilon(1e-6, method="renyi") <= loss.epsilon(1e-6) < Zcdp(50).epsilon(1e-6)
    )
    assert Renyi({2: 1, 32: 16}).sampled(0.01).epsilon(1e-6) > 0
    with pytest.raises(Unsupported):
        Zcdp(0.5, relation="replace").sampled(1, of=100).epsilon(1e-6, method="pld")


def test_failures_are_sampled_too():
    loss = Approx(0.1, 1e-6).sampled(0.01) * 10
    assert loss.epsilon(2e-7) < math.inf
    assert loss.epsilon(0.9e-7) == math.inf


def test_groups_are_refused_after_sampling_and_not_before():
    with pytest.raises(Unsupported, match="how many of a group"):
        Gaussian(1).sampled(0.1).group(2)
    assert Gaussian(1).group(2).sampled(0.1) == Gaussian(Fraction(1, 2)).sampled(0.1)


def test_disjoint_parts_can_be_sampled():
    loss = parallel(Laplace(1), Gaussian(1)).sampled(0.01) * 100
    worst = max((each.sampled(0.01) * 100).epsilon(1e-6) for each in (Laplace(1), Gaussian(1)))
    assert worst <= loss.epsilon(1e-6) <= worst * 1.05


def test_the_whole_line_of_a_long_run_is_below_the_oracle():
    found = (Gaussian(2).sampled(0.05) * 2000).epsilon(1e-8)
    laws = [[(poisson_law(0.5, 0.05, way), 2000)] for way in ("remove", "add")]
    assert max(composed_delta(law, found) for law in laws) <= 1e-8
    assert max(composed_delta(law, found * 0.9999) for law in laws) > 1e-8


class Lopsided(PrivacyLoss):
    """Tells more when a person is added: an event of every second table without them hardly happens with them."""

    __slots__ = ()

    @property
    def peak(self):
        return math.log(5000)

    @property
    def symmetric(self):
        return False

    @property
    def dominated(self):
        return True

    def group(self, k):
        raise NotImplementedError

    def pair(self, tail):
        with_, without = np.array([1e-4, 1 - 1e-4]), np.array([0.5, 0.5])
        return atoms(np.log(with_ / without), with_, without)

    def pair_added(self, tail):
        return self.pair(tail).reversed()

    def divergence(self, alphas):
        raise NotImplementedError


@pytest.mark.parametrize("rate", [0.1, 0.9])
def test_the_divergence_of_a_sample_is_that_of_the_worse_direction(rate):
    with_, without = np.array([1e-4, 1 - 1e-4]), np.array([0.5, 0.5])
    mixed = (1 - rate) * without + rate * with_
    for alpha in (1.5, 2.0, 8.0):
        added, removed = (
            math.log(float((one**alpha * other ** (1 - alpha)).sum())) / (alpha - 1)
            for one, other in ((without, mixed), (mixed, without))
        )
        assert added > removed
        found = float(Sampled(Lopsided(), rate).divergence(np.array([alpha]))[0])
        assert added <= found <= added * (1 + 1e-6)


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("rho", [0.02, 0.5])
def test_moments_of_a_sample_are_those_of_the_theorem(rate, rho):
    """Zhu and Wang 2019, Theorem 6, written out: the term of order 2 counts once, all later ones three times."""
    orders = [3, 5, 12]
    found = Zcdp(rho).sampled(rate).rdp(orders)
    for order, value in zip(orders, found, strict=True):
        with mp.workdps(50):
            total = mp.mpf(1)
            for j in range(2, order + 1):
                ways = mp.binomial(order, j) * (1 - mp.mpf(rate)) ** (order - j) * mp.mpf(rate) ** j
                # The weights of a binomial law add up to one; of each term there, that much is in it already.
                total += ways * ((1 if j == 2 else 3) * mp.exp((j - 1) * j * mp.mpf(rho)) - 1)
            theorem = min(mp.log(total) / (order - 1), order * mp.mpf(rho))
            assert theorem <= float(value) <= theorem * (1 + mp.mpf(10) ** -6)
