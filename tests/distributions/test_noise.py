"""Goodness of fit: noise as it is drawn in production, against its exact distribution, ten million at a time.

Each test of a right program fails with probability 1e-6; `make test` is seeded, `make soak` draws fresh bits.
"""

from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet import noise
from discreet.noise import rejection
from discreet.noise.bits import current
from discreet.testing import FALSE_ALARM, fit, same, seeded
from tests.noise.truth import number

SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(22, 7), Fraction(10), Fraction(64), Fraction(100)]
LARGE = [Fraction(10**4), Fraction(10**7), Fraction(2**40)]
DRAWS = 10**7
LONG = 10**9


def weights(name: str, scale: Fraction, reach: int) -> np.ndarray:
    """Exact P(k) for |k| <= reach (from 0 for the geometric law), as floats of 400-bit numbers."""
    if name == "gaussian":
        sizes = [mp.exp(-(mpf(k) ** 2) / (2 * number(scale) ** 2)) for k in range(reach + 1)]
    else:
        q = mp.exp(-1 / number(scale))
        sizes = [q**k for k in range(reach + 1)]
    if name == "geometric":
        return np.array([float(w * (1 - q)) for w in sizes])
    total = mp.fsum(sizes) * 2 - 1 if name == "gaussian" else (1 + q) / (1 - q)
    return np.array([float(w / total) for w in sizes[:0:-1] + sizes])


def counted(name: str, scale: Fraction, draws: int, reach: int) -> np.ndarray:
    """Count each value, in runs of at most ten million; what lies beyond `reach` is put in the outermost cells."""
    low = 0 if name == "geometric" else -reach
    counts = np.zeros(reach - low + 1, dtype=np.int64)
    for _ in range(0, draws, DRAWS):
        values = getattr(noise, name)(scale, min(draws, DRAWS))
        counts += np.bincount(np.clip(values, low, reach) - low, minlength=len(counts))
    return counts


def check_small(name: str, scale: Fraction, draws: int) -> None:
    reach = int(scale * 40) + 40
    chances = weights(name, scale, reach)
    assert abs(chances.sum() - 1) < 1e-12
    assert fit(counted(name, scale, draws, reach), chances) > FALSE_ALARM


def cdf(name: str, scale: float, k: np.ndarray) -> np.ndarray:
    """P(X <= k) for a large scale, good to 1e-14: closed form, or the integral with its midpoint correction."""
    from scipy.special import erfc

    if name == "gaussian":  # the sum over integers equals the integral to within exp(-2 pi^2 sigma^2)
        return erfc(-(k + 0.5) / scale / np.sqrt(2)) / 2
    q = np.exp(-1 / scale)
    if name == "geometric":
        return -np.expm1(-(k + 1) / scale)
    return np.where(
        k < 0, q / (1 + q) * np.exp(np.minimum(0, (k + 1) / scale)), 1 - np.exp(-np.maximum(0, k + 1) / scale) / (1 + q)
    )


def check_large(name: str, scale: Fraction, draws: int) -> None:
    """Coarse cells follow the distribution function; the lowest four bits are even."""
    edges = np.unique((np.linspace(-12, 12, 1001) * float(scale)).astype(np.int64))
    if name == "geometric":
        edges = edges[edges >= 0]
    chances = np.diff(cdf(name, float(scale), edges.astype(float)), prepend=0, append=1)
    counts, low_bits = np.zeros(len(chances), dtype=np.int64), np.zeros(16, dtype=np.int64)
    for _ in range(0, draws, DRAWS):
        values = getattr(noise, name)(scale, min(draws, DRAWS))
        counts += np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(counts))
        low_bits += np.bincount(values & 15, minlength=16)
    assert fit(counts, np.maximum(chances, 0)) > FALSE_ALARM
    if scale >= 10**7:  # there the exact chances differ from 1/16 by less than 1e-6
        assert fit(low_bits, np.full(16, 1 / 16)) > FALSE_ALARM


