"""Laplace mechanism: laws of its loss and error, exact distribution, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms.laplace import Laplace, trials
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.testing import seeded
from tests.mechanisms.elementary import check_fit, check_sum, surest


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = Laplace(epsilon=1)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


@given(st.integers(1, 50), st.fractions(Fraction(1, 20), 10), st.sampled_from(["add_remove", "replace"]))
def test_the_loss_is_exactly_that_of_the_noise_drawn(sensitivity, epsilon, relation):
    mechanism = Laplace(sensitivity=sensitivity, epsilon=epsilon, relation=relation)
    assert mechanism.loss == DiscreteLaplace(sensitivity / epsilon, sensitivity=sensitivity, relation=relation)
    assert mechanism.epsilon == epsilon == mechanism.loss.peak
    assert mechanism == Laplace(sensitivity=sensitivity, scale=sensitivity / epsilon, relation=relation)


def test_a_float_epsilon_is_the_rational_it_stores():
    assert Laplace(epsilon=0.1).scale == 1 / Fraction(0.1)


@pytest.mark.parametrize("trial", list(trials()), ids=lambda trial: trial.name)
def test_no_output_loses_more_than_epsilon_and_some_output_loses_all_of_it(trial):
    found = surest(trial.mechanism, trial.one, trial.other)
    assert found <= float(trial.mechanism.epsilon) * (1 + 1e-12)
    assert found >= float(trial.mechanism.epsilon) * (1 - 1e-6)


@pytest.mark.parametrize("move", [(2, 1, 0), (1, 1, 0), (3, 1, 0), (2, 2, 0), (1, 1, 1), (3, 2, 1)], ids=str)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(5, 2)], ids=str)
def test_a_vector_loses_no_more_than_one_number_moved_as_far_in_all(move, scale):
    mechanism = Laplace(sensitivity=sum(move), scale=scale)
    places = np.arange(-60, 66)
    noise = [np.exp(-np.abs(places - step) / float(scale)) * math.tanh(1 / (2 * scale)) for step in (0, *move)]
    one, other = (a[:, None, None] * b[:, None] * c for a, b, c in (noise[1:], [noise[0]] * 3))
    for epsilon in np.linspace(0, float(mechanism.epsilon), 9).tolist():
        found = np.maximum(one - math.exp(epsilon) * other, 0).sum()
        assert found <= mechanism.loss.delta(epsilon) + 1e-9


@settings(max_examples=40)
@given(st.fractions(Fraction(1, 10), 1000), st.sampled_from([0.5, 0.1, 0.05, 0.01, 1e-6]))
def test_the_error_is_the_least_whole_half_width(scale, beta):
    half = Laplace(scale=scale).error(beta)
    q = math.exp(-1 / scale)

    def tail(h):
        return 2 * q ** (h + 1) / (1 + q)

    assert tail(half) <= beta * (1 + 1e-9)
    assert half == 0 or tail(half - 1) >= beta * (1 - 1e-9)
    # The tail of continuous noise is ln(1/beta) scales (M4); the discrete one is never more than a step beyond.
    assert half <= math.log(1 / beta) * scale + 1


def test_the_error_of_many_coordinates_holds_for_all_of_them_together():
    mechanism = Laplace(epsilon=1)
    with seeded(11):
        worst = np.abs(mechanism.releases(np.zeros(50, dtype=int), 20_000)).max(axis=1)
    # 20,000 runs at a failure rate of at most 0.05: more than 1,155 failures have a chance below 1e-6.
    assert (worst > mechanism.error(0.05, dimension=50)).sum() <= 1155


@pytest.mark.parametrize("trial", list(trials()), ids=lambda trial: trial.name)
def test_releases_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=12)


def test_the_chances_are_bounds_that_sum_to_one():
    check_sum(Laplace(epsilon=Fraction(1, 3)).chances(7))


def test_a_grid_keeps_integers_inside_and_scales_at_the_end():
    mechanism = Laplace(sensitivity=0.5, epsilon=1, step=0.1)
    assert mechanism.loss == DiscreteLaplace(5, sensitivity=5)
    assert mechanism.error() == pytest.approx(0.1 * Laplace(scale=5).error())
    with seeded(13):
        released = mechanism.release(mechanism.exact(12.34))
    assert released * 10 == pytest.approx(round(released * 10))
    assert mechanism.exact([12.34, 12.36, -0.04, Fraction(1, 3)]).tolist() == [123, 124, 0, 3]


def test_a_sensitivity_between_steps_is_rounded_up():
    assert Laplace(sensitivity=0.25, epsilon=1, step=0.1).loss.sensitivity == 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "12", 10**400, 1e308, np.float32(3)])
def test_no_value_is_refused_on_the_way_to_the_grid(value):
    assert isinstance(Laplace(epsilon=1, step=0.01).exact(value), int)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5), st.integers(0, 2**32))
def test_noise_never_wraps_at_the_ends_of_64_bits(values, seed):
    with seeded(seed):
        released = Laplace(epsilon=1).release(np.array(values, dtype=np.int64)).tolist()
    # |noise| > 200 has a chance of 1e-87.
    assert all(abs(noisy - value) <= 200 for noisy, value in zip(released, values, strict=True))


@pytest.mark.parametrize("values", [2**70, [2**70, 1], np.array([2**63 + 5], dtype=np.uint64)], ids=str)
def test_numbers_of_any_size_are_released_whole(values):
    with seeded(14):
        released = np.array(Laplace(epsilon=1).release(values), dtype=object)
    noise = np.atleast_1d(released - np.array(values, dtype=object))
    assert all(abs(int(each)) <= 200 for each in noise)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8, np.int64])
def test_small_integer_types_are_widened_first(kind):
    most = np.array([np.iinfo(kind).max], dtype=kind)
    with seeded(15):
        released = Laplace(scale=1000).releases(most, 1000)
    assert max(released.ravel().tolist()) > int(most[0])


@pytest.mark.parametrize("exact", [1.5, "7", None, True, np.array([1.5]), [1, 2.5]], ids=str)
def test_what_is_not_whole_is_refused_by_its_type(exact):
    with pytest.raises(BadParameter, match="integer"):
        Laplace(epsilon=1).release(exact)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"epsilon": 1, "scale": 1},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"epsilon": "1"},
        {"epsilon": True},
        {"scale": 0},
        {"epsilon": 1, "sensitivity": 0},
        {"epsilon": 1, "step": -1},
        {"epsilon": 1, "relation": "swap"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        Laplace(**bad)


@pytest.mark.parametrize("beta", [0, 1, -0.1, 2, math.nan, "x"])
def test_a_chance_of_error_lies_between_0_and_1(beta):
    with pytest.raises(BadParameter, match="beta"):
        Laplace(epsilon=1).error(beta)


def test_a_distribution_too_long_to_write_down_is_refused():
    with pytest.raises(BadParameter, match="audit by samples"):
        Laplace(scale=10**6).chances(0)


def test_steps_that_are_one_float_far_from_zero_are_counted_together():
    check_sum(Laplace(epsilon=1, step=0.1).chances(10**18))
