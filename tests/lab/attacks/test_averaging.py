"""Averaging: fresh noise averages away, a vault replays and then refuses, and remembered answers say nothing new."""

import json
import math

import numpy as np
import pytest

from discreet.core.errors import BadParameter
from discreet.lab.attacks.averaging import averaging, expose, ledgered, majority, surveyed
from discreet.lab.defence import ceiling
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.local.longitudinal import repeated
from discreet.local.protocols.randomized_response import randomized_response
from discreet.testing import FALSE_ALARM, seeded


@pytest.fixture(scope="module")
def clinic():
    return TableCopy.read({"ward": ["A", "B", "C"] * 40, "ill": ["yes", "no"] * 60})


def test_the_majority_of_21_answers_at_ln_3_is_right_with_09936():
    assert majority(math.log(3), 21) == pytest.approx(0.9936, abs=5e-5)
    assert majority(math.log(3), 1) == pytest.approx(0.75)


@pytest.mark.parametrize("times", [1, 2, 7, 20, 21, 40])
def test_the_majority_is_what_client_ledgers_say_of_repeated_answers(times):
    protocol = randomized_response(truth=3 / 4)
    assert majority(math.log(3), times) == pytest.approx(repeated(protocol, times).recovered, abs=1e-9)


def test_no_majority_exceeds_what_its_answers_cost_together():
    for times in (1, 2, 3, 10, 100):
        assert 0.5 < majority(0.3, times) <= ceiling(0.3 * times)


def test_a_second_answer_decides_ties_by_a_coin_and_adds_nothing():
    assert majority(0.7, 2) == pytest.approx(majority(0.7, 1))


def test_an_answer_with_laplace_noise_is_one_coin_of_randomized_response(clinic):
    runs = 4000
    with seeded(1):
        for times in (1, 9):
            found = averaging(clinic, "ill", 1 / 2, times, runs=runs)
            stray = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * runs))
            assert abs(found.success - majority(1 / 2, times)) <= stray


def test_the_error_of_the_mean_falls_like_the_root_of_the_number_of_answers(clinic):
    with seeded(2):
        found = averaging(clinic, "ill", 1 / 2, 10_000, runs=1)
    assert found.expected(400) == pytest.approx(found.expected(100) / 2)
    # Five standard deviations of a mean that is nearly normal: false alarm 6e-7.
    assert found.errors[-1] <= 5 * found.expected(10_000)
    assert np.std(found.answers) == pytest.approx(found.expected(1), rel=0.1)
    assert found.exact == 60


def test_many_fresh_answers_fall_and_cost_what_nobody_added_up(clinic):
    with seeded(3):
        outcome = averaging(clinic, "ill", 1 / 2, 400).outcome
    assert outcome.succeeds
    assert outcome.figures["epsilon"] == 200
    assert svg(outcome.picture).startswith("<svg")


def test_one_answer_does_not_fall(clinic):
    with seeded(4):
        assert not averaging(clinic, "ill", 1 / 2, 1).outcome.succeeds


def test_a_vault_gives_the_same_answer_again_and_refuses_fresh_noise_beyond_its_budget(clinic):
    found = ledgered(clinic, "ill", 0.25, 1, times=5, tries=2)
    assert found.distinct == 1
    assert found.replayed == 5
    assert found.fresh == 3  # with the first, four answers at a quarter
    assert found.refused == 2
    assert found.spent == 1
    assert found.success <= ceiling(1)
    assert not found.outcome.succeeds


def test_a_vault_with_a_huge_budget_falls_as_it_should():
    tiny = TableCopy.read({"ill": ["yes", "no"]})
    assert ledgered(tiny, "ill", 4, 8, times=1, tries=1).outcome.success == pytest.approx(majority(4, 2))


def test_a_survey_asked_again_falls_and_a_remembered_answer_holds(clinic):
    with seeded(5):
        fresh, kept = (surveyed(clinic, "ill", memo=memo) for memo in (False, True))
    stray = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * fresh.people))
    assert fresh.computed == pytest.approx(0.9936, abs=5e-5)
    assert abs(fresh.success - fresh.computed) <= stray
    assert abs(kept.success - 0.75) <= stray
    assert fresh.outcome.succeeds
    assert not kept.outcome.succeeds
    assert fresh.total == pytest.approx(21 * math.log(3), rel=1e-6)
    assert kept.total == pytest.approx(math.log(3), rel=1e-6)


def test_a_table_is_exposed_to_all_of_it(clinic):
    said = []
    with seeded(6):
        outcomes = expose(clinic, said.append)
    assert [each.succeeds for each in outcomes] == [True, False, True, False]
    assert len(said) == 3
    assert json.dumps([each.record() for each in outcomes], allow_nan=False)


@pytest.mark.parametrize("columns", [{"a": [1]}, {"a": []}, {"a": [None, None]}, {"a": range(100)}])
def test_where_there_is_nothing_to_count_there_is_nothing_to_expose(columns):
    assert expose(TableCopy.read({name: list(values) for name, values in columns.items()})) == []


@pytest.mark.parametrize(("epsilon", "times"), [(0, 1), (-1, 1), (1, 0), (1, 2.5)])
def test_what_makes_no_sense_is_refused(clinic, epsilon, times):
    with pytest.raises(BadParameter):
        averaging(clinic, "ill", epsilon, times)
