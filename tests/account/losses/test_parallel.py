"""Parallel composition."""

import numpy as np
import pytest

from discreet.account import Approx, Gaussian, Laplace, Pure, RandomizedResponse, Unsupported, parallel
from discreet.account.numeric.loss_measure import discretize, envelope
from discreet.account.numeric.profile import Profile
from discreet.core.errors import BadParameter


def test_the_worst_part_counts_at_every_epsilon():
    loss = parallel(Laplace(2), Gaussian(2.2))
    for delta in (1e-2, 1e-6, 1e-12):
        assert loss.epsilon(delta) == max(Laplace(2).epsilon(delta), Gaussian(2.2).epsilon(delta))
    for epsilon in (0.1, 0.45, 1.0):
        assert loss.delta(epsilon) == max(Laplace(2).delta(epsilon), Gaussian(2.2).delta(epsilon))


def test_fifty_equal_parts_cost_one():
    assert parallel(*[Laplace(2)] * 50) == Laplace(2)


def test_the_order_of_parts_does_not_matter():
    assert parallel(Laplace(2), Pure(1)) == parallel(Pure(1), Laplace(2))


def test_replace_losses_are_refused():
    # E30, RULES 2: under replace a record can move from one part to another.
    with pytest.raises(BadParameter, match="move from one part to another"):
        parallel(Laplace(2, relation="replace"), Laplace(3, relation="replace"))


def test_a_composition_is_at_least_that_of_each_part_and_close_to_the_worst():
    rest = RandomizedResponse(0.2)
    loss = parallel(Laplace(5), Gaussian(4)) * 20 + rest
    parts = [(each * 20 + rest).epsilon(1e-6) for each in (Laplace(5), Gaussian(4))]
    assert max(parts) * (1 - 1e-5) <= loss.epsilon(1e-6) <= max(parts) * 1.2
    assert loss.epsilon(1e-6) <= (Laplace(5) * 20 + Gaussian(4) * 20 + rest).epsilon(1e-6)


def test_parts_of_one_family_stay_in_closed_form():
    assert (parallel(Gaussian(2), Gaussian(3)) * 4).epsilon(1e-6) == (Gaussian(2) * 4).epsilon(1e-6)
    assert (parallel(Pure(1), RandomizedResponse(0.5)) * 4).epsilon(1e-6) == (Pure(1) * 4).epsilon(1e-6)


def test_other_views_take_the_maximum():
    loss = parallel(Laplace(2), Gaussian(4))
    assert loss.zcdp() == max(Laplace(2).zcdp(), Gaussian(4).zcdp())
    alphas = np.array([1.5, 4.0, 64.0])
    np.testing.assert_array_equal(loss.rdp(alphas), np.maximum(Laplace(2).rdp(alphas), Gaussian(4).rdp(alphas)))
    assert parallel(Approx(1, 1e-9), Approx(0.5, 1e-8)).slack == 1e-8


def test_a_group_may_lie_in_several_parts():
    with pytest.raises(Unsupported, match="different parts"):
        parallel(Laplace(2), Gaussian(4)).group(2)


def test_the_envelope_lies_above_all_profiles():
    edges = np.arange(-3000, 3001) * 1e-3
    measures = [discretize(loss.pair(1e-12), edges) for loss in (Laplace(1), Gaussian(1.7), Pure(0.6))]
    whole = envelope(measures)
    profiles = [Profile(each.losses, each.masses, each.infinity) for each in (whole, *measures)]
    for epsilon in np.linspace(-1, 2.5, 71):
        top, *others = (profile.delta(float(epsilon)) for profile in profiles)
        assert max(others) * (1 - 1e-12) <= top <= max(others) * (1 + 1e-3) + 1e-9
