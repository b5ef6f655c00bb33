"""Randomized response: two coins, k values, exact odds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import local
from discreet.core.errors import BadParameter
from discreet.lab.audits.audit import audit
from discreet.testing import seeded


def test_two_coins_cost_ln_3_and_answer_the_truth_three_times_in_four():
    survey = local.randomized_response(truth=Fraction(3, 4))
    assert survey.likelihood(1) == {b"\0": Fraction(1, 4), b"\1": Fraction(3, 4)}
    assert survey.loss.epsilon(0) == pytest.approx(math.log(3), rel=1e-15)
    assert survey.odds == 3


def test_two_coins_estimate_a_share_within_its_standard_deviation():
    survey, people, yes, runs = local.randomized_response(truth=Fraction(3, 4)), 10_000, 1200, 14_000
    values = np.zeros(people, dtype=np.uint8)
    values[:yes] = 1
    shares = []
    with seeded(911):
        for _ in range(14):
            said = survey.encode(np.tile(values, runs // 14)).rows.reshape(-1, people).sum(axis=1)
            shares.append(2 * (said / people) - 0.5)  # E2: not 2 (share of yes) - 1/4
    found = np.concatenate(shares)
    # The deviation of 14,000 nearly normal numbers has a relative error of 0.6%; five of them are 3%: below 1e-6.
    assert found.std() == pytest.approx(0.00866, rel=0.03)
    assert found.mean() == pytest.approx(0.12, abs=5 * 0.00866 / math.sqrt(runs))
    assert math.sqrt(survey.variance(people)) / people == pytest.approx(0.00866, rel=1e-3)


def test_an_audit_of_two_coins_finds_nearly_all_of_ln_3():
    survey = local.randomized_response(truth=Fraction(3, 4))
    with seeded(912):
        finding = audit(survey, 0, 1, samples=400_000, layers=["black_box"])
    assert not finding.violated
    assert 1.05 <= finding.lower <= 1.0986


@given(st.integers(2, 3000), st.fractions(Fraction(1, 100), 12))
def test_an_epsilon_is_kept_and_used_up(k, epsilon):
    protocol = local.randomized_response(k=k, epsilon=epsilon)
    spent = protocol.loss.epsilon(0)
    assert spent <= float(epsilon) * (1 + 1e-15)
    assert spent >= float(epsilon) * (1 - 1e-9)
    assert protocol.truth + (k - 1) * protocol.lie == 1


@pytest.mark.parametrize(("k", "size"), [(2, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 3), (100_000, 3)])
def test_a_report_has_as_many_bytes_as_a_value_needs(k, size):
    protocol = local.randomized_response(k=k, epsilon=2)
    assert protocol.bytes_per_report == size
    values = np.array([0, 1, k - 1])
    assert local.randomized_response(k=k, epsilon=30).encode(values).rows.shape == (3, size)


@pytest.mark.parametrize("k", [3, 200, 5000, 70_000])
def test_at_a_large_epsilon_nearly_everyone_tells_the_truth(k):
    values = np.arange(1000) % k
    with seeded(913):
        sketch = local.randomized_response(k=k, epsilon=30).aggregate(
            local.randomized_response(k=k, epsilon=30).encode(values)
        )
    # A lie has probability below 70,000 e^-30, 7e-9: none of 1,000 with a chance of 1 - 7e-6 at worst, for one seed.
    assert np.array_equal(sketch.counts, np.bincount(values, minlength=k))


def test_truths_that_are_not_dyadic_are_rounded_to_the_private_side():
    protocol = local.randomized_response(k=4, truth=0.75)
    assert protocol.truth <= Fraction(3, 4)
    assert float(protocol.truth) == pytest.approx(0.75, rel=1e-15)


@pytest.mark.parametrize("given_", [{}, {"epsilon": 1, "truth": 0.75}, {"truth": 0.5}, {"truth": 1}, {"truth": "x"}])
def test_coins_are_stated_once_and_sensibly(given_):
    with pytest.raises(BadParameter):
        local.randomized_response(**given_)
