"""Approximate losses and their reduction to the four-point mechanism."""

import math
from fractions import Fraction

import pytest

from discreet.account import Approx, FourPoint, Gaussian, Pure, Unsupported
from discreet.account.losses.approx import group_delta


def test_its_pair_is_the_four_point_mechanism():
    pair = Approx(0.5, 0.01).pair(1e-9)
    points = FourPoint(0.5, 0.01)
    assert sorted(pair.p) == pytest.approx(sorted(points.u))
    assert sorted(pair.q) == pytest.approx(sorted(points.v))


def test_one_of_them_costs_what_it_states():
    loss = Approx(0.5, 1e-6)
    assert loss.epsilon(1e-6) <= 0.5
    assert loss.epsilon(9e-7) == math.inf
    assert loss.delta(0.5) == pytest.approx(1e-6, rel=1e-9)
    assert loss.delta(100) == pytest.approx(1e-6, rel=1e-9)


def test_composition_is_that_of_the_pure_parts_and_any_failure():
    loss = Approx(0.1, 1e-9) * 100
    slack = -math.expm1(100 * math.log1p(-1e-9))
    rest = (1e-6 - slack) / (1 - slack)
    assert loss.epsilon(1e-6) == pytest.approx((Pure(0.1) * 100).epsilon(rest), rel=1e-6)
    assert loss.epsilon(1e-6) == pytest.approx(loss.epsilon(1e-6, method="pld"), rel=1e-4)


def test_the_delta_of_a_group_is_tight_and_below_the_lectures_bound():
    # D10: (k epsilon, k e^((k-1) epsilon) delta) holds too, and is never smaller.
    for k in (2, 3, 10):
        grouped = Approx(0.3, 1e-9).group(k)
        truth = 1e-9 * sum(math.exp(0.3 * i) for i in range(k))
        assert float(grouped.delta0) == pytest.approx(truth, rel=1e-12)
        assert float(grouped.epsilon0) == pytest.approx(0.3 * k)
        assert grouped.delta0 <= k * math.exp((k - 1) * 0.3) * 1e-9
    assert group_delta(5, 0, Fraction(1, 10**9)) == Fraction(5, 10**9)


def test_a_group_that_keeps_no_promise_is_refused():
    with pytest.raises(ValueError, match="has no guarantee"):
        Approx(1, 1e-3).group(50)
    with pytest.raises(ValueError, match="has no guarantee"):
        Approx(100, 1e-3).group(50)


def test_views_without_room_for_a_failure_are_refused():
    for view in (lambda loss: loss.zcdp(), lambda loss: loss.rdp(2)):
        with pytest.raises(Unsupported, match="guarantees nothing"):
            view(Approx(0.1, 1e-9) + Gaussian(1))


def test_a_loss_is_worth_its_own_epsilon_at_its_own_delta():
    assert Approx(1, 1e-5).epsilon(1e-5) == 1
    assert Approx(1, 1e-5).epsilon(2e-5) <= 1
    assert Approx(1, 1e-5).epsilon(0.9e-5) == math.inf


@pytest.mark.parametrize("delta", [Fraction(1, 10**5), Fraction(1, 7), 1e-5], ids=str)
def test_the_promise_holds_at_exactly_its_own_delta(delta):
    loss = Approx(Fraction(1, 2), delta)
    assert loss.epsilon(delta) == 0.5
    assert loss.epsilon(delta * Fraction(999, 1000)) == math.inf
    assert (loss * 3).epsilon(3 * Fraction(delta)) <= 1.5