def check(name: str, scale: Fraction, draws: int) -> None:
    (check_small if scale in SCALES else check_large)(name, scale, draws)


@pytest.mark.parametrize("scale", SCALES + LARGE, ids=str)
@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric"])
def test_ten_million_draws_follow_the_law(name, scale):
    with seeded(20261115):
        check(name, scale, DRAWS)


@pytest.mark.soak
@pytest.mark.parametrize("scale", SCALES + LARGE, ids=str)
@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric"])
def test_a_billion_draws_follow_the_law(name, scale):
    check(name, scale, LONG)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 3), Fraction(10), Fraction(100)], ids=str)
@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric"])
@pytest.mark.parametrize("draws", [10**5, pytest.param(10**7, marks=pytest.mark.soak)])
def test_tables_and_rejection_agree(name, scale, draws):
    ratio = (scale.numerator, scale.denominator)
    cells = int(30 * scale) + 30
    with seeded(1) if draws == 10**5 else nullcontext():
        table = getattr(noise, name)(scale, draws)
        oracle = np.array([getattr(rejection, name)(current(), ratio) for _ in range(draws)])
    first, second = (np.bincount(np.clip(x, -cells, cells) + cells, minlength=2 * cells + 1) for x in (table, oracle))
    assert same(first, second) > FALSE_ALARM


@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric"])
@pytest.mark.parametrize("scale", [Fraction(7, 3), Fraction(10**4)], ids=str)
def test_single_draws_follow_the_law_of_many(name, scale):
    sample = getattr(noise, name)
    with seeded(2):
        many = sample(scale, 10**6)
        single = np.array([sample(scale) for _ in range(10**5)])
    cells = np.unique(np.quantile(many, np.linspace(0, 1, 200)[1:-1]).astype(np.int64))
    first, second = (np.bincount(np.searchsorted(cells, x), minlength=len(cells) + 1) for x in (many, single))
    assert same(first, second) > FALSE_ALARM


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 2**28 + 1])
def test_uniform_draws_are_even(n):
    with seeded(3):
        values = noise.uniform(n, DRAWS)
    cells = min(n, 1000)
    # cell j holds the values v with v * cells // n == j
    sizes = (
        np.bincount(np.arange(n) * cells // n) if n <= 1000 else np.diff([-(-j * n // cells) for j in range(cells + 1)])
    )
    assert fit(np.bincount(values * cells // n, minlength=cells), sizes / n) > FALSE_ALARM


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 1000), Fraction(65535, 65536), 0.1], ids=str)
def test_coins_have_their_bias(p):
    with seeded(4):
        heads = int(noise.bernoulli(p, DRAWS).sum())
    assert fit([heads, DRAWS - heads], [float(p), 1 - float(p)]) > FALSE_ALARM


@pytest.mark.parametrize("x", [Fraction(1, 100), Fraction(1), Fraction(9, 2)], ids=str)
def test_exponential_coins_have_their_bias(x):
    with seeded(5):
        heads = int(noise.bernoulli_exp(x, DRAWS).sum())
    chance = float(mp.exp(-number(x)))
    assert fit([heads, DRAWS - heads], [chance, 1 - chance]) > FALSE_ALARM


def one_percent_wide(values):
    return np.rint(values * 1.01).astype(np.int64)


def zero_counted_twice(values):
    return np.where((values == -1) & (np.arange(len(values)) % 2 == 0), 0, values)


def last_bit_stuck_in_one_of_a_hundred(values):
    return values | (np.arange(len(values)) % 100 == 0)


def tail_cut_off(values):
    return np.clip(values, -100, 100)


PLANTED = [one_percent_wide, zero_counted_twice, last_bit_stuck_in_one_of_a_hundred, tail_cut_off]


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_found(error):
    with seeded(6):
        values = error(noise.laplace(10, DRAWS))
    counts = np.bincount(np.clip(values, -440, 440) + 440, minlength=881)
    assert fit(counts, weights("laplace", Fraction(10), 440)) < FALSE_ALARM
