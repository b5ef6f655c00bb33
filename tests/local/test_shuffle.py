"""Shuffling: every order alike, small batches held back, and the loss that follows."""

import itertools
import math

import numpy as np
import pytest

from discreet import local
from discreet.account.losses.shuffle import Shuffled
from discreet.core.errors import BadParameter
from discreet.local.reports import Reports
from discreet.local.shuffle import TooFewReports, central, shuffle
from discreet.testing import FALSE_ALARM, fit, seeded

PROTOCOL = local.randomized_response(k=4, epsilon=2)


def test_a_shuffled_batch_has_the_same_reports_and_the_same_sketch():
    made = PROTOCOL.encode(np.arange(1000) % 4)
    found = shuffle(made, minimum=1000)
    assert sorted(found) == sorted(made)
    assert PROTOCOL.aggregate(found) == PROTOCOL.aggregate(made)


def test_every_order_has_the_same_chance():
    # Chi-square over 24 orders; a right program fails once in a million runs.
    orders = {order: place for place, order in enumerate(itertools.permutations(range(4)))}
    batch, counts = Reports(np.arange(4, dtype=np.uint8), 4, "spec"), np.zeros(24, dtype=int)
    with seeded(31):
        for _ in range(24_000):
            counts[orders[tuple(bytes(shuffle(batch, minimum=1)))]] += 1
    assert fit(counts, np.full(24, 1 / 24)) > FALSE_ALARM


def test_a_batch_below_the_minimum_is_held_back_whole():
    with pytest.raises(TooFewReports, match="at least 100"):
        shuffle(PROTOCOL.encode([1] * 99), minimum=100)
    with pytest.raises(BadParameter, match="minimum"):
        shuffle(PROTOCOL.encode([1]), minimum=0)


def test_the_central_loss_is_that_of_shuffled_reports_at_the_grid_s_epsilon():
    loss = central(PROTOCOL, 10**5)
    assert loss == Shuffled(PROTOCOL.loss.peak, 10**5)
    assert loss.relation == "replace"
    assert loss.epsilon(1e-6) < 0.06 < PROTOCOL.loss.epsilon(1e-6)
    assert math.isclose(float(loss.peak), 2, rel_tol=1e-12)


def test_the_function_is_a_name_of_the_package():
    assert local.shuffle is shuffle
