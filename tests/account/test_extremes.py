"""Extremes: parameters at the ends of what floats can hold, where an answer may be loose but never too small."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.account import (
    Approx,
    ApproxFilter,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    FourPoint,
    Gaussian,
    GaussianDP,
    Laplace,
    PrivacyLoss,
    Pure,
    PureFilter,
    Shuffled,
    Zcdp,
)
from discreet.account.budgets import calibrate
from discreet.account.budgets.filter import PrivacyFilter
from discreet.account.losses.subsample import _amplified
from discreet.account.numeric.profile import Profile
from discreet.core.errors import BadParameter

pytestmark = pytest.mark.numeric

PURE = {"kind": "Pure", "epsilon": 1, "relation": "add_remove"}


@pytest.mark.parametrize("scale", [7, 3, 1, Fraction(1, 50)])
def test_many_steps_at_little_noise_cost_nearly_their_largest_loss(scale):
    loss = DiscreteLaplace(scale, 5000)
    peak, alone = float(loss.peak), 1 / (1 + math.exp(-1 / scale))
    # Between the two largest losses, 2/scale apart, delta is that of the largest one alone.
    near = peak - 1 / float(scale)
    truth = alone * -math.expm1(near - peak)
    assert truth <= loss.delta(near) <= 4 * truth
    assert peak - 1e-4 < loss.epsilon(1e-6) <= peak
    assert peak - 2 < loss.zcdp() <= peak * (1 + 1e-9)
    assert peak - 2 < loss.rdp(2) <= peak
    assert peak - 3 < loss.sampled(0.1).epsilon(1e-6) <= peak


def test_blocks_of_steps_keep_the_mass_of_both_neighbours():
    for scale in (1, 3, 1000):
        pair = DiscreteLaplace(scale, 5000).pair(0.0)
        assert np.isfinite([pair.p, pair.q]).all()
        assert 1 - 1e-12 < pair.p.sum() < 1 + 1e-6
        assert 1 - 1e-12 < pair.q.sum() < 1 + 1e-6


@pytest.mark.parametrize(
    ("loss", "least"),
    [
        (Pure(10**400), math.inf),
        (DiscreteLaplace(1e-310), math.inf),
        (DiscreteLaplace(Fraction(1, 10**30)), 1e30),
        (Exponential(1e100), 1e100),
        (Exponential(1e100) * 3, 2.9e100),
        (Laplace(1e-100) * 2, 1.9e100),
        (DiscreteGaussian(1, 10**9), 5e17),
        (DiscreteGaussian(1, 10**20), 5e39),
        (DiscreteGaussian(1e-160), 1e300),
        (Gaussian(1e-20).sampled(0.5), 4e39),
        (Gaussian(1e-20) + Laplace(1), 4e39),
    ],
    ids=repr,
)
def test_a_loss_without_bounds_to_speak_of_is_never_reported_as_small(loss, least):
    assert loss.epsilon(1e-6) >= least * (1 - 1e-6)
    assert loss.delta(1) > 0.49


def test_a_sample_of_a_huge_loss_has_huge_divergences():
    assert Exponential(1e100).sampled(0.1).rdp(2) > 1e99
    assert DiscreteLaplace(1, 5000).sampled(0.1).rdp(2) > 4990


def test_what_is_not_a_number_counts_as_everything():
    profile = Profile(np.array([0.0, 1.0]), np.array([0.5, math.nan]))
    assert profile.delta(0.5) == 1
    assert profile.epsilon(1e-6) >= 1


@pytest.mark.parametrize("epsilon", [20.0, 33.3, 35.5, 36.3, 50.0, 720.0, 800.0])
def test_one_report_is_not_hidden_by_shuffling_however_large_its_epsilon(epsilon):
    alone, local = Shuffled(epsilon, 1), Pure(epsilon, relation="replace")
    for near in (0.1, 1.0):
        assert (alone * 2).delta(2 * epsilon - near) >= (local * 2).delta(2 * epsilon - near) * (1 - 1e-9)
        assert alone.delta(epsilon - near) >= local.delta(epsilon - near) * (1 - 1e-9)
    for alpha in (1.1, 1.5, 2, 8):
        assert alone.rdp(alpha) >= local.rdp(alpha) * (1 - 1e-9)
    assert local.zcdp() * (1 - 1e-9) <= alone.zcdp() <= epsilon * (1 + 1e-9)


def test_shuffled_reports_of_next_to_no_epsilon_cost_next_to_none():
    assert Shuffled(1e-17, 1000).epsilon(1e-6) == 0
    assert 0 < Shuffled(1e-17, 1000).delta(0) < 1e-10
    assert Shuffled(1e-17, 1000).epsilon(1e-30) <= 1e-17


@pytest.mark.parametrize(
    ("epsilon", "rate"),
    [
        (31.0, 1e-31),
        (61.34020861769788, 7.855857602981932e-194),
        (610.5174527148961, 2.9120224192339658e-266),
        (750.0, 1e-320),
        (705.0, 1e-306),
        (1e-17, 1e-310),
        (1.0, 0.5),
        (1e4, 1e-3),
    ],
)
def test_a_sampled_peak_is_never_below_the_theorem_s(epsilon, rate):
    with mpmath.workdps(700):
        truth = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(epsilon)))
        found = _amplified(epsilon, rate)
        assert truth <= found <= truth * (1 + mpmath.mpf("1e-11")) + mpmath.mpf("1e-323")


def test_a_sampled_loss_is_never_admitted_for_free():
    assert PureFilter(1).admit(Pure(31).sampled(1e-31)).spent.loss > 0


def test_samples_that_nobody_is_in_are_accounted_for_in_little_room():
    assert (Gaussian(1e-3).sampled(1e-9) * 10).epsilon(1e-6) == 0
    assert 1e5 < (Gaussian(1e-3).sampled(1e-6) * 10).epsilon(5e-6) < math.inf


def test_a_group_that_leaves_no_promise_is_refused_whatever_its_delta_is_written_as():
    with pytest.raises(BadParameter, match=r"its delta would be 1\.5"):
        Approx(0, Fraction(1, 2)).group(3)
    with pytest.raises(BadParameter, match="has no guarantee"):
        Approx(10**400, 1e-6).group(2)


def test_a_filter_admits_a_drawn_sample_by_the_rho_of_its_loss():
    drawn = Zcdp(Fraction(1, 1000), relation="replace").sampled(10, of=100)
    room = ApproxFilter(1, 1e-6, relation="replace")
    assert room.admit(drawn).spent.loss == pytest.approx(Fraction(room.alpha) / 1000)


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "Pure", "epsilon": "--5/3"},
        {"kind": "Pure", "epsilon": "1/" + "9" * 5000},
        {"kind": "Renyi", "curve": [1, 2]},
        {"kind": "Renyi", "curve": 5},
        {"kind": "Composed", "of": [5]},
        {"kind": "Composed", "of": [[5, 1]]},
        {"kind": "Composed", "of": [[PURE, 1, 2]]},
        {"kind": "Composed", "of": PURE},
        {"kind": "Sampled", "loss": 5, "rate": 0.1},
        {"kind": "Parallel", "among": [5]},
        {"kind": "Parallel", "among": 5},
    ],
)
def test_a_record_that_no_loss_wrote_is_refused_in_words(record):
    text = json.dumps({"discreet": 1, "loss": record | {"relation": "add_remove"}})
    with pytest.raises(BadParameter, match="to_json returned"):
        PrivacyLoss.from_json(text)


def test_a_record_without_end_is_refused_in_words():
    with pytest.raises(BadParameter, match="not JSON"):
        PrivacyLoss.from_json('{"discreet": 1, "loss": ' + "[" * 100_000)
    with pytest.raises(BadParameter, match="exact number"):
        PrivacyFilter.from_json(PureFilter(1).to_json().replace('"1"', f'"{"9" * 5000}"'))


def test_trade_off_curves_are_bounds_to_the_last_digit():
    with mpmath.workdps(60):
        for mu in (1e-6, 0.3, 4.9, 30.0):
            for rate in (1e-9, 1e-4, 0.2, 0.9):
                place = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(rate) - 1)
                assert float(GaussianDP(mu).tradeoff(rate)) <= mpmath.ncdf(-place - mpmath.mpf(mu))
    assert GaussianDP(1e300).tradeoff([0, 0.5, 1]).tolist() == [1, 0, 0]
    # At epsilon 1000 a test that errs in 3 of 10 cases one way hardly ever errs the other way: e^-1000 is below floats.
    assert Laplace(1e-3).tradeoff([0, 0.3, 1]).tolist() == [1, 0, 0]


def test_noise_is_calibrated_for_any_epsilon():
    tiny = calibrate.gaussian(Fraction(1, 10**400), 1e-6)
    assert tiny == calibrate.gaussian(1e-310, 1e-6)
    assert Gaussian(tiny).epsilon(1e-6) == 0
    assert FourPoint(1000).reduction([0.5, 0.5], [0.5, 0.5])[0] == (0.5, 0.5)
