"""Traitor: decoders traced through real encryption, and private ones that are not."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag

from discreet.core.errors import BadParameter
from discreet.lab.attacks import traitor as lab
from discreet.lab.attacks.tracing.private_answers import Forgetful, least_noise
from discreet.lab.attacks.traitor.broadcast import BroadcastSender, unsealed
from discreet.lab.defence import ExactDefence, GaussianDefence, LaplaceDefence, RoundedDefence
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.testing import FALSE_ALARM, seeded

N = 20
QUESTIONS = N**2 * (N + 1)
PRIVATE = least_noise(QUESTIONS, 1, 1 / (10 * N))


def test_a_packet_opens_with_its_own_key_alone():
    sender = BroadcastSender.make(3)
    bits = lab.staircase(3)
    packets = sender.seal(bits, session=2)
    assert len(packets) == 2
    assert unsealed(packets, [*enumerate(sender.keys)]).tolist() == bits.tolist()
    with pytest.raises(InvalidTag):
        unsealed(packets, [(0, sender.keys[1])])


def test_equal_bits_are_sealed_unlike_each_other():
    packets = BroadcastSender.make(4).seal(np.zeros((6, 4), bool), session=2)
    assert len({packet for session in packets for packet in session}) == 12


def test_the_staircase_differs_between_stages_in_one_user():
    bits = lab.staircase(5).astype(int)
    assert bits.shape == (6, 5)
    assert bits[0].sum() == 0
    assert bits[-1].all()
    assert np.diff(bits, axis=0).tolist() == np.eye(5, dtype=int).tolist()


@pytest.mark.parametrize(
    "defence", [ExactDefence(), RoundedDefence(5), Forgetful(1, QUESTIONS)], ids=lambda each: each.name
)
def test_a_pirate_that_answers_well_is_always_traced_to_its_coalition(defence):
    with seeded(30):
        runs = [lab.traitor(N, defence=defence) for _ in range(20)]
    assert all(run.guilty and run.traced for run in runs)
    assert min(run.gap for run in runs) >= 0.3


def test_a_private_pirate_is_accused_at_chance():
    """Half of the users are in the coalition; the share of right accusations in 120 runs, at a rate of 1e-6."""
    runs = 120
    with seeded(31):
        tried = [lab.traitor(N, defence=PRIVATE) for _ in range(runs)]
    slack = NormalDist().inv_cdf(1 - FALSE_ALARM / 2) * 0.5 / math.sqrt(runs)
    assert np.mean([run.guilty for run in tried]) == pytest.approx(0.5, abs=slack)
    assert not any(run.traced for run in tried)
    assert isinstance(PRIVATE, GaussianDefence)  # it errs less than Laplace noise for the same promise


def test_exact_answers_jump_by_one_where_most_of_the_coalition_is_reached():
    with seeded(32):
        found = lab.traitor(7, coalition=3, repetitions=5)
    assert found.gap == 1
    assert found.accused == found.coalition[1]
    assert found.said.tolist() == [float(stage > found.coalition[1]) for stage in range(8)]
    assert found.questions == 40


def test_a_single_traitor_is_named():
    with seeded(33):
        found = lab.traitor(5, coalition=1)
    assert found.accused == found.coalition[0]


def test_the_promise_limits_how_often_a_coalition_is_found():
    with seeded(34):
        private, pure, plain = (lab.traitor(8, defence=each) for each in (PRIVATE, LaplaceDefence(1), ExactDefence()))
    assert plain.ceiling is None
    assert pure.ceiling == pytest.approx(math.e / (1 + math.e))
    assert 0.7 < private.ceiling < 1
    assert lab.traitor(4, coalition=4, defence=LaplaceDefence(1)).ceiling == 1
    assert lab.traitor(4, defence=Forgetful(1, 80)).ceiling == 1


def test_questions_grow_with_the_cube_and_those_of_a_code_with_the_square():
    small, large = lab.counts([100, 1000])
    assert large["repetitions"] == 100 * small["repetitions"]
    assert large["staircase"] / small["staircase"] == pytest.approx(1000, rel=0.02)
    assert large["fingerprinting"] / small["fingerprinting"] < 150


def test_an_outcome_says_who_is_accused_and_how_surely():
    with seeded(35):
        fell = lab.summary([lab.traitor(10) for _ in range(12)])
        held = lab.summary([lab.traitor(10, defence=LaplaceDefence(1)) for _ in range(12)])
        once = lab.traitor(10).outcome
    assert fell.succeeds
    assert "for 12 of 12 the jump is no accident" in fell.sentence
    assert not held.succeeds
    assert "for 0 of 12 the jump is no accident" in held.sentence
    assert not once.succeeds  # one right accusation is a coin's luck
    assert fell.demonstration
    assert "<svg" in svg(lab.broadcast(5))


def test_decoders_of_as_many_users_as_a_table_has_people_are_traced():
    with seeded(36):
        outcomes = lab.expose(TableCopy.read({"a": [1, 2] * 6}))
    assert [outcome.succeeds for outcome in outcomes] == [True, True, True, False]
    assert outcomes[0].figures["users"] == 12
    assert outcomes[0].success == 1
    assert lab.expose(TableCopy.read({"a": [1, 2, 3]})) == []


def test_a_coalition_of_more_than_all_is_refused():
    with pytest.raises(BadParameter, match="at most all 4 users"):
        lab.traitor(4, coalition=5)
