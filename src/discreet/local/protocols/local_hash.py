"""Local hashing: the hash of a value under a random function, reported by randomized response."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number
from discreet.core.errors import BadParameter
from discreet.local.grid import BITS, lie, numerator
from discreet.local.parts import field
from discreet.local.parts.oracle import Oracle, parameters
from discreet.local.parts.wire import count_rows, narrow_rows, width
from discreet.local.protocol import Counts
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.offset import offset
from discreet.noise.uniform_stream import below

_MOST_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class LocalHash(Oracle):
    """Reports a hash function, drawn evenly, and the value's hash under it by randomized response over g hashes.

    A value is a vector over the field of g elements, a function is a point of its projective space, and the hash is
    their inner product. Two values collide under exactly the same share of the functions, whichever they are, so a
    report supports every other value with the same probability: the variance is the theorem's, not an approximation,
    although there are only about k functions; and the server adds over all of them by one fast transform.

    Guarantee: pure epsilon = ln((1 - (g - 1) lie)/lie), and exactly that: the function is drawn without a look at the
    value (Wang, Blocki, Li, Jha 2017; for the geometry, Feldman, Nelson, Nguyen, Talwar 2022).
    """

    name: ClassVar[str] = "local_hash"
    k: int
    epsilon: Fraction
    g: int
    lie: Fraction

    def __post_init__(self) -> None:
        parameters(self.k, self.epsilon)
        field.multiplication(self.g)
        numerator(self.lie)
        if not 0 < self.lie < Fraction(1, self.g):
            why = f"the true hash is more likely than each of the other {self.g - 1}"
            raise BadParameter("lie", self.lie, why=why, fix=f"use a probability between 0 and 1/{self.g}")
        if self.cells > _MOST_CELLS:
            why = f"its sketch would have {self.cells:,} cells"
            raise BadParameter("k", self.k, why=why, fix="use count_mean_sketch or heavy_hitters for so many values")

    @property
    def dimension(self) -> int:
        """How many digits to the base g a value has."""
        return _dimension(self.k, self.g)

    @property
    def functions(self) -> int:
        """How many hash functions there are."""
        return field.points(self.g, self.dimension)

    @property
    def truth(self) -> Fraction:
        """The probability of the true hash."""
        return 1 - (self.g - 1) * self.lie

    @property
    def odds(self) -> Fraction:
        """The true hash against any other."""
        return self.truth / self.lie

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """A report supports the values that its function maps to its hash."""
        return self.truth, _other(self.g, self.dimension, self.truth, self.lie)

    @property
    def bytes_per_report(self) -> int:
        """A function and a hash."""
        return width(self.cells)

    @property
    def cells(self) -> int:
        """One for each function and hash."""
        return self.functions * self.g

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Draw functions, hash, and add an offset that is zero for the truth."""
        chosen = below(source, self.functions, len(values))
        vectors = field.vectors(self.g, self.dimension).take(chosen)
        hashes = field.products(self.g, self.dimension, vectors, values)
        moved = offset(source, self.g - 1, numerator(self.lie), BITS, len(values))
        hashes = field.add(self.g, hashes, moved.astype(hashes.dtype, copy=False))
        kind = np.dtype(np.uint16 if self.cells <= 1 << 16 else np.uint32)
        numbers: NDArray[Any] = chosen.astype(kind)
        numbers *= kind.type(self.g)
        numbers += hashes
        return narrow_rows(numbers, self.bytes_per_report)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count functions and hashes; what is beyond the last function is malformed."""
        return count_rows(rows, self.cells)

    def supports(self, sketch: Sketch) -> NDArray[np.int64]:
        """Return, for each value, the reports whose function maps it to the reported hash."""
        return field.sums(self.g, self.dimension, sketch.counts)[: self.k]

    def likelihood(self, value: int) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        self.written(self.cells)
        vectors = field.vectors(self.g, self.dimension)
        hashes = field.products(self.g, self.dimension, vectors, np.full(len(vectors), value)).tolist()
        even, size = Fraction(1, self.functions), self.bytes_per_report
        return {
            (self.g * function + y).to_bytes(size, "little"): even * (self.truth if y == own else self.lie)
            for function, own in enumerate(hashes)
            for y in range(self.g)
        }


def local_hash(k: int, epsilon: Number, *, g: int | None = None) -> LocalHash:
    """Return local hashing over k values, with g hashes; without g, the number of least variance, near e^epsilon + 1.

    Guarantee: see `LocalHash`; its epsilon is at most the one asked for.
    """
    size, exact = parameters(k, epsilon)
    chosen = _best(size, float(exact)) if g is None else g
    return LocalHash(size, exact, chosen, lie(exact, chosen - 1))


def _dimension(k: int, g: int) -> int:
    dimension = 1
    while g**dimension < k:
        dimension += 1
    return dimension


def _other(g: int, dimension: int, truth: Fraction, lie: Fraction) -> Fraction:
    """Return the probability that a report supports another value: its function maps both alike, or it lied so."""
    collide = Fraction(g ** (dimension - 1) - 1, g**dimension - 1)
    return collide * truth + (1 - collide) * lie


def _best(k: int, epsilon: float) -> int:
    """Return the g of least variance for a rare value whose sketch is not too large."""
    found: list[tuple[float, int]] = []
    for g in field.sizes():
        dimension = _dimension(k, g)
        if field.points(g, dimension) * g <= _MOST_CELLS:
            lie_ = 1 / (math.exp(epsilon) + g - 1)
            truth = 1 - (g - 1) * lie_
            collide = (g ** (dimension - 1) - 1) / (g**dimension - 1)
            other = collide * truth + (1 - collide) * lie_
            found.append((other * (1 - other) / (truth - other) ** 2, g))
    if not found:
        why = "no sketch of a usual size tells so many values apart"
        raise BadParameter("k", k, why=why, fix="use count_mean_sketch or heavy_hitters for so many values")
    return min(found)[1]


def examples() -> Iterator[LocalHash]:
    """Yield small instances, on which every promise is tried."""
    yield local_hash(k=10, epsilon=1, g=2)
    yield local_hash(k=20, epsilon=1, g=4)
    yield local_hash(k=30, epsilon=Fraction(1, 2), g=3)
    yield local_hash(k=60, epsilon=2, g=8)
    yield local_hash(k=3, epsilon=3, g=5)
