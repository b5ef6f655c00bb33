"""Tracing: members found in averages, and the area that a promise allows."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.attacks import tracing as lab
from discreet.lab.attacks.tracing.people import attributes_of, people, population
from discreet.lab.attacks.tracing.private_answers import Forgetful, least_noise, most
from discreet.lab.defence import (
    DELTA,
    ExactDefence,
    GaussianDefence,
    LaplaceDefence,
    RoundedDefence,
    SuppressedDefence,
    ceiling,
)
from discreet.lab.table_copy import TableCopy
from discreet.lab.vault_copy import Vaulted
from discreet.testing import FALSE_ALARM, seeded

WIDTH = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)  # standard errors that a right program exceeds once in a million


def scored(inside, outside, defence=None):
    return lab.Tracing(defence or ExactDefence(), 7, np.array(inside, float), np.array(outside, float), told=0)


@pytest.mark.parametrize(
    "defence", [ExactDefence(), RoundedDefence(5), SuppressedDefence(10)], ids=lambda each: each.name
)
def test_averages_of_ten_thousand_attributes_give_a_hundred_people_away(defence):
    with seeded(7):
        found = lab.made(defence)
    assert found.area >= 0.95
    assert found.caught() >= 0.9
    assert found.outcome.succeeds


@pytest.mark.parametrize("defence", [LaplaceDefence(1), least_noise(10_000)], ids=lambda each: each.name)
def test_discreet_hides_them_for_an_epsilon_of_one_in_all(defence):
    with seeded(8):
        found = lab.made(defence)
    assert found.area <= 0.6
    assert not found.outcome.succeeds
    assert found.outcome.ceiling == most(defence)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_both_bars_hold_for_twenty_seeds(seed):
    with seeded(seed):
        assert lab.made(ExactDefence()).area >= 0.95
        assert lab.made(LaplaceDefence(1)).area <= 0.6
        assert lab.made(least_noise(10_000)).area <= 0.6


def test_the_area_is_what_the_theory_says_for_as_many_attributes_as_people():
    """Scores stand sqrt(d/n) standard deviations apart; the variance of an area is at most a quarter over n."""
    with seeded(9):
        areas = [lab.made(attributes=100).area for _ in range(20)]
    slack = WIDTH * 0.5 / math.sqrt(lab.MEMBERS * len(areas)) + 0.01
    assert np.mean(areas) == pytest.approx(NormalDist().cdf(1 / math.sqrt(2)), abs=slack)


def test_more_attributes_tell_more():
    with seeded(10):
        drawn = lab.climb([ExactDefence(), LaplaceDefence(1)], (10, 100, 1000), members=60)
    exact = [area for _, area in drawn.series[0][1]]
    assert exact == sorted(exact)
    assert exact[-1] > 0.95
    assert max(area for _, area in drawn.series[1][1]) < 0.7


def test_no_area_exceeds_the_promise_and_one_attribute_of_two_people_reaches_it():
    """A member with the bit and an outsider without: the member wins where the noise is not negative, as it happens."""
    runs = 2000
    with seeded(11):
        areas = [lab.tracing([[1]], [[0]], [0.5], LaplaceDefence(1)).area for _ in range(runs)]
        normal = [lab.tracing([[1]], [[0]], [0.5], GaussianDefence(0.5)).area for _ in range(runs)]
    slack = WIDTH * math.sqrt(0.25 / runs)
    assert np.mean(areas) == pytest.approx(most(LaplaceDefence(1)), abs=slack)
    assert 0.6 < np.mean(normal) <= most(GaussianDefence(0.5)) + slack


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_area_under_the_curve_that_epsilon_allows_is_its_ceiling(epsilon):
    alarms = np.linspace(0, 1, 200_001)
    highest = np.minimum(np.exp(epsilon) * alarms, 1 - np.exp(-epsilon) * (1 - alarms))
    area = float(((highest[1:] + highest[:-1]) / 2).mean())
    assert area == pytest.approx(ceiling(epsilon), abs=1e-6)
    assert most(LaplaceDefence(epsilon)) == ceiling(epsilon)


def test_an_area_counts_ties_half():
    assert scored([2, 1], [1, 0]).area == pytest.approx(3.5 / 4)
    assert scored([1, 1], [1, 1]).area == 0.5


def test_members_are_caught_beyond_the_allowed_false_alarms():
    found = scored([5, 1998.5, 1999, 3000], np.arange(2000))
    assert found.caught() == 0.75  # two of two thousand may lie above, and the third highest is 1997
    assert found.caught(0.0) == 0.25
    assert scored([1.0], [1.0]).caught() == 0


def test_a_curve_begins_and_ends_at_the_corners_and_never_turns_back():
    with seeded(12):
        points = lab.made(members=50, attributes=200).curve()
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    assert points == sorted(points)


def test_averages_that_were_withheld_are_left_out():
    inside = np.array([[1, 0], [1, 0], [1, 0], [1, 0]])
    found = lab.tracing(inside, [[0, 1]], [0.5, 0.5], SuppressedDefence(3))
    assert found.inside.tolist() == [2.0] * 4
    assert found.outside.tolist() == [0.0]
    assert lab.tracing(inside, [[0, 1]], [0.5, 0.5], SuppressedDefence(5)).area == 0.5


def test_all_scores_find_members_who_are_alike_in_nothing():
    with seeded(13):
        frequencies = population(300)
        inside, outside, others = (people(count, frequencies) for count in (40, 500, 1500))
        areas = {score: lab.tracing(inside, outside, others, score=score).area for score in lab.SCORES}
    assert min(areas.values()) > 0.9
    assert max(areas.values()) - min(areas.values()) < 0.06


def test_the_best_mechanism_for_many_averages_is_the_gaussian_and_for_few_laplace():
    assert isinstance(least_noise(10_000), GaussianDefence)
    assert least_noise(1) == LaplaceDefence(1)
    assert least_noise(10_000, 1, DELTA).epsilon <= 1 + 1e-9
    assert least_noise(10_000, 2).rho > least_noise(10_000, 1).rho


def test_noise_for_each_question_adds_up():
    assert Forgetful(1, 500).epsilon == 500
    with seeded(14):
        assert lab.made(Forgetful(1, 2000), attributes=2000).area > 0.95


def test_exact_averages_of_a_custodians_own_table_give_members_away():
    copied = TableCopy.read(rand.path(), identifier="zper")
    said = []
    with seeded(15):
        outcomes = lab.expose(copied, said.append)
    assert [outcome.succeeds for outcome in outcomes] == [True, True, False, False]
    assert len(said) == len(outcomes)
    assert outcomes[0].success > 0.75
    assert "chance is 50.0%" in outcomes[0].sentence
    assert "Bounded by the promise" in outcomes[-1].sentence
    assert not any(outcome.demonstration for outcome in outcomes)


def test_ties_of_members_and_outsiders_are_decided_by_coins():
    with seeded(19):
        told = lab._told_apart(np.zeros(2000), np.zeros(2000))
    assert abs(told - 1000) <= math.sqrt(math.log(2 / FALSE_ALARM) * 2000 / 2)  # Hoeffding
    assert lab._told_apart(np.ones(20), np.zeros(30)) == 20


@pytest.mark.parametrize(
    "table",
    [
        {"a": [1]},
        {"a": ["x"] * 50},
        {"a": [None] * 50},
        {"id": list(range(50))},
    ],
)
def test_a_table_with_nothing_to_average_exposes_nothing(table):
    identifier = "id" if "id" in table else None
    assert lab.expose(TableCopy.read(table, identifier=identifier)) == []


def test_missing_values_texts_numbers_and_dates_become_attributes():
    days = np.arange("2020-01-01", "2020-02-10", dtype="datetime64[D]")
    days[3] = np.datetime64("NaT")
    table = {
        "day": days,
        "number": [None if row == 5 else float(row) for row in range(40)],
        "flag": [True, False] * 20,
        "text": [None if row % 7 == 0 else "ab"[row % 2] for row in range(40)],
    }
    bits = attributes_of(TableCopy.read(table))
    assert bits.shape[0] == 40
    assert 20 < bits.shape[1] <= 800
    shares = bits.mean(axis=0)
    assert shares.min() >= 0.02
    assert shares.max() <= 0.98
    assert len({column.tobytes() for column in bits.T}) == bits.shape[1]
    with seeded(16):
        assert len(lab.expose(TableCopy.read(table))) == 4


def test_a_real_vault_answers_as_its_promise_says():
    with seeded(18):
        frequencies = population(6)
        found = lab.tracing(people(30, frequencies), people(30, frequencies), frequencies, Vaulted(1))
    assert found.outcome.ceiling == ceiling(1)
    assert "a Discreet vault" in found.outcome.sentence
    assert len({*found.inside.tolist()}) > 1


def test_few_outsiders_allow_no_false_alarm_at_all():
    outcome = scored([300] * 50, range(200)).outcome
    assert "100.0% of the members are named with no false alarm among 200 outsiders" in outcome.sentence


def test_a_wide_table_does_not_cross_all_its_columns():
    with seeded(17):
        bits = people(60, population(300))
    table = {f"column_{place}": bits[:, place].astype(np.int64) for place in range(300)}
    assert attributes_of(TableCopy.read(table)).shape[1] == 800


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UnknownName, match="product"):
        lab.tracing([[1]], [[0]], [0.5], score="produkt")
    with pytest.raises(BadParameter, match="everyone the same attributes"):
        lab.tracing([[1, 0]], [[0]], [0.5, 0.5])
    with pytest.raises(BadParameter, match="table of bits"):
        lab.tracing([[2]], [[0]], [0.5])
    with pytest.raises(BadParameter, match="are correlated"):
        lab.tracing([[1]], [[0]], [0.5], score="whitened")
