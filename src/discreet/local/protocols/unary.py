"""Unary encoding: a bit for each value, one of them set, and every bit turned over by a coin of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number
from discreet.core.errors import BadParameter
from discreet.local.grid import BITS, lie, numerator
from discreet.local.parts.oracle import Oracle, parameters
from discreet.local.parts.wire import count_bits
from discreet.local.protocol import Counts
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.packed_coins import packed_bernoulli


@dataclass(frozen=True, slots=True)
class Unary(Oracle):
    """Reports k bits: that of the true value is set with probability `kept`, every other with probability `flipped`.

    Guarantee: pure epsilon = ln(kept (1 - flipped) / ((1 - kept) flipped)), and exactly that: two values differ in two
    bits, and each bit has a coin of its own (Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017).
    """

    name: ClassVar[str] = "unary"
    k: int
    epsilon: Fraction
    kept: Fraction
    flipped: Fraction

    def __post_init__(self) -> None:
        parameters(self.k, self.epsilon)
        numerator(self.kept), numerator(self.flipped)
        if not 0 < self.flipped < self.kept < 1:
            why = "a bit is more likely set for its own value than for others, and never certain"
            raise BadParameter("kept", self.kept, why=why, fix="use a probability above `flipped` and below 1")

    @property
    def odds(self) -> Fraction:
        """The bit of the value set and that of another clear, against the reverse."""
        return self.kept * (1 - self.flipped) / ((1 - self.kept) * self.flipped)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """A report supports the values whose bits are set."""
        return self.kept, self.flipped

    @property
    def bytes_per_report(self) -> int:
        """A bit for each value."""
        return -(-self.k // 8)

    @property
    def cells(self) -> int:
        """One for each value."""
        return self.k

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Toss a coin for every bit, then replace that of the true value by its own coin."""
        count, size = len(values), self.bytes_per_report
        flat = packed_bernoulli(source, numerator(self.flipped), BITS, count * size)
        rows = flat.reshape(count, size)
        if self.k % 8:
            rows[:, -1] &= self._last
        coins = np.unpackbits(packed_bernoulli(source, numerator(self.kept), BITS, -(-count // 8)), count=count)
        places = np.arange(0, count * size, size) + (values >> 3).astype(np.int64)
        shifts = (values & 7).astype(np.uint8)
        flat[places] = (flat[places] & ~(np.uint8(1) << shifts)) | (coins << shifts)
        return rows

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count the set bits; a report with a bit beyond the last value is malformed."""
        wrong = np.flatnonzero(rows[:, -1] & ~self._last)
        good = np.delete(rows, wrong, axis=0) if len(wrong) else rows
        return count_bits(good)[: self.k], len(wrong)

    def supports(self, sketch: Sketch) -> NDArray[np.int64]:
        """Return the counts themselves."""
        return sketch.counts

    def likelihood(self, value: int) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        self.written(1 << min(self.k, 64))
        chances = [self.kept if place == value else self.flipped for place in range(self.k)]
        found = {0: Fraction(1)}
        for place, chance in enumerate(chances):
            off = {report: each * (1 - chance) for report, each in found.items()}
            found = off | {report | 1 << place: each * chance for report, each in found.items()}
        return {report.to_bytes(self.bytes_per_report, "little"): chance for report, chance in found.items()}

    @property
    def _last(self) -> np.uint8:
        """The bits of the last byte that stand for values."""
        return np.uint8((1 << ((self.k - 1) % 8 + 1)) - 1)


def unary(k: int, epsilon: Number, *, symmetric: bool = False) -> Unary:
    """Return unary encoding over k values: optimised, or symmetric (a set and a clear bit are turned over alike).

    Guarantee: see `Unary`; its epsilon is at most the one asked for.
    """
    size, exact = parameters(k, epsilon)
    if symmetric:
        flipped = lie(exact / 2)
        return Unary(size, exact, 1 - flipped, flipped)
    return Unary(size, exact, Fraction(1, 2), lie(exact))


def examples() -> Iterator[Unary]:
    """Yield small instances, on which every promise is tried."""
    yield unary(k=2, epsilon=1)
    yield unary(k=9, epsilon=1)
    yield unary(k=5, epsilon=Fraction(1, 2), symmetric=True)
    yield unary(k=8, epsilon=4, symmetric=True)
