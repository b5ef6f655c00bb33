"""Means: a number reported as one of two points, or as a point near it on a declared grid, or as either by a coin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.rounding import DIGITS, decimal, precise
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.local.grid import BITS, ONE, asked, lie, numerator
from discreet.local.parts.numeric import Numeric, Total, declared
from discreet.local.parts.wire import narrow_rows, read_rows, width
from discreet.local.protocol import Counts, quantile, reports_of
from discreet.local.protocols.one_bit import away
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.uniform_stream import below

METHODS = ("auto", "duchi", "hybrid", "piecewise")
_MOST_WRITTEN = 1 << 18
# Below so many reports their own variance is not estimated from them.
_FEW = 400


@dataclass(frozen=True, slots=True)
class Mean(Numeric):
    """Reports a number with probability `mix` by the piecewise mechanism, and else by Duchi's.

    Duchi's mechanism rounds the number to a bound at random and reports that bit, wrong with probability `lie`. The
    piecewise one has a grid of steps + window points: with probability `even` it reports any of them, and else any of
    the `window` points that begin at the number's own step. Both are unbiased on that very grid, for the numbers
    rounded to the step.

    Guarantee: pure epsilon = ln(odds), each mechanism's own ratio being exact and the larger one stated: a report says
    by which one it was made, and that coin is tossed without a look at the number (Duchi, Jordan, Wainwright 2018;
    Wang, Xiao, Yang et al. 2019).
    """

    name: ClassVar[str] = "mean"
    low: Fraction
    high: Fraction
    step: Fraction
    epsilon: Fraction
    mix: Fraction
    lie: Fraction
    window: int
    even: Fraction

    def __post_init__(self) -> None:
        declared(self.low, self.high, as_written("step", self.step))
        asked(self.epsilon)
        numerator(self.mix), numerator(self.lie), numerator(self.even)
        if not (0 < self.lie < Fraction(1, 2) and 0 < self.even < 1):
            why = "the truth is the more likely answer, and never certain"
            raise BadParameter("lie, even", (self.lie, self.even), why=why, fix="use what mean() chose")
        if not 1 <= self.window <= self.steps:
            why = f"a window has at least one point and at most {self.steps:,}"
            raise BadParameter("window", self.window, why=why, fix="use what mean() chose")

    @property
    def points(self) -> int:
        """How many points the piecewise mechanism has."""
        return self.steps + self.window

    @property
    def odds(self) -> Fraction:
        """The truth against a lie, and a point of the window against one outside."""
        duchi = (1 - self.lie) / self.lie if self.mix < 1 else Fraction(1)
        near = 1 + (1 - self.even) * self.points / (self.window * self.even) if self.mix else Fraction(1)
        return max(duchi, near)

    @property
    def _first(self) -> int:
        """Where the points of the piecewise mechanism begin, after both of Duchi's."""
        return 2 if self.mix < 1 else 0

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self._first + (self.points if self.mix else 0)

    @property
    def bytes_per_report(self) -> int:
        """As many as a point needs."""
        return width(self.outcomes)

    @property
    def cells(self) -> int:
        """Reports and ones of Duchi's mechanism; reports, sum and sum of squares of the piecewise one."""
        return 5

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Toss the coin of each report, and draw it by its mechanism."""
        out = np.empty(len(values), dtype=np.int64)
        near = _coins(source, self.mix, len(values))
        ups, downs = np.flatnonzero(near), np.flatnonzero(~near)
        bits = values[downs] + below(source, self.steps, len(downs)).astype(np.int64) >= self.steps
        out[downs] = bits ^ _coins(source, self.lie, len(downs))
        anywhere = _coins(source, self.even, len(ups))
        inside = values[ups] + below(source, self.window, len(ups)).astype(np.int64)
        every = below(source, self.points, len(ups)).astype(np.int64)
        out[ups] = np.where(anywhere, every, inside) + self._first
        return narrow_rows(out, self.bytes_per_report)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Add up both kinds of reports; what is no point is malformed."""
        numbers = read_rows(rows)
        good = numbers[numbers < self.outcomes]
        coarse, fine = good[good < self._first], good[good >= self._first] - self._first
        counts = [len(coarse), int(coarse.sum()), len(fine), int(fine.sum()), int((fine * fine).sum())]
        return np.array(counts, dtype=np.int64), len(numbers) - len(good)

    # Estimates --------------------------------------------------------------------------------------------------------

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """The least and the most that one report adds to the sum."""
        ends = [Fraction(0), Fraction(1)] if self.mix < 1 else []
        found = [self.steps * (bit - self.lie) / (1 - 2 * self.lie) for bit in ends]
        found += [self._decoded(Fraction(y)) for y in (0, self.points - 1)] if self.mix else []
        return self.low + self.step * min(found), self.low + self.step * max(found)

    def _decoded(self, point: Fraction) -> Fraction:
        """Return the unbiased number of steps of a point."""
        return (point - self.even * Fraction(self.points - 1, 2)) / (1 - self.even) - Fraction(self.window - 1, 2)

    def _noise(self) -> tuple[float, float, float]:
        """Return c0, c1, c2: a report of x steps is decoded with the variance c0 + c1 x + c2 x^2, in steps."""
        s, w, m, e, q = self.steps, self.window, self.points, self.even, self.lie
        # Piecewise: the second moment of a point, less the square of its mean, over (1 - e)^2.
        mean_all, mean_in = Fraction(m - 1, 2), Fraction(w - 1, 2)
        square_all, square_in = Fraction((m - 1) * (2 * m - 1), 6), Fraction((w - 1) * (2 * w - 1), 6)
        base = e * mean_all + (1 - e) * mean_in
        near = (
            (e * square_all + (1 - e) * square_in - base**2) / (1 - e) ** 2,
            ((1 - e) * 2 * mean_in - 2 * base * (1 - e)) / (1 - e) ** 2,
            e / (1 - e),
        )
        duchi = (s * s * q * (1 - q) / (1 - 2 * q) ** 2, Fraction(s), Fraction(-1))
        c0, c1, c2 = (self.mix * one + (1 - self.mix) * other for one, other in zip(near, duchi, strict=True))
        return float(c0), float(c1), float(c2)

    def estimate(self, sketch: Sketch, beta: float = 0.05, post: str | None = None) -> Total:
        """Return the sum of all values, with `mean` beside it.

        The variance of a report is quadratic in its value; the sum of values and, from the squares of reports, the sum
        of their squares are estimated along with it, and kept within what is possible. Ones of Duchi's mechanism alone
        are coins, whose interval is that of `OneBitMean`: few of them say too little about their own variance. For the
        same reason few reports have the variance of the worst values.
        """
        coarse, ones, fine, total, squares = (int(each) for each in self.own(sketch).counts)
        n = coarse + fine
        value = self.steps * float((ones - coarse * self.lie) / (1 - 2 * self.lie))
        if not self.mix:
            spread = self.steps / float(1 - 2 * self.lie) * away(ones, n, beta)
            return self.total(value, spread, n, sketch.rejected, beta, post)
        value += float(fine * self._decoded(Fraction(total, fine))) if fine else 0.0
        sums = min(max(value, 0.0), float(self.steps * n))
        least, most = sums * sums / max(1, n), sums * self.steps
        second = min(max(self._squares(fine, total, squares) * n / fine, least), most) if fine else least
        c0, c1, c2 = self._noise()
        variance = max(n * self._least(), n * c0 + c1 * sums + c2 * second) if n >= _FEW else n * self._most()
        return self.total(value, self._reach(variance, beta), n, sketch.rejected, beta, post)

    def _reach(self, variance: float, beta: float) -> float:
        """Return how far a sum of such a variance strays: a normal law's reach, and what few bounded reports add."""
        z, deviation = quantile(beta), math.sqrt(variance)
        low, high = self.contribution
        jump = float((high - low) / self.step) / 2
        few = z**3 * jump * min(jump / (24 * deviation), 1.0) if deviation else 0.0
        return z * deviation + max(0.0, z * z - 1) / 6 * jump + few

    def _squares(self, count: int, total: int, squares: int) -> float:
        """Return the unbiased sum of squares of the steps behind so many points."""
        m, w, e = self.points, self.window, float(self.even)
        within = (squares - e * count * (m - 1) * (2 * m - 1) / 6) / (1 - e)
        steps = float(count * self._decoded(Fraction(total, count)))
        return within - steps * (w - 1) - count * (w - 1) * (2 * w - 1) / 6

    def _least(self) -> float:
        return min(self._variance(place) for place in (0, self.steps / 2, self.steps))

    def _most(self) -> float:
        return max(self._variance(place) for place in (0, self.steps / 2, self.steps))

    def _variance(self, place: float) -> float:
        c0, c1, c2 = self._noise()
        return c0 + c1 * place + c2 * place * place

    def variance(self, n: int, value: Number | None = None) -> float:
        """Return the variance of the estimated sum of n people of one value; by default, of the worst one."""
        places = (0, self.steps / 2, self.steps) if value is None else (self.placed(value),)
        return reports_of(n) * max(self._variance(place) for place in places) * float(self.step) ** 2

    def likelihood(self, value: Number) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        if self.outcomes > _MOST_WRITTEN:
            why = f"it has {self.outcomes:,} reports, too many to write out"
            raise BadParameter("step", self.step, why=why, fix="ask for the likelihood of a coarser grid")
        place, found = self.placed(value), {}
        one = self.lie + (1 - 2 * self.lie) * Fraction(place, self.steps)
        if self.mix < 1:
            found = {0: (1 - self.mix) * (1 - one), 1: (1 - self.mix) * one}
        if self.mix:
            far = self.mix * self.even / self.points
            near = far + self.mix * (1 - self.even) / self.window
            for point in range(self.points):
                found[self._first + point] = near if place <= point < place + self.window else far
        return {number.to_bytes(self.bytes_per_report, "little"): chance for number, chance in found.items()}


