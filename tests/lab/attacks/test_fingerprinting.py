"""Fingerprinting: coalitions caught whatever they mix, innocents safe, private answers not to be traced."""

import math
from itertools import product

import numpy as np
import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.attacks import fingerprinting as lab
from discreet.lab.attacks.fingerprinting.pirates import PIRATES, answering
from discreet.lab.attacks.tracing.private_answers import least_noise
from discreet.lab.defence import DELTA, ExactDefence, LaplaceDefence, NoisyDefence, RoundedDefence
from discreet.lab.table_copy import TableCopy
from discreet.testing import FALSE_ALARM, seeded

USERS, COALITION = 30, 5


@pytest.mark.parametrize("strategy", PIRATES)
def test_a_coalition_is_caught_whatever_it_mixes_and_nobody_else_is(strategy):
    with seeded(20):
        runs = [lab.fingerprinting(USERS, COALITION, strategy) for _ in range(5)]
    for found in runs:
        assert found.kept == 1  # the marking assumption
        assert found.accused
        assert {*found.accused} <= {*found.coalition}
        assert found.outcome.succeeds


@pytest.mark.parametrize("coalition", [1, 2, 30])
def test_coalitions_of_any_size_are_caught(coalition):
    with seeded(21):
        found = lab.fingerprinting(30, coalition, "member")
    assert found.accused
    assert {*found.accused} <= {*found.coalition}


@pytest.mark.parametrize("defence", [ExactDefence(), RoundedDefence(2), NoisyDefence(1)], ids=lambda each: each.name)
def test_whoever_answers_averages_well_is_a_pirate_who_is_caught(defence):
    with seeded(22):
        found = lab.fingerprinting(USERS, COALITION, defence)
    assert found.kept == 1
    assert {*found.accused} <= {*found.coalition}
    assert found.outcome.success > 0.5
    assert found.outcome.ceiling is None


@pytest.mark.parametrize("private", [LaplaceDefence(1), least_noise(5000)], ids=lambda each: each.name)
def test_private_answers_break_the_marking_assumption_and_are_traced_to_nobody(private):
    with seeded(23):
        found = lab.fingerprinting(USERS, COALITION, private)
    assert found.accused == ()
    assert found.kept < 0.7
    assert not found.outcome.succeeds
    assert found.outcome.success <= found.outcome.ceiling <= math.e * lab.RATE / USERS + DELTA + 1e-9
    assert "lost in the noise" in found.outcome.sentence


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_exceeded_by_innocents_no_more_often_than_stated_exactly(seed):
    """All words of a short code, each with its probability, against a copy that knows none of them."""
    with seeded(seed):
        code = lab.FingerprintCode.make(2, 1, length=8, rate=0.4)
    copy = code.words[0]
    every = np.array([*product((False, True), repeat=8)])
    chances = np.where(every, code.biases, 1 - code.biases).prod(axis=1)
    scores = lab.FingerprintCode(code.biases, every, code.rate).scores(copy)
    assert chances.sum() == pytest.approx(1)
    assert chances @ scores == pytest.approx(0, abs=1e-9)
    assert chances @ scores**2 == pytest.approx(8)
    assert chances[scores > code.threshold(copy)].sum() <= 0.4 / 2


def test_innocents_are_accused_no_more_often_than_stated():
    """At a rate of 5% for all innocents together; more than `most` of the runs happen once in a million at 5%."""
    from scipy.special import bdtrc

    runs, rate = 300, 0.05
    most = next(count for count in range(runs) if bdtrc(count, runs, rate) <= FALSE_ALARM)
    with seeded(24):
        tried = [lab.fingerprinting(20, 3, "majority", rate=rate, length=400) for _ in range(runs)]
    wronged = sum(bool({*found.accused} - {*found.coalition}) for found in tried)
    assert wronged <= most
    assert sum(bool(found.accused) for found in tried) > 0.9 * runs


def test_a_code_is_far_shorter_than_the_first_one():
    for coalition in (5, 20, 100):
        length, tardos = lab.length_of(100, coalition), 100 * coalition**2 * math.log(100 / lab.RATE)
        assert math.pi**2 / 2 <= length / (coalition**2 * math.log(100 / lab.RATE)) < 15
        assert length < tardos / 5


def test_a_table_of_any_size_is_marked():
    with seeded(25):
        outcomes = lab.expose(TableCopy.read({"a": list(range(40))}))
    assert [outcome.succeeds for outcome in outcomes] == [True, True, True, False, False]
    assert lab.expose(TableCopy.read({"a": [1]})) == []
    assert lab.expose(TableCopy.read({"a": [1, 2, 3]}))[0].succeeds


def test_a_pirate_that_answers_keeps_what_all_share():
    words = np.array([[True, False, True], [True, False, False], [True, False, False]])
    assert answering(ExactDefence())(words).tolist() == [True, False, False]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UnknownName, match="majority"):
        lab.fingerprinting(10, 2, "majorty")
    with pytest.raises(BadParameter, match="at most all 10 users"):
        lab.fingerprinting(10, 11)
    with pytest.raises(BadParameter, match="rate"):
        lab.fingerprinting(10, 2, rate=0)
