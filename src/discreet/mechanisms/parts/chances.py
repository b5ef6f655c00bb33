"""Chances: rational bounds on the probabilities of what a mechanism can say, for exact audits."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

from discreet.core.errors import BadParameter
from discreet.mechanisms.parts.grid import scaled
from discreet.noise import enclosure
from discreet.noise.enclosure import Enclosure, Ratio

Chance = tuple[Fraction, Fraction]
Chances = dict[Hashable, Chance]

# Inside, a probability is a pair of integers that enclose it times 2**BITS.
BITS = 160
ONE: Enclosure = (1 << BITS, 1 << BITS)
NEVER: Enclosure = (0, 0)
MOST = 200_000
_OPEN = 72  # what is left out weighs less than 2**-72


def limited(count: int) -> None:
    """Refuse to write down a distribution with too many outcomes."""
    if count > MOST:
        why = f"more than {MOST} outcomes are not written down one by one"
        raise BadParameter("outcomes", count, why=why, fix="use smaller parameters, or audit by samples")


def times(one: Enclosure, other: Enclosure) -> Enclosure:
    """Enclose the product of two probabilities."""
    return one[0] * other[0] >> BITS, -(-one[1] * other[1] >> BITS)


def divided(one: Enclosure, other: Enclosure) -> Enclosure:
    """Enclose the quotient of two numbers."""
    return (one[0] << BITS) // other[1], -((-one[1] << BITS) // other[0])


def missing(law: Mapping[int, Enclosure]) -> int:
    """Return the most that all values left out of a law can weigh."""
    return ONE[0] - sum(low for low, _ in law.values())


def shares(weights: Mapping[int, Enclosure], beyond: int = 0) -> dict[int, Enclosure]:
    """Enclose every weight's share of their sum, given what all others weigh together at most."""
    total = sum(low for low, _ in weights.values()), sum(high for _, high in weights.values()) + beyond
    return {key: divided(weight, total) for key, weight in weights.items()}


def chances(law: Mapping[Hashable, Enclosure] | Mapping[int, Enclosure]) -> Chances:
    """Return a distribution with its bounds as rationals."""
    return {key: (Fraction(low, ONE[0]), Fraction(high, ONE[0])) for key, (low, high) in law.items()}


def joint(values: Iterable[int], noise: Mapping[int, Enclosure], step: Fraction) -> Chances:
    """Return the distribution of a vector of exact values with independent noise, in its unit."""
    found: dict[tuple[Hashable, ...], Enclosure] = {(): ONE}
    for value in values:
        limited(len(found) * len(noise))
        moved: dict[Hashable, Enclosure] = {}
        for k, (low, high) in noise.items():
            here = scaled(value + k, step)
            # Far from zero, several steps are one float.
            before = moved.get(here, NEVER)
            moved[here] = before[0] + low, before[1] + high
        found = {(*key, here): times(chance, each) for key, chance in found.items() for here, each in moved.items()}
    return {key: (Fraction(low, ONE[0]), Fraction(high, ONE[0])) for key, (low, high) in found.items()}


def alone(value: int, noise: Mapping[int, Enclosure], step: Fraction) -> Chances:
    """Return the distribution of one exact value with noise, in its unit."""
    return {key[0]: chance for key, chance in joint([value], noise, step).items() if isinstance(key, tuple)}


def laplace(scale: Fraction) -> dict[int, Enclosure]:
    """Enclose the law of discrete Laplace noise, except for tails below 2**-72."""
    reach = math.ceil(Fraction(7, 10) * (_OPEN + 2) * scale) + 1
    limited(2 * reach + 1)
    lows, highs = enclosure.powers(_decay(scale), reach, BITS)
    # The normaliser is (1 + q) / (1 - q), which falls with q.
    share = divided((ONE[0] - highs[1], ONE[0] - lows[1]), (ONE[0] + lows[1], ONE[0] + highs[1]))
    return {k: times(share, (lows[abs(k)], highs[abs(k)])) for k in range(-reach, reach + 1)}


def gaussian(sigma: Fraction) -> dict[int, Enclosure]:
    """Enclose the law of discrete Gaussian noise, except for tails below 2**-72."""
    halved: Ratio = (sigma.denominator**2, 2 * sigma.numerator**2)
    reach = math.isqrt(7 * (_OPEN + 8) * halved[1] // (10 * halved[0])) + 2
    limited(2 * reach + 1)
    weights = {k: enclosure.exp((halved[0] * k**2, halved[1]), BITS) for k in range(reach + 1)}
    # From one value to the next the weight falls by e^(-(2k + 1) / (2 sigma^2)), and by more ever after.
    ratio = enclosure.exp((halved[0] * (2 * reach + 1), halved[1]), BITS)[1]
    beyond = 2 * (weights[reach][1] * ratio // (ONE[0] - ratio) + 1)
    return shares({k: weights[abs(k)] for k in range(-reach, reach + 1)}, beyond)


class Tails:
    """The distribution function of discrete Laplace noise, enclosed for values up to a reach on either side."""

    __slots__ = ("_upper",)

    def __init__(self, scale: Fraction, reach: int) -> None:
        limited(reach)
        base = _decay(scale)
        lows, highs = enclosure.powers(base, reach + 1, BITS)
        whole = ONE[0] + base[0], ONE[0] + base[1]
        self._upper = [divided(pair, whole) for pair in zip(lows, highs, strict=True)]

    def at_least(self, k: int) -> Enclosure:
        """Enclose P(X >= k): q^k / (1 + q) for k >= 1, and one minus the other tail otherwise."""
        if k >= 1:
            return self._upper[k]
        low, high = self._upper[1 - k]
        return ONE[0] - high, ONE[0] - low

    def below(self, k: int) -> Enclosure:
        """Enclose P(X < k)."""
        return self.at_least(1 - k)


def _decay(scale: Fraction) -> Enclosure:
    return enclosure.exp((scale.denominator, scale.numerator), BITS)
