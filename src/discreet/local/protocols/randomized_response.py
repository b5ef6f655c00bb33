"""Randomized response: the true value with some probability, and else one of the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, finite
from discreet.core.errors import BadParameter
from discreet.local.grid import BITS, ONE, lie, log_up, numerator
from discreet.local.parts.oracle import Oracle, parameters
from discreet.local.parts.wire import count_rows, narrow_rows, width
from discreet.local.protocol import Counts
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.offset import offset


@dataclass(frozen=True, slots=True)
class RandomizedResponse(Oracle):
    """Reports the true one of k values with probability 1 - (k - 1) lie, and every other with probability `lie`.

    Guarantee: pure epsilon = ln((1 - (k - 1) lie)/lie), and exactly that: the report of the truth attains it (Warner
    1965; Kairouz, Oh, Viswanath 2014).
    """

    name: ClassVar[str] = "randomized_response"
    k: int
    epsilon: Fraction
    lie: Fraction

    def __post_init__(self) -> None:
        parameters(self.k, self.epsilon)
        numerator(self.lie)
        if not 0 < self.lie < Fraction(1, self.k):
            why = f"the truth is more likely than each of the other {self.k - 1} values"
            raise BadParameter("lie", self.lie, why=why, fix=f"use a probability between 0 and 1/{self.k}")

    @property
    def truth(self) -> Fraction:
        """The probability of the true value."""
        return 1 - (self.k - 1) * self.lie

    @property
    def odds(self) -> Fraction:
        """The truth against any one lie."""
        return self.truth / self.lie

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """A report supports the value it names."""
        return self.truth, self.lie

    @property
    def bytes_per_report(self) -> int:
        """As many as a value needs."""
        return width(self.k)

    @property
    def cells(self) -> int:
        """One for each value."""
        return self.k

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Add an offset that is zero for the truth, modulo k."""
        moved = offset(source, self.k - 1, numerator(self.lie), BITS, len(values))
        moved += values.astype(moved.dtype)
        # Below k the difference wraps to a huge number, so the lesser of the two is the remainder.
        return narrow_rows(np.minimum(moved, moved - moved.dtype.type(self.k)), self.bytes_per_report)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count each value; what is no value is malformed."""
        return count_rows(rows, self.k)

    def supports(self, sketch: Sketch) -> NDArray[np.int64]:
        """Return the counts themselves."""
        return sketch.counts

    def likelihood(self, value: int) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        self.written(self.k)
        size = self.bytes_per_report
        return {i.to_bytes(size, "little"): self.truth if i == value else self.lie for i in range(self.k)}


def randomized_response(
    k: int = 2, epsilon: Number | None = None, *, truth: Number | None = None
) -> RandomizedResponse:
    """Return randomized response over k values, at an epsilon or with a probability of the truth.

    `randomized_response(truth=3/4)` is the survey with two coins: heads, the truth; tails, a second coin answers.

    Guarantee: see `RandomizedResponse`; its epsilon is at most the one asked for.
    """
    if (truth is None) == (epsilon is None):
        why = "the coins are stated once, by epsilon or by truth"
        raise BadParameter("epsilon, truth", (epsilon, truth), why=why, fix="give one of epsilon= and truth=")
    if epsilon is not None:
        size, exact = parameters(k, epsilon)
        return RandomizedResponse(size, exact, lie(exact, size - 1))
    size, _ = parameters(k, 1)
    chance = Fraction(finite("truth", truth))
    if not Fraction(1, size) < chance < 1:
        why = f"the truth is more likely than each of {size} values drawn evenly, and not certain"
        raise BadParameter("truth", truth, why=why, fix=f"use a probability above 1/{size} and below 1")
    each = Fraction(math.ceil((1 - chance) / (size - 1) * ONE), ONE)
    return RandomizedResponse(size, Fraction(log_up((1 - (size - 1) * each) / each)), each)


def examples() -> Iterator[RandomizedResponse]:
    """Yield small instances, on which every promise is tried."""
    yield randomized_response(truth=Fraction(3, 4))
    yield randomized_response(k=2, epsilon=1)
    yield randomized_response(k=5, epsilon=Fraction(1, 2))
    yield randomized_response(k=300, epsilon=3)
