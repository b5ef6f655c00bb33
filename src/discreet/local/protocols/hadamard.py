"""Hadamard response: one bit about a value, the sign of a random row of the Hadamard matrix in its column."""

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
from discreet.local.parts.transform import parity, walsh_hadamard
from discreet.local.parts.wire import count_rows, narrow_rows, width
from discreet.local.protocol import Counts
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.packed_coins import packed_bernoulli


@dataclass(frozen=True, slots=True)
class Hadamard(Oracle):
    """Reports a row of the Hadamard matrix, drawn evenly, and the sign in the value's column, wrong with chance `lie`.

    Two columns agree in exactly half of the rows, so a report supports every other value with probability 1/2.

    Guarantee: pure epsilon = ln((1 - lie)/lie), and exactly that: the row is drawn without a look at the value, and the
    sign is one bit of randomized response (Bassily and Smith 2015; Acharya, Sun, Zhang 2019).
    """

    name: ClassVar[str] = "hadamard"
    k: int
    epsilon: Fraction
    lie: Fraction

    def __post_init__(self) -> None:
        parameters(self.k, self.epsilon)
        numerator(self.lie)
        if not 0 < self.lie < Fraction(1, 2):
            raise BadParameter("lie", self.lie, why="the true sign is the more likely one", fix="use less than 1/2")

    @property
    def rows(self) -> int:
        """The order of the matrix: the least power of two that has a column for each value."""
        return 1 << (self.k - 1).bit_length()

    @property
    def odds(self) -> Fraction:
        """The true sign against the wrong one."""
        return (1 - self.lie) / self.lie

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """A report supports the values whose columns have its sign in its row."""
        return 1 - self.lie, Fraction(1, 2)

    @property
    def bytes_per_report(self) -> int:
        """A row and a sign."""
        return width(2 * self.rows)

    @property
    def cells(self) -> int:
        """One for each row and sign."""
        return 2 * self.rows

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Draw rows, look up signs, and turn some of them over; a sign of minus is a bit of 1."""
        count = len(values)
        rows = source.words(count, (self.rows - 1).bit_length()).astype(np.uint32)
        signs = parity(rows & values.astype(np.uint32))
        coins = packed_bernoulli(source, numerator(self.lie), BITS, -(-count // 8))
        signs ^= np.unpackbits(coins, count=count)
        rows <<= np.uint32(1)
        rows |= signs
        return narrow_rows(rows, self.bytes_per_report)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count rows and signs; what is beyond the last row is malformed."""
        return count_rows(rows, self.cells)

    def supports(self, sketch: Sketch) -> NDArray[np.int64]:
        """Return half of all reports plus the transform of the signs: one fast transform for all values."""
        plus, minus = sketch.counts[0::2], sketch.counts[1::2]
        return (sketch.reports + walsh_hadamard(plus - minus)[: self.k]) >> 1

    def likelihood(self, value: int) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        self.written(self.cells)
        even, size = Fraction(1, self.rows), self.bytes_per_report
        return {
            (2 * row + sign).to_bytes(size, "little"): even
            * (1 - self.lie if (row & value).bit_count() % 2 == sign else self.lie)
            for row in range(self.rows)
            for sign in (0, 1)
        }


def hadamard(k: int, epsilon: Number) -> Hadamard:
    """Return Hadamard response over k values: one bit of information, and the row it is about.

    Guarantee: see `Hadamard`; its epsilon is at most the one asked for.
    """
    size, exact = parameters(k, epsilon)
    return Hadamard(size, exact, lie(exact))


def examples() -> Iterator[Hadamard]:
    """Yield small instances, on which every promise is tried."""
    yield hadamard(k=2, epsilon=1)
    yield hadamard(k=5, epsilon=1)
    yield hadamard(k=200, epsilon=Fraction(1, 2))
