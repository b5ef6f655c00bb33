"""Even draws: every integer alike, on every path."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bits import current
from discreet.noise.uniform_stream import _masked, below, scaled
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.noise.tree import law as law_of


@pytest.mark.parametrize("n", [3, 5, 6, 7, 12])
@pytest.mark.parametrize(
    "way", [lambda s, n: scaled(s, n, 1, 5), lambda s, n: _masked(s, n, 1)], ids=["scaled", "masked"]
)
def test_all_integers_are_alike(way, n):
    found, rest = law_of(lambda source: int(way(source, n)[0]), 16)
    assert len(found) == n
    assert len(set(found.values())) == 1
    assert rest < Fraction(1, 10)


@pytest.mark.parametrize("n", [1, 2, 85, 256, 4095, 87_381])
def test_draws_follow_their_distribution(n):
    with seeded(74):
        drawn = below(current(), n, 300_000)
    # false-alarm rate 1e-6
    assert fit(np.bincount(drawn, minlength=n), np.full(n, 1 / n)) > FALSE_ALARM


def test_large_ranges_are_reached():
    with seeded(75):
        drawn = below(current(), 3 << 60, 1000)
    assert drawn.max() < 3 << 60
    assert drawn.max() > 2 << 60  # missed with a chance of (2/3)^1000