def mean(low: Number, high: Number, epsilon: Number, *, method: str = "hybrid", step: Number | None = None) -> Mean:
    """Return a protocol for the mean of numbers from low to high.

    "duchi" is better for a small epsilon and "piecewise" for a large one; "hybrid" tosses a coin between them and is at
    least as good as either in the worst case; "auto" takes the one whose worst variance is least.

    Guarantee: see `Mean`; its epsilon is at most the one asked for.
    """
    if method not in METHODS:
        raise UnknownName("method", str(method), METHODS)
    exact = asked(epsilon)
    bounds = declared(low, high, step)
    steps = int((bounds[1] - bounds[0]) / bounds[2])
    window = min(steps, max(1, round(steps * math.exp(-float(exact) / 2))))
    even = _even(exact, steps + window, window)
    made = {name: Mean(*bounds, exact, mix, lie(exact), window, even) for name, mix in _mixes(float(exact)).items()}
    if method != "auto":
        return made[method]
    return min(made.values(), key=lambda each: each.variance(1))


def _mixes(epsilon: float) -> dict[str, Fraction]:
    """Return how often each method is piecewise; below epsilon 0.61 the hybrid one never is (Wang et al., Lemma 3)."""
    share = 1 - math.exp(-epsilon / 2) if epsilon > 0.61 else 0.0
    return {"hybrid": Fraction(round(share * (1 << 32)), 1 << 32), "duchi": Fraction(0), "piecewise": Fraction(1)}


def _even(epsilon: Fraction, points: int, window: int) -> Fraction:
    """Return the least probability on the grid of a point drawn from all, so no ratio exceeds e^epsilon."""
    with precise(DIGITS + 40):
        # Lowered by far more than exp can err: the ratio 1 + (1 - even) points / (window even) is never too large.
        more = decimal(epsilon).exp() * (1 - Decimal("1e-60")) - 1
        share = Decimal(ONE) * points / (window * more + points)
    return Fraction(math.ceil(share), ONE)


def _coins(source: BitSource, chance: Fraction, count: int) -> NDArray[np.bool_]:
    """Toss coins of an exact chance on the grid."""
    if chance == 1:
        return np.ones(count, dtype=bool)
    return source.words(count, BITS) < np.uint64(numerator(chance)) if chance else np.zeros(count, dtype=bool)


def examples() -> Iterator[Mean]:
    """Yield small instances, on which every promise is tried."""
    yield mean(0, 10, 1, method="duchi", step=1)
    yield mean(-1, 1, 1, method="piecewise", step=Fraction(1, 16))
    yield mean(-5, 15, 2, method="hybrid", step=Fraction(1, 2))
    yield mean(0, 1, 4, method="auto", step=Fraction(1, 20))
