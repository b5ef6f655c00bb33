"""The danger meter: what it says is what least squares does, and its verdicts follow the law."""

import math

import numpy as np
import pytest

from discreet import noise
from discreet.core.errors import BadParameter
from discreet.lab.danger import FALLS, SAFE, danger, deviation_for, share_recovered
from discreet.lab.picture import svg
from discreet.testing import FALSE_ALARM, seeded

PEOPLE = 400
# How far the share of so many people whom a simulation guesses strays from its mean, but for one time in a million
# (Hoeffding, as if guesses were independent), and what the limit law is off by at this size.
STRAY = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * 2 * PEOPLE)) + 0.01


def solved(questions, errors, deviation):
    """The attack itself, twice: ridge regression at the variance of a fair bit."""
    right = 0
    for _ in range(2):
        bits = noise.bernoulli(1 / 2, PEOPLE)
        groups = noise.bernoulli(1 / 2, (questions, PEOPLE)).astype(float)
        answers = errors(groups @ bits)
        matrix = groups.T @ groups + 4 * deviation**2 * np.eye(PEOPLE)
        found = np.linalg.solve(matrix, groups.T @ (answers - groups.sum(1) / 2))
        right += int(((found > 0) == (bits == 1)).sum())
    return right / (2 * PEOPLE)


@pytest.mark.parametrize("width", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("questions", [200, 400, 1600])
def test_the_expected_share_is_what_least_squares_recovers(width, questions):
    half = width * math.sqrt(PEOPLE)
    meter = danger(PEOPLE, questions, half)
    with seeded(round(100 * width) + questions):
        even = lambda counts: counts + (noise.uniform(10**6 + 1, len(counts)) / 5e5 - 1) * half  # noqa: E731
        assert abs(solved(questions, even, meter.deviation) - meter.share) <= STRAY


def test_the_shares_of_the_law_with_four_questions_a_person():
    shares = [danger(1000, 4000, width * math.sqrt(1000)).share for width in (0.25, 0.5, 1)]
    assert shares[0] >= 0.99
    assert shares[1] >= 0.93
    assert shares[2] == pytest.approx(0.80, abs=0.01)


def test_rounding_is_read_as_least_squares_reads_it():
    meter = danger(PEOPLE, 4 * PEOPLE, rounded=10)
    with seeded(5):
        found = solved(4 * PEOPLE, lambda counts: np.floor(counts / 10 + 0.5) * 10, meter.deviation)
    assert abs(found - meter.share) <= STRAY


def test_a_coarse_base_still_says_on_which_side_of_an_edge_a_count_lies():
    # 1000 people: half of the bits of random halves count 250, which is an edge of rounding to 100.
    coarse = danger(1000, 4000, rounded=100)
    assert coarse.deviation < 100 / math.sqrt(12)
    assert coarse.verdict == "succeeds"
    assert danger(1000, 4000, rounded=1001).share == 0.5


def test_exact_answers_give_everybody_away_once_there_are_as_many_as_people():
    assert danger(1000, 1000, 0).share == 1
    assert danger(1000, 500, 0).share == pytest.approx(0.8413, abs=1e-4)
    assert danger(1000, 1000, rounded=1).deviation == 0


@pytest.mark.parametrize(
    ("stated", "verdict"),
    [
        ({"rounded": 5}, "succeeds"),
        ({"error": 60}, "succeeds"),
        ({"error": 3000}, "not shown"),
        ({"laplace": 1}, "bounded"),
        ({"gaussian": 0.1}, "bounded"),
        ({"laplace": 50}, "succeeds"),
    ],
)
def test_the_verdict_follows_the_errors(stated, verdict):
    assert danger(1000, 4000, **stated).verdict == verdict


def test_few_exact_answers_are_not_called_harmless_since_two_of_them_tell_of_a_person():
    meter = danger(20_000, 50, rounded=5)
    assert meter.share <= SAFE
    assert meter.verdict == "succeeds"  # 52% of so many bits are more than a coin gives
    assert "differ by a person" in meter.sentence


@pytest.mark.parametrize("share", [0.55, SAFE, FALLS, 0.99])
def test_the_needed_error_gives_back_just_that_share(share):
    assert share_recovered(1000, 4000, deviation_for(1000, 4000, share)) == pytest.approx(share, abs=1e-9)


def test_where_even_exact_answers_give_less_no_error_is_needed():
    assert deviation_for(1000, 10, 0.9) == 0


def test_more_questions_and_smaller_errors_give_back_more():
    assert share_recovered(1000, 4000, 10) > share_recovered(1000, 2000, 10) > share_recovered(1000, 2000, 20)


def test_what_the_errors_are_worth_as_noise_is_what_discreet_would_charge():
    meter = danger(1000, 4000, laplace=1)
    assert meter.laplace == pytest.approx(1, rel=1e-6)
    gaussian = danger(1000, 4000, gaussian=0.1)
    assert gaussian.rho == pytest.approx(0.1)
    assert gaussian.gaussian == pytest.approx(gaussian.promised, rel=1e-6)
    assert gaussian.share <= gaussian.most


def test_questions_that_are_affordable_cost_no_more_than_one():
    meter = danger(1000, 4000, error=300)
    again = danger(1000, meter.affordable, error=300)
    assert min(again.laplace, again.gaussian) <= 1 + 1e-9
    more = danger(1000, meter.affordable + 2, error=300)
    assert min(more.laplace, more.gaussian) > 1


@pytest.mark.parametrize("stated", [{"error": 0}, {"rounded": 10}, {"rounded": 5000}, {"laplace": 1}, {"gaussian": 2}])
def test_a_reading_is_an_outcome_with_a_picture_and_plain_figures(stated):
    import json

    meter = danger(1000, 4000, **stated)
    outcome = meter.outcome
    assert outcome.success == pytest.approx(meter.share, abs=1 / meter.rows)
    assert outcome.verdict == meter.verdict
    assert json.loads(json.dumps(outcome.record(), allow_nan=False))["figures"]["verdict"] == meter.verdict
    assert svg(meter.picture).startswith("<svg")


@pytest.mark.parametrize("stated", [{}, {"error": 1, "rounded": 5}, {"error": -1}, {"rounded": 0}, {"laplace": 0}])
def test_errors_are_stated_once_and_make_sense(stated):
    with pytest.raises(BadParameter):
        danger(1000, 4000, **stated)


@pytest.mark.parametrize(("rows", "questions"), [(0, 1), (1, 0), (2.5, 1)])
def test_people_and_questions_are_counted(rows, questions):
    with pytest.raises(BadParameter):
        danger(rows, questions, 1)
