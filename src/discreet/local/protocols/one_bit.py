"""Microsoft's 1-bit mean: a value rounded at random to a bound, and that one bit by randomized response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import positive_failure, whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.local.grid import BITS, asked, log_up, numerator
from discreet.local.parts.binomial import mean_within
from discreet.local.parts.numeric import Numeric, Total, declared
from discreet.local.parts.telemetry_client import OneBitClient
from discreet.local.parts.wire import count_rows
from discreet.local.protocol import Counts, Memo, reports_of
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.packed_coins import packed_bernoulli
from discreet.noise.uniform_stream import below

_MOST_HISTORY = 12


@dataclass(frozen=True, slots=True)
class OneBitMean(Numeric):
    """Reports one bit: whether value + alpha reaches the range, turned over with probability `lie`.

    Alpha is drawn evenly among the steps of the range, so the rounded bit is right on average (alpha-point
    rounding). A client with a memo draws alpha and its two answers, for low and for high, once and forever; `gamma`
    is the probability that a report of them is turned over once more, freshly each time.

    Guarantee: one report has pure epsilon = ln((1 - turned)/turned), attained at the bounds, turned being the chance
    that either coin alone turns it over. With a memo, reports of a value that stays the same cost `loss_forever`, the
    epsilon of one answer without gamma, however many they are. That a value moved across a client's alpha is hidden
    by gamma alone: `loss_after(r)` bounds r reports of any two histories, and is infinite without gamma (Ding,
    Kulkarni, Yekhanin 2017, sections 3 and 4).
    """

    name: ClassVar[str] = "one_bit_mean"
    low: Fraction
    high: Fraction
    step: Fraction
    epsilon: Fraction
    lie: Fraction
    gamma: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        declared(self.low, self.high, as_written("step", self.step))
        asked(self.epsilon)
        numerator(self.lie), numerator(self.gamma)
        for name, chance in (("lie", self.lie), ("gamma", self.gamma)):
            if not 0 <= chance < Fraction(1, 2) or (name == "lie" and chance == 0):
                raise BadParameter(name, chance, why="the truth is the more likely answer", fix="use less than 1/2")

    @property
    def turned(self) -> Fraction:
        """The probability that a report is not the rounded bit."""
        return self.lie * (1 - self.gamma) + (1 - self.lie) * self.gamma

    @property
    def odds(self) -> Fraction:
        """The bit of a bound against that of the other bound."""
        return (1 - self.turned) / self.turned

    @property
    def loss_forever(self) -> PrivacyLoss:
        """What any number of reports of a value that stays the same costs, with a memo; no moves are covered by it."""
        return Pure(log_up((1 - self.lie) / self.lie), relation="replace")

    def loss_after(self, reports: int) -> PrivacyLoss:
        """Return what so many reports cost, with a memo, whatever the values were and however they changed.

        Guarantee: given alpha and both answers, each report is one of them turned over with probability gamma, so
        no history is more than ((1 - gamma)/gamma)^reports times as likely for one person as for another.
        """
        count = whole("reports", reports)
        if count > 1 and not self.gamma:
            why = "without gamma a change of the answer is seen, and no epsilon covers that"
            raise BadParameter("gamma", 0, why=why, fix="use gamma above 0, or loss_forever for a value that stays")
        each = Fraction(log_up((1 - self.gamma) / self.gamma)) if self.gamma else Fraction(0)
        return self.loss if count == 1 else Pure(each * count, relation="replace")

    def history(self, values: Sequence[Number]) -> dict[tuple[int, ...], Fraction]:
        """Return the exact probability of every history of reports of one client with a memo, for so many values."""
        if len(values) > _MOST_HISTORY:
            why = f"there are 2^{len(values)} histories"
            raise BadParameter("values", len(values), why=why, fix=f"use at most {_MOST_HISTORY}")
        places, found = (
            [self.placed(value) for value in values],
            dict.fromkeys(product((0, 1), repeat=len(values)), Fraction(0)),
        )
        # Histories depend on alpha only through which values it rounds up: those at or above steps - alpha.
        cuts = sorted({0, self.steps, *places})
        for before, cut in pairwise(cuts):
            ups = [place >= cut for place in places]
            for answers in product((0, 1), repeat=2):
                kept = (1 - self.lie if answers[0] == 0 else self.lie) * (1 - self.lie if answers[1] else self.lie)
                weight = Fraction(cut - before, self.steps) * kept
                for said in found:
                    wrong = sum(bit != answers[up] for bit, up in zip(said, ups, strict=True))
                    found[said] += weight * self.gamma**wrong * (1 - self.gamma) ** (len(said) - wrong)
        return found

    @property
    def bytes_per_report(self) -> int:
        """One, for the bit."""
        return 1

    @property
    def cells(self) -> int:
        """Zeros and ones."""
        return 2

    def client(self, memo: Memo | None = None) -> OneBitClient:
        """Return one person's client; with a memo (a secret key, or a mapping that keeps one) it answers alike.

        Guarantee: see `OneBitMean`.
        """
        return OneBitClient(self, memo)

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Round, and toss both coins."""
        bits = values + below(source, self.steps, len(values)).astype(np.int64) >= self.steps
        out = bits.astype(np.uint8)
        for chance in (self.lie, self.gamma):
            coins = packed_bernoulli(source, numerator(chance), BITS, -(-len(values) // 8)) if chance else None
            out ^= np.uint8(0) if coins is None else np.unpackbits(coins, count=len(values))
        return out.reshape(-1, 1)

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """The least and the most that one report adds to the sum."""
        unit = self.step * self.steps / (1 - 2 * self.turned)
        return self.low - self.turned * unit, self.low + (1 - self.turned) * unit

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count zeros and ones."""
        return count_rows(rows, 2)

    def estimate(self, sketch: Sketch, beta: float = 0.05, post: str | None = None) -> Total:
        """Return the sum of all values, with `mean` beside it.

        The number of ones is a sum of independent coins, whose tails are at most those of equal ones (Hoeffding
        1956): the interval is Clopper and Pearson's, and holds whatever the values are.
        """
        n, ones = self.own(sketch).reports, int(sketch.counts[1])
        gap = float(1 - 2 * self.turned)
        scale = self.steps / gap
        value = scale * (ones - n * float(self.turned)) if n else 0.0
        return self.total(value, scale * away(ones, n, beta), n, sketch.rejected, beta, post)

    def variance(self, n: int, value: Number | None = None) -> float:
        """Return the variance of the estimated sum of n people of one value; by default, of the worst one."""
        place = Fraction(self.steps, 2) if value is None else Fraction(self.placed(value))
        one = self.turned + (1 - 2 * self.turned) * place / self.steps
        unit = self.step * self.steps / (1 - 2 * self.turned)
        return float(reports_of(n) * one * (1 - one) * unit**2)

    def likelihood(self, value: Number) -> dict[bytes, Fraction]:
        """Return the exact probability of both reports of a value."""
        one = self.turned + (1 - 2 * self.turned) * Fraction(self.placed(value), self.steps)
        return {b"\0": 1 - one, b"\1": one}


def away(ones: int, n: int, beta: float) -> float:
    """Return how far the expected number of ones among n independent coins lies from theirs, by exact tails.

    It holds for coins of any chances (see `mean_within`).
    """
    level = float(positive_failure("beta", beta)) / 2
    low, high = mean_within(np.array([ones]), np.array([n]), level)
    return max(ones - float(low[0]), float(high[0]) - ones) if n else 0.0
