"""Corners: fixed data sets at which intervals go wrong first, and what is computed from their noisy sums."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.answers import algebra
from discreet.answers.quantity import NoisyInteger, linear
from discreet.answers.spread import masses
from discreet.measures import moments
from discreet.measures.moments import SharedMoments
from discreet.mechanisms.count import Count
from discreet.mechanisms.covariance import Covariance
from discreet.mechanisms.mean import Mean
from discreet.mechanisms.moments import Moments
from discreet.mechanisms.sum import Sum

HIGH = 10
ONE = Fraction(1)
# Each with values from 0 to 10, and those of a second column for what takes two.
DATA = {
    "an empty group": ([], []),
    "one row": ([4], [6]),
    "one row at a bound": ([10], [0]),
    "all at the low bound": ([0] * 40, [0] * 40),
    "all at the high bound": ([10] * 40, [10] * 40),
    "a mean next to a bound": ([10] * 39 + [8], [0] * 39 + [1]),
    "half at each bound": ([0, 10] * 20, [10, 0] * 20),
    "few rows": ([3, 5, 9], [2, 2, 8]),
    "all alike inside": ([7] * 40, [7] * 40),
    "many rows": ([at * 7 % 11 for at in range(400)], [at * 5 % 9 for at in range(400)]),
}


@dataclass(frozen=True)
class Corner:
    """The integers of a group before noise, the laws of it, what is computed, and the values that are right."""

    exact: tuple[int, ...]
    laws: tuple[tuple[str, Fraction], ...]
    build: Any
    truth: float | None

    def quantity(self, noise, mark=0):
        """Return what is computed where the noise is this."""
        noisy = (
            NoisyInteger(f"m.x.{mark}.{place}", exact + int(drawn), *law)
            for place, (exact, drawn, law) in enumerate(zip(self.exact, noise, self.laws, strict=True))
        )
        return self.build(tuple(noisy))

    def drawn(self, runs):
        """Draw the noise of so many runs."""
        from discreet import noise

        draw = {"laplace": noise.laplace, "gaussian": noise.gaussian}
        return np.stack([draw[law](scale, runs) for law, scale in self.laws], axis=1)

    def listed(self, left=1e-7):
        """Return every noise that is not too unlikely, with its chance: all others together have less than `left`."""
        values, chances = [], []
        for law, scale in self.laws:
            reach = math.ceil((-math.log(left / 4) if law == "laplace" else 6.0) * float(scale)) + 1
            k = np.arange(-reach, reach + 1)
            values.append(k)
            chances.append(masses(law, float(scale), k))
        grid = np.array(list(itertools.product(*values)))
        return grid, np.prod(np.array(list(itertools.product(*chances))), axis=1)


def corner(word, values, others, price):
    """Return a corner for an aggregate, a data set and a price."""
    n = len(values)
    if word == "count":
        return _corner(Count(**price), n, lambda noisy: linear(noisy[0]), n)
    if word == "sum":
        statistic = Sum(low=0, high=HIGH, **price)
        return _corner(statistic, statistic.exact(values), lambda noisy: linear(noisy[0]), sum(values))
    if word == "mean":
        return _corner(_mean(price), _mean(price).exact(values), mean, np.mean(values) if n else None)
    if word in ("variance", "std"):
        truth = getattr(np, word[:3])(values) if n else None
        return _shared(word, values, price, 2, False, truth)
    if word == "covariance":
        both = Covariance(bounds=((0, HIGH), (0, HIGH)), **price)
        truth = np.cov(values, others, bias=True)[0, 1] if n else None
        build = lambda noisy: moments.covariance(noisy, (HIGH, HIGH), steps=(ONE, ONE))  # noqa: E731
        return _corner(both, both.exact([values, others]), build, truth)
    if word == "correlation":
        both = Covariance(bounds=((0, HIGH), (0, HIGH)), **price)
        defined = n and np.std(values) > 0 and np.std(others) > 0
        build = lambda noisy: moments.correlation(noisy, (HIGH, HIGH))  # noqa: E731
        return _corner(
            both, both.exact([values, others]), build, np.corrcoef(values, others)[0, 1] if defined else None
        )
    if word.endswith("of a pool"):
        rows = [*values, None, None]
        truths = {"rows": n + 2, "count": n, "sum": sum(values), "sum over count": np.mean(values) if n else None}
        short = word.removesuffix(" of a pool")
        plain = {"mean": np.mean, "variance": np.var}
        truth = truths[short] if short in truths else (plain[short](values) if n else None)
        return _shared(short, rows, price, 2, True, truth)
    one, other = (_corner(_mean(price), _mean(price).exact(each), mean, None) for each in (values, others))
    signs = {"difference of means": (algebra.add, -1), "sum of means": (algebra.add, 1)}
    made, sign = signs[word]

    def build(noisy):
        return made(mean(noisy[:2]), algebra.scale(mean(noisy[2:]), Fraction(sign)))

    truth = np.mean(values) + sign * np.mean(others) if n else None
    return Corner(one.exact + other.exact, one.laws + other.laws, build, truth)


def _shared(word, values, price, order, nulls, truth):
    """Return a corner for what is computed from the noisy integers of a pool."""
    statistic = Moments(low=0, high=HIGH, order=order, nulls=nulls, **price)

    def build(noisy):
        said = SharedMoments(noisy, Fraction(0), Fraction(HIGH), order, nulls, statistic.whole)
        if word == "sum over count":
            return algebra.divide(said.total, said.present)
        return getattr(said, {"count": "present", "sum": "total"}.get(word, word))

    return _corner(statistic, statistic.exact(values), build, truth)


def mean(noisy):
    """Return the mean of values from 0 to 10."""
    return moments.mean(noisy, Fraction(0), Fraction(HIGH), step=ONE)


def _mean(price):
    return Mean(low=0, high=HIGH, **price)


def _corner(statistic, exact, build, truth):
    laws = tuple((noise.law, noise.scale) for noise, size in statistic.noises for _ in range(size))
    inner = np.ravel(statistic._inner(exact))
    return Corner(tuple(int(each) for each in inner), laws, build, None if truth is None else float(truth))
