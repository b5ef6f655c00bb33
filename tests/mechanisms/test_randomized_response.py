"""Randomized response: exact odds, unbiased estimates with their variance and interval, repetition, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.account.losses.pure import Pure
from discreet.account.losses.pure import RandomizedResponse as Loss
from discreet.core.errors import BadParameter
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.mechanisms.randomized_response import RandomizedResponse, trials
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.mechanisms.elementary import check_fit, check_sum, surest


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = RandomizedResponse.coins()
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


def test_two_coins_cost_ln_3():
    mechanism = RandomizedResponse.coins(("no", "yes"))
    assert mechanism.chances("yes") == {"no": (Fraction(1, 4),) * 2, "yes": (Fraction(3, 4),) * 2}
    assert mechanism.chances("no")["yes"] == (Fraction(1, 4),) * 2
    with mp.workprec(200):
        assert mpf(mechanism.epsilon) >= mp.log(3) > mpf(math.nextafter(mechanism.epsilon, 0))
    assert mechanism.loss == Loss(mechanism.epsilon, relation="replace")


@pytest.mark.parametrize("bias", [0.01, 0.1, 0.2, 0.2499, 0.4])
def test_a_bias_costs_twice_artanh_of_twice_it_and_not_twice_it(bias):
    epsilon = RandomizedResponse.biased(bias).epsilon
    assert epsilon == pytest.approx(2 * math.atanh(2 * bias))
    assert epsilon >= 4 * bias > 2 * bias


@given(st.integers(2, 50), st.fractions(Fraction(1, 100), 20))
def test_an_epsilon_is_kept_and_used_up(size, epsilon):
    mechanism = RandomizedResponse(keys=range(size), epsilon=epsilon)
    assert mechanism.epsilon <= float(epsilon) * (1 + 1e-15)
    assert mechanism.epsilon >= float(epsilon) * (1 - 1e-7)
    assert mechanism.truth + (size - 1) * mechanism.lie == 1


@given(st.integers(2, 20), st.fractions(Fraction(1, 100), Fraction(99, 100)))
def test_the_declared_epsilon_is_the_exact_odds_rounded_up(size, share):
    truth = Fraction(1, size) + share * (1 - Fraction(1, size))
    mechanism = RandomizedResponse(keys=range(size), truth=truth)
    odds = float(truth * (size - 1) / (1 - truth))
    assert mechanism.epsilon == pytest.approx(math.log(odds), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("trial", list(trials()), ids=lambda trial: trial.name)
def test_no_report_loses_more_than_declared(trial):
    assert surest(trial.mechanism, trial.one, trial.other) <= trial.mechanism.epsilon * (1 + 1e-12)
    check_sum(trial.mechanism.chances(trial.one))


def test_more_than_two_keys_are_pure():
    assert type(RandomizedResponse(keys="ABC", epsilon=1).loss) is Pure


@pytest.mark.parametrize("trial", list(trials()), ids=lambda trial: trial.name)
def test_reports_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=61)


def test_every_person_s_report_is_independent_and_exact():
    mechanism = RandomizedResponse(keys=("A", "B", "C"), truth=Fraction(1, 2))
    answers = np.array(["A", "B", "C", "A", "?"] * 20_000)
    with seeded(62):
        reports = mechanism.release(answers)
    assert reports.shape == answers.shape
    for key, shares in {"A": (0.5, 0.25, 0.25), "B": (0.25, 0.5, 0.25), "?": (1 / 3,) * 3}.items():
        counts = [(reports[answers == key] == reported).sum() for reported in "ABC"]
        # false-alarm rate 1e-6
        assert fit(counts, shares) > FALSE_ALARM


def test_the_estimate_is_unbiased_and_not_the_slip():
    # E2: for two coins the frequency is 2 (share of yes) - 1/2; an eighth less, and it is off by a quarter.
    mechanism = RandomizedResponse.coins()
    answers = np.zeros(100_000, dtype=np.int64)
    answers[:12_000] = 1
    with seeded(63):
        reports = mechanism.release(answers)
    share = reports.mean()
    assert mechanism.estimate(reports)[1] == pytest.approx(2 * share - 0.5)
    # Five standard deviations: a chance below 1e-6.
    assert abs(mechanism.estimate(reports)[1] - 0.12) <= 5 * math.sqrt(mechanism.variance(100_000))
    low, high = mechanism.interval(reports, 1e-6)[1]
    assert low <= 0.12 <= high


@pytest.mark.parametrize("bias", [0.1, 0.25, 0.4])
def test_the_variance_is_exact_and_within_its_bound(bias):
    mechanism, people = RandomizedResponse.biased(bias), 100
    exact = (1 / 4 - bias**2) / (4 * bias**2 * people)  # M2
    assert mechanism.variance(people) == pytest.approx(exact)
    assert mechanism.variance(people, 0.3) == pytest.approx(exact)
    assert exact <= 1 / (16 * bias**2 * people)
    with seeded(64):
        reports = mechanism.releases(np.ones(people, dtype=int), 20_000)
    estimates = (reports.mean(axis=1) - (0.5 - bias)) / (2 * bias)
    # The variance of 20,000 nearly normal numbers has a relative standard error of 1%; five of them exclude 1e-6.
    assert estimates.var() == pytest.approx(exact, rel=0.05)
    # 20,000 runs at a failure rate of at most 0.05: more than 1,155 failures have a chance below 1e-6.
    assert (np.abs(estimates - 1) > mechanism.error(0.05, answers=people)).sum() <= 1155


def test_k_keys_have_the_variance_of_their_mixture():
    mechanism = RandomizedResponse(keys=range(4), truth=Fraction(1, 2))
    p, q, share, people = 1 / 2, 1 / 6, 0.25, 10
    exact = (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (people * (p - q) ** 2)
    assert mechanism.variance(people, share) == pytest.approx(exact)
    assert mechanism.variance(people) >= exact


def test_repeating_the_question_gives_the_truth_away_and_costs_every_time():
    mechanism = RandomizedResponse.coins()
    assert float(mechanism.majority(21)) == pytest.approx(0.9936, abs=1e-4)  # A15
    assert mechanism.majority(1) == Fraction(3, 4)
    assert (mechanism.loss * 20).epsilon(0) == pytest.approx(20 * math.log(3))
    with seeded(65):
        reports = mechanism.releases(1, 21 * 10_000).reshape(10_000, 21)
    right = (reports.sum(axis=1) >= 11).sum()
    # false-alarm rate 1e-6
    assert (
        fit([right, 10_000 - right], [float(mechanism.majority(21)), float(1 - mechanism.majority(21))]) > FALSE_ALARM
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("answer", [None, math.nan, "x", 7, 1.5, [], {}, b"1", 2**80, np.float64("inf")], ids=repr)
def test_an_answer_that_is_no_key_is_reported_evenly_and_never_refused(answer):
    mechanism = RandomizedResponse.coins()
    if not isinstance(answer, list):
        assert mechanism.chances(answer) == dict.fromkeys((0, 1), (Fraction(1, 2),) * 2)
        assert mechanism.release(answer) in (0, 1)
    mixed = mechanism.release([0, answer, 1])
    assert set(mixed.tolist()) <= {0, 1}


@pytest.mark.parametrize(
    "answers",
    [
        np.array([True, False]),
        np.array([1.0, 0.0, np.nan]),
        np.array([1, 0], dtype=np.uint8),
        [1, 0],
        np.array([[1], [0]]),
    ],
    ids=str,
)
def test_every_way_to_write_the_keys_is_understood(answers):
    mechanism = RandomizedResponse(keys=(0, 1), truth=1 - Fraction(1, 2**60))
    reports = mechanism.release(answers)
    assert reports.shape == np.shape(answers)
    assert reports.ravel()[:2].tolist() == [1, 0]


def test_mixed_keys_are_kept_as_they_are():
    mechanism = RandomizedResponse(keys=("a", 2), truth=1 - Fraction(1, 2**60))
    assert mechanism.release(["a", 2, "a"]).tolist() == ["a", 2, "a"]
    assert mechanism.release(np.array([2, 2])).tolist() == [2, 2]
    assert mechanism.release("a") == "a"


def test_an_estimate_of_nothing_is_a_number():
    assert np.isfinite(RandomizedResponse.coins().estimate([])).all()


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"truth": 0.75, "epsilon": 1},
        {"truth": 0.5},
        {"truth": 1},
        {"truth": math.nan},
        {"epsilon": 0},
        {"epsilon": 1e-30},
        {"epsilon": 1, "keys": (1,)},
        {"epsilon": 1, "keys": (1, 1)},
        {"epsilon": 1, "keys": (1.5, 2)},
        {"epsilon": 1, "keys": (True, False)},
        {"epsilon": 1, "relation": "add_remove"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        RandomizedResponse(**bad)


@pytest.mark.parametrize("bias", [0, 0.5, -0.1, math.nan])
def test_a_bias_outside_its_range_is_refused(bias):
    with pytest.raises(BadParameter, match="bias"):
        RandomizedResponse.biased(bias)


def test_a_majority_of_many_keys_is_refused():
    with pytest.raises(BadParameter, match="two keys"):
        RandomizedResponse(keys="ABC", epsilon=1).majority(3)


def test_an_epsilon_beyond_what_64_digits_can_tell_is_kept_all_the_same():
    assert 40 <= RandomizedResponse(epsilon=1000).epsilon <= 1000


def test_an_epsilon_beyond_all_decimals_is_kept_too():
    assert RandomizedResponse(epsilon=1e300) == RandomizedResponse(epsilon=1000)


def test_answers_that_are_arrays_of_unlike_shapes_are_reported_evenly_like_any_other():
    reports = RandomizedResponse.coins().release([np.zeros((2, 3)), np.zeros((2, 4))])
    assert reports.shape == (2,)


def test_keys_that_differ_by_a_zero_at_the_end_stay_apart():
    mechanism = RandomizedResponse(keys=("a", "a\0"), truth=1 - Fraction(1, 2**60))
    assert mechanism.release(["a", "a\0"]).tolist() == ["a", "a\0"]


def test_a_chance_beyond_the_floats_has_a_finite_error():
    assert 1 < RandomizedResponse.coins().error(Fraction(1, 10**400)) < 100
