"""Outcomes: three verdicts that follow from counts, chance and a promise, and words that say the same."""

import json
from itertools import product
from math import comb

import pytest

from discreet.core.errors import BadParameter
from discreet.lab.outcome import CONFIDENCE, VACUOUS, ComputedShare, Counted, Outcome, Verdict, percent, tally


def judged(right, trials, chance=0.5, ceiling=None, **more):
    return Outcome("x", "y", Counted(right, trials, "bits"), chance, "It was tried.", ceiling, **more)


@pytest.mark.parametrize(("right", "trials"), [(1, 1), (3, 7), (20, 20), (64, 100), (1, 500)])
def test_the_bound_lies_above_the_truth_exactly_as_seldom_as_it_says(right, trials):
    # Where the truth is the bound, so many or more come out right with the probability that the bound may fail with.
    least = Counted(right, trials, "bits").least
    tail = sum(comb(trials, k) * least**k * (1 - least) ** (trials - k) for k in range(right, trials + 1))
    assert tail == pytest.approx(1 - CONFIDENCE)


@pytest.mark.parametrize("chance", [0.001, 0.1, 0.5, 0.9])
def test_an_attack_that_guesses_is_said_to_succeed_no_more_often_than_the_confidence_allows(chance):
    for trials in (1, 2, 5, 10, 50):
        weights = [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
        alarms = sum(weight for k, weight in enumerate(weights) if judged(k, trials, chance).succeeds)
        assert alarms <= (1 - CONFIDENCE) * (1 + 1e-9)


def test_the_verdict_follows_from_the_numbers_alone():
    assert judged(89, 100).verdict is Verdict.SUCCEEDS
    assert judged(52, 100).verdict is Verdict.NOT_SHOWN
    assert judged(2, 2).verdict is Verdict.NOT_SHOWN  # two of two may be luck
    assert judged(0, 0).verdict is Verdict.NOT_SHOWN
    assert judged(9, 9, chance=1.0).verdict is Verdict.NOT_SHOWN  # nobody does better than certain
    assert judged(89, 100, ceiling=0.9).verdict is Verdict.BOUNDED
    assert judged(0, 0, ceiling=0.7).verdict is Verdict.BOUNDED
    assert judged(89, 100, ceiling=0.5).verdict is Verdict.SUCCEEDS  # the promise was not kept
    assert judged(89, 100, ceiling=VACUOUS).verdict is Verdict.SUCCEEDS  # a promise of nothing bounds nothing
    assert judged(52, 100, ceiling=1.0).verdict is Verdict.NOT_SHOWN
    assert Outcome("x", "y", ComputedShare(0.6, "guesses"), 0.5, "").succeeds


def test_a_verdict_cannot_be_given():
    with pytest.raises(TypeError):
        Outcome("x", "y", Counted(1, 2, "bits"), 0.5, "", verdict="succeeds")
    with pytest.raises((AttributeError, TypeError)):
        judged(1, 2).verdict = Verdict.SUCCEEDS


@pytest.mark.parametrize(("chance", "ceiling"), [(0.5, 0.0), (0.5, 0.49), (0.5, 1.1), (-0.1, None), (1.5, None)])
def test_a_ceiling_below_chance_and_what_is_no_probability_are_refused(chance, ceiling):
    with pytest.raises(BadParameter):
        judged(1, 2, chance, ceiling)


@pytest.mark.parametrize(("right", "trials"), [(3, 2), (-1, 2), (1, 0)])
def test_more_hits_than_trials_are_refused(right, trials):
    with pytest.raises(BadParameter):
        Counted(right, trials, "bits")


def test_a_share_beyond_one_is_refused():
    with pytest.raises(BadParameter):
        ComputedShare(1.2, "guesses")


@pytest.mark.parametrize(
    ("right", "ceiling", "demonstration"), [*product((0, 5, 60, 100), (None, 0.5, 0.7, 1.0), (False, True))]
)
def test_the_sentence_says_what_the_record_says(right, ceiling, demonstration):
    outcome = judged(right, 100, ceiling=ceiling, demonstration=demonstration)
    record = json.loads(json.dumps(outcome.record()))
    said = record["sentence"]
    assert said.startswith("It was tried.")
    assert f"{right} of 100 bits ({percent(record['success'])}, at least {percent(record['least'])} at 99.9%" in said
    assert "chance is 50.0%" in said
    assert ("The attack succeeds" in said) == (record["verdict"] == "succeeds") == outcome.succeeds
    assert ("is not shown" in said) == (record["verdict"] == "not shown")
    assert (f"Bounded by the promise: no attack can expect more than {percent(ceiling or 0)}" in said) == (
        record["verdict"] == "bounded"
    )
    assert ("A demonstration" in said) == record["demonstration"] == demonstration


def test_a_bound_beyond_the_promise_is_called_a_defect():
    assert "this is a defect" in judged(100, 100, ceiling=0.7).sentence


def test_shares_are_not_rounded_to_nothing_or_everything():
    assert [percent(each) for each in (0, 1e-6, 0.5, 0.99999, 1)] == ["0.0%", "0.0001%", "50.0%", ">99.9%", "100.0%"]


def test_demonstrations_are_not_counted_as_verdicts_on_the_table():
    outcomes = (judged(100, 100), judged(100, 100, demonstration=True), judged(5, 10), judged(5, 10, ceiling=0.6))
    assert [*tally(outcomes).values()] == [1, 1, 1]
