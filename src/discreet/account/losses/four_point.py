"""The four-point mechanism: the worst (epsilon, delta) mechanism there is, and the reduction of every other to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.account.numeric.checks import Number, failure, nonnegative, probability
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

Distribution = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FourPoint:
    """Two distributions on four outcomes, U for one table and V for its neighbour, that are exactly (epsilon, delta).

    | outcome       | U                                   | V                                   |
    |---------------|-------------------------------------|-------------------------------------|
    | surely U      | delta                               | 0                                   |
    | probably U    | (1 - delta) e^epsilon/(1 + e^epsilon) | (1 - delta) / (1 + e^epsilon)       |
    | probably V    | (1 - delta) / (1 + e^epsilon)       | (1 - delta) e^epsilon/(1 + e^epsilon) |
    | surely V      | 0                                   | delta                               |

    With probability delta it tells all; otherwise it is randomized response. Outputs P, Q of any (epsilon, delta)
    mechanism on two neighbours are a post-processing of it: one randomized map turns U into P and V into Q
    (Kairouz, Oh, Viswanath 2015; `reduction` builds the map). What composition makes of U and V
    it therefore makes of nothing worse, and `discreet.account.budgets.compose.optimal` is a sum over their outcomes.
    """

    epsilon: Number
    delta: Number = 0

    def __post_init__(self) -> None:
        nonnegative("epsilon", self.epsilon)
        failure("delta", self.delta)

    @property
    def u(self) -> Distribution:
        """Probabilities of the four outcomes on the one table."""
        kept, decay = 1 - float(self.delta), math.exp(-float(self.epsilon))
        return (float(self.delta), kept / (1 + decay), kept * decay / (1 + decay), 0.0)

    @property
    def v(self) -> Distribution:
        """Probabilities of the four outcomes on the neighbour: those of `u` in reverse."""
        return self.u[::-1]

    def reduction(self, p: Sequence[float], q: Sequence[float]) -> tuple[Distribution, ...]:
        """Return four distributions over the outcomes of (p, q): what to draw from after each of the four points.

        Mixed with the weights `u` they give p, with the weights `v` they give q. Pairs that are not
        (epsilon, delta)-indistinguishable have no such map and are refused.
        """
        first, second = _exact("p", p), _exact("q", q)
        if len(first) != len(second):
            raise BadParameter("q", len(q), why=f"p has {len(p)} outcomes", fix="give both over the same outcomes")
        # In rationals, since a small epsilon leaves small differences of large numbers.
        odds = Fraction(math.exp(min(self.epsilon, 700)))  # beyond, e^epsilon is no float; less of it asks for more
        common_p, common_q = self._common(first, second, odds)
        if odds == 1:
            likely_u = likely_v = _normalised(common_p, first)
        else:
            likely_u = _normalised([odds * a - b for a, b in zip(common_p, common_q, strict=True)], first)
            likely_v = _normalised([odds * b - a for a, b in zip(common_p, common_q, strict=True)], second)
        surely_u = _normalised([a - b for a, b in zip(first, common_p, strict=True)], first)
        surely_v = _normalised([a - b for a, b in zip(second, common_q, strict=True)], second)
        return surely_u, likely_u, likely_v, surely_v

    def _common(self, p: _Exact, q: _Exact, odds: Fraction) -> tuple[_Exact, _Exact]:
        """Return parts of p and of q, each of mass 1 - delta, whose ratio stays within e^epsilon either way."""
        kept = 1 - Fraction(self.delta)
        a = [min(x, odds * y) for x, y in zip(p, q, strict=True)]
        b = [min(y, odds * x) for x, y in zip(p, q, strict=True)]
        least = min(_mass(a), _mass(b))
        if least < kept - _ROUNDING:
            need = float(1 - least)
            why = f"they are ({float(self.epsilon):g}, {need:g})-indistinguishable only"
            raise BadParameter("p, q", (p, q), why=why, fix=f"use delta of at least {need:g}")
        # Scaling both keeps the ratios and brings the lighter one to its mass; the heavier one is then lowered towards
        # e^-epsilon times the lighter one, which no ratio forbids and which is lighter still.
        a, b = [x * kept / least for x in a], [y * kept / least for y in b]
        return _lowered(a, b, odds, kept), _lowered(b, a, odds, kept)


_Exact = list[Fraction]
_ROUNDING = Fraction(1, 10**12)  # what the probabilities given may owe to floats


def _mass(weights: _Exact) -> Fraction:
    return sum(weights, Fraction(0))


def _lowered(heavy: _Exact, light: _Exact, odds: Fraction, mass: Fraction) -> _Exact:
    excess, room = _mass(heavy) - mass, _mass(heavy) - _mass(light) / odds
    if excess <= 0 or room <= 0:
        return heavy
    share = excess / room
    return [h - share * (h - low / odds) for h, low in zip(heavy, light, strict=True)]


def _normalised(weights: _Exact, default: _Exact) -> Distribution:
    """Return the weights as a distribution; where they have no mass the outcome is impossible and anything will do."""
    positive = [max(Fraction(0), weight) for weight in weights]
    total = _mass(positive)
    return tuple(float(weight / total) for weight in positive) if total else tuple(map(float, default))


def _exact(name: str, values: Sequence[float]) -> _Exact:
    numbers = [Fraction(probability(name, value)) for value in values]
    total = _mass(numbers)
    if abs(total - 1) > Fraction(1, 10**9):
        raise BadParameter(name, values, why=f"it sums to {float(total):g}", fix="give probabilities that sum to 1")
    return [number / total for number in numbers]
