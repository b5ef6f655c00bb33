"""Laws: distributions on the integers, known through rigorous enclosures of their cumulative probabilities."""

from __future__ import annotations

from itertools import accumulate
from math import isqrt
from typing import NamedTuple, Protocol

from discreet.core.value import dataclass
from discreet.noise import enclosure
from discreet.noise.enclosure import Enclosure, Ratio

_GUARD = 64


@dataclass(frozen=True, slots=True)
class Ladder:
    """Boundaries of a law at some precision: value `first + j` lies between boundaries j-1 and j.

    With `n` bits of precision, low[j] <= 2**n * P(X <= first + j) <= high[j]. An open end means that the outermost
    value stands for itself and everything beyond it.
    """

    first: int
    low: list[int]
    high: list[int]
    open_below: bool = False
    open_above: bool = False


class Law(Protocol):
    """A distribution that can be inverted to any precision."""

    def ladder(self, bits: int) -> Ladder:
        """Enclose every boundary that `bits` bits can see; what lies beyond open ends weighs less than 2**-bits."""
        ...


def _steps(rate: Ratio, bits: int) -> int:
    """Return a j with exp(-j * p/q) < 2**-bits: 7/10 exceeds ln 2."""
    return 7 * bits * rate[1] // (10 * rate[0]) + 1


def _cut(low: int, high: int, drop: int) -> Enclosure:
    return low >> drop, -(-high >> drop)


@dataclass(frozen=True, slots=True)
class Geometric:
    """P(k) proportional to exp(-k * rate) on k >= 0."""

    rate: Ratio

    def ladder(self, bits: int) -> Ladder:
        """Enclose P(X <= k) = 1 - exp(-(k + 1) rate)."""
        work = bits + _GUARD
        lows, highs = enclosure.powers(enclosure.exp(self.rate, work), _steps(self.rate, bits + 1), work)
        one = 1 << work
        pairs = [_cut(one - high, one - low, _GUARD) for low, high in zip(lows[1:], highs[1:], strict=True)]
        return Ladder(0, [low for low, _ in pairs], [high for _, high in pairs], open_above=True)


@dataclass(frozen=True, slots=True)
class SignedLaw:
    """A sign and a geometric magnitude h, independent, folded into h for plus and ~h = -1 - h for minus.

    Minus has exp(-flip) times the weight of plus. With flip = rate this is the discrete Laplace law itself,
    P(k) proportional to exp(-|k| rate): k = h weighs exp(-h rate), k = ~h weighs exp(-(h + 1) rate).
    """

    rate: Ratio
    flip: Ratio

    def ladder(self, bits: int) -> Ladder:
        """Enclose P(X <= k): f/(1+f) q**(-k-1) for k < 0, 1 - q**(k+1)/(1+f) otherwise, f = exp(-flip)."""
        work = bits + _GUARD
        one = 1 << work
        reach = _steps(self.rate, bits + 1)
        lows, highs = enclosure.powers(enclosure.exp(self.rate, work), reach, work)
        f_low, f_high = enclosure.exp(self.flip, work)
        minus = (f_low << work) // (one + f_low), (f_high << work) // (one + f_high) + 1
        plus = (one << work) // (one + f_high), (one << work) // (one + f_low) + 1
        drop = work + _GUARD
        pairs = [_cut(minus[0] * lows[h], minus[1] * highs[h], drop) for h in range(reach, -1, -1)]
        square = 1 << (2 * work)
        pairs += [_cut(square - plus[1] * highs[h], square - plus[0] * lows[h], drop) for h in range(1, reach + 1)]
        return Ladder(-reach - 1, [p[0] for p in pairs], [p[1] for p in pairs], open_below=True, open_above=True)


@dataclass(frozen=True, slots=True)
class Digit:
    """P(d) proportional to exp(-d * rate) on 0 <= d < size: one digit of a geometric number."""

    rate: Ratio
    size: int

    def ladder(self, bits: int) -> Ladder:
        """Enclose P(D <= d) = (1 - q**(d+1)) / (1 - q**size)."""
        # 1 - q**d is about d * rate, so a small rate costs leading bits.
        work = bits + _GUARD + max(0, self.rate[1].bit_length() - self.rate[0].bit_length() + 1)
        one = 1 << work
        lows, highs = enclosure.powers(enclosure.exp(self.rate, work), self.size, work)
        whole_low, whole_high = one - highs[-1], one - lows[-1]
        inner = range(1, self.size)
        return Ladder(
            0,
            [((one - highs[d]) << bits) // whole_high for d in inner],
            [-((-(one - lows[d]) << bits) // whole_low) for d in inner],
        )


@dataclass(frozen=True, slots=True)
class Bell:
    """Bins of the discrete Gaussian: bin H covers [H * width, (H + 1) * width), weighed by its most likely value.

    With width 1 the bins are the integers and the law is the discrete Gaussian itself, P(k) proportional to
    exp(-k**2 / (2 sigma**2)); `halved` is 1 / (2 sigma**2).
    """

    halved: Ratio
    width: int = 1

    def ladder(self, bits: int) -> Ladder:
        """Enclose the running sums of exp(-near(H)**2 / (2 sigma**2)) over their total."""
        top, bottom = self.halved
        # near = width * h >= width * sigma * sqrt(2 bits ln 2) leaves less than 2**-bits, twice over.
        reach = isqrt(7 * (bits + 4) * bottom // (10 * top * self.width**2)) + 2
        work = bits + _GUARD + 2 * reach.bit_length()
        plus, minus = self._weights(0, reach, work), self._weights(1, reach, work)
        lows = list(accumulate(minus.low[::-1] + plus.low))
        highs = list(accumulate(minus.high[::-1] + plus.high))
        beyond = minus.beyond + plus.beyond
        total_low, total_high = lows[-1], highs[-1] + beyond
        return Ladder(
            ~reach,
            [(low << bits) // total_high for low in lows[:-1]],
            [-((-(high + beyond) << bits) // total_low) for high in highs[:-1]],
            open_below=True,
            open_above=True,
        )

    def _weights(self, offset: int, reach: int, work: int) -> _Weights:
        """Enclose exp(-(h * width + offset)**2 * halved) for h = 0 .. reach, and bound the sum of all the rest.

        The exponent is quadratic in h, so the ratios of neighbouring weights form a geometric progression; they
        fall, so what lies beyond weighs at most last * ratio / (1 - ratio).
        """
        top, bottom = self.halved
        low, high = enclosure.exp((top * offset**2, bottom), work)
        ratio_low, ratio_high = enclosure.exp((top * (self.width**2 + 2 * self.width * offset), bottom), work)
        step_low, step_high = enclosure.exp((2 * top * self.width**2, bottom), work)
        lows, highs = [low], [high]
        for _ in range(reach):
            lows.append((lows[-1] * ratio_low) >> work)
            highs.append(((highs[-1] * ratio_high) >> work) + 1)
            ratio_low = (ratio_low * step_low) >> work
            ratio_high = ((ratio_high * step_high) >> work) + 1
        return _Weights(lows, highs, highs[-1] * ratio_high // ((1 << work) - ratio_high) + 1)


class _Weights(NamedTuple):
    low: list[int]
    high: list[int]
    beyond: int
