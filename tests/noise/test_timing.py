"""What the time of one draw can tell about the noise: less than the loop count of a rejection sampler."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bins import Bins
from discreet.noise.digits import GeometricDigits
from discreet.noise.inversion import _UNDECIDED

SCALES = [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(63), Fraction(64), Fraction(10**4), Fraction(2**40)]


def entropy(*chances: float) -> float:
    return -sum(p * math.log2(p) for p in chances if p > 0)


def slow_share(inverter) -> float:
    """How often the table does not decide."""
    return float((inverter._codes == _UNDECIDED).mean())


def told(inverters, others=()) -> float:
    """Bound what is learned from which tables decided: the entropy of those events."""
    return sum(entropy(p, 1 - p) for p in [*map(slow_share, inverters), *others])


def loop_count_entropy() -> float:
    """Bits in the loop count of the geometric rejection sampler: P(n) = (1 - 1/e) exp(-n)."""
    return entropy(*((1 - 1 / math.e) * math.exp(-n) for n in range(60)))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_time_of_a_laplace_draw_tells_less_than_that_of_a_rejection_sampler(scale):
    tables = GeometricDigits((scale.numerator, scale.denominator), signed=True)
    bits = told([tables._top, *(digit for _, digit in tables._digits)])
    assert bits < 0.5 < 1.4 < loop_count_entropy() < 1.6


@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_the_time_of_a_gaussian_draw_tells_less_than_that_of_a_rejection_sampler(sigma):
    # How often a draw starts again is independent of the value that is kept in the end (rejection).
    bins = Bins((sigma.numerator, sigma.denominator))
    codes = bins._bins._codes
    decided = codes[codes != _UNDECIDED].astype(int) - bins._bins.span[0]
    coin = [1 - float(np.mean(bins._floor[decided])) / 2**16] if bins._shift else []
    assert told([bins._bins], coin) < 0.5 < loop_count_entropy()


def test_at_scale_ten_three_draws_in_a_thousand_are_slow():
    top = GeometricDigits((10, 1), signed=True)._top
    assert 0.002 < slow_share(top) < 0.004
    assert told([top]) < 0.035
