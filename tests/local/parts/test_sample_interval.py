"""Intervals of counts from drawn people: they cover every fixed count, whoever was drawn, and are short."""

from math import comb

import numpy as np
import pytest

from discreet import local
from discreet.local.parts.sample_interval import drawn_within
from discreet.local.sketch import Sketch


def coins(n, chance):
    return np.array([comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)])


def law_of(m, n, t, turned):
    """Return the exact law of the ones among m of n people, t of whom have the value."""
    law = np.zeros(m + 1)
    for found in range(max(0, m + t - n), min(m, t) + 1):
        share = comb(t, found) * comb(n - t, m - found) / comb(n, m)
        law += share * np.convolve(coins(found, 1 - turned), coins(m - found, turned))
    return law


@pytest.mark.parametrize("beta", [0.05, 0.001])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 12.0])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (10, 1), (10, 9), (60, 6), (60, 30), (60, 57)])
def test_intervals_cover_every_fixed_count_whoever_was_drawn(n, m, epsilon, beta):
    turned = 1 / (1 + np.exp(epsilon / 2))
    low, high = drawn_within(np.arange(m + 1), np.full(m + 1, m), n, turned, beta)
    for t in {0, 1, n // 10, n // 2, n}:
        wrong = (low > t * (1 + 1e-12)) | (t > high * (1 + 1e-12))
        assert law_of(m, n, t, turned)[wrong].sum() <= beta, t


def test_nobody_drawn_says_nothing():
    low, high = drawn_within(np.array([0]), np.array([0]), 7, 0.25, 0.05)
    assert (low[0], high[0]) == (0, 7)


@pytest.mark.parametrize(("epsilon", "t"), [(1, 1_000), (4, 50_000)])
def test_with_many_reports_intervals_are_no_wider_than_the_variance_of_the_estimate(epsilon, t):
    protocol, n = local.d_bit_flip(k=20, epsilon=epsilon, d=2), 100_000
    about, turned = n // 10, float(protocol.turned)
    ones = round(about * (turned + (1 - 2 * turned) * t / n))
    counts = np.concatenate([np.full(20, about), np.full(20, ones)])
    found = protocol.estimate(Sketch(protocol.spec_hash, counts, n))
    assert (found.high - found.low)[0] <= 1.02 * 2 * 1.96 * np.sqrt(protocol.variance(n, t)) + 20
