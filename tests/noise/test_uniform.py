"""Uniform integers: every value the same weight, on all paths."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.noise.uniform import _masked, _scaled
from tests.noise.tree import law as law_of


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 10, 15, 16])
def test_scaling_a_small_word_gives_every_value_the_same_weight(n):
    found, rest = law_of(lambda source: int(_scaled(source, n, 1, word=6)[0]), 18)
    assert sorted(found) == list(range(n))
    assert len(set(found.values())) == 1
    assert rest < Fraction(1, 2)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 16, 17])
def test_masking_gives_every_value_the_same_weight(n):
    found, rest = law_of(lambda source: int(_masked(source, n, 1)[0]), 15)
    assert sorted(found) == list(range(n))
    assert len(set(found.values())) == 1
    assert rest <= Fraction(1, 2)


@pytest.mark.parametrize("n", [1, 2, 100, 2**28 - 1, 2**28, 2**40 + 1, 2**62 + 1, 2**63])
def test_draws_stay_in_range_and_reach_its_ends(n):
    out = noise.uniform(n, 50_000)
    assert out.dtype == np.int64
    assert out.min() >= 0
    assert out.max() < n
    # missing the lowest or highest 1/1000 in 50,000 draws: exp(-50)
    assert out.min() <= n // 1000
    assert out.max() >= n - 1 - n // 1000


def test_a_range_beyond_64_bits_gives_python_integers():
    out = noise.uniform(2**100, 50)
    assert out.dtype == object
    assert max(out) >= 2**90
