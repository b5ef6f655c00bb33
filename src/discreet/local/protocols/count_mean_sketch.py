"""Apple's count mean sketches: a hashed value as randomized bits (CMS), or as one bit of their transform (HCMS)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number
from discreet.core.errors import BadParameter
from discreet.local.grid import BITS, asked, lie, numerator
from discreet.local.parts.linear_hash import fresh_seed, hashes
from discreet.local.parts.mean_sketch import MeanSketch, Table
from discreet.local.parts.transform import parity, walsh_hadamard
from discreet.local.parts.wire import count_rows, narrow_rows, read_rows, width
from discreet.local.protocol import Counts
from discreet.local.reports import Bytes
from discreet.noise.bits import BitSource
from discreet.noise.packed_coins import packed_bernoulli
from discreet.noise.uniform_stream import below

# Bits unpacked at a time.
_BLOCK = 1 << 23
_ROWS, _WIDTH = 1024, 256


@dataclass(frozen=True, slots=True)
class CountMeanSketch(MeanSketch):
    """Reports a row and `width` bits: that of the value's hash set, then each turned over with probability `lie`.

    Guarantee: pure epsilon = 2 ln((1 - lie)/lie), and exactly that: the row is drawn without a look at the value, and
    two hashes differ in two bits (Apple 2017, "Learning with privacy at scale", Algorithm 2). A day of
    `reports_per_day` fresh reports costs `loss_per_day`.
    """

    name: ClassVar[str] = "count_mean_sketch"
    k: int
    epsilon: Fraction
    rows: int
    width: int
    lie: Fraction
    candidates: tuple[str, ...] = ()
    reports_per_day: int = 1
    seed: int = field(kw_only=True)

    @property
    def odds(self) -> Fraction:
        """The bit of the hash set and that of another clear, against the reverse."""
        return ((1 - self.lie) / self.lie) ** 2

    @property
    def alike(self) -> tuple[Fraction, Fraction]:
        """A report supports the values whose hash has its bit set."""
        return 1 - self.lie, self.lie

    @property
    def bytes_per_report(self) -> int:
        """A row and its bits."""
        return self._head + -(-self.width // 8)

    @property
    def _head(self) -> int:
        return width(self.rows)

    @property
    def cells(self) -> int:
        """For each row, its reports and the ones at each bit."""
        return self.rows * (self.width + 1)

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Toss a coin for every bit, and turn over that of the hash: its coin says whether it is clear."""
        count, size = len(values), -(-self.width // 8)
        chosen = below(source, self.rows, count)
        found = hashes(self.family, chosen, values)
        flat = packed_bernoulli(source, numerator(self.lie), BITS, count * size)
        if self.width < 8:
            flat &= np.uint8((1 << self.width) - 1)
        flat[np.arange(0, count * size, size) + (found >> 3)] ^= np.uint8(1) << (found & 7).astype(np.uint8)
        return np.concatenate([narrow_rows(chosen, self._head), flat.reshape(count, size)], axis=1)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count reports and set bits by row; a row that does not exist or a bit beyond the last is malformed."""
        chosen, packed = read_rows(rows[:, : self._head]), rows[:, self._head :]
        good = chosen < self.rows
        if self.width < 8:
            good &= packed[:, 0] >> self.width == 0
        lost = len(rows) - int(np.count_nonzero(good))
        order = np.argsort(chosen[good], kind="stable")
        chosen, packed = chosen[good][order], packed[good][order]
        out = np.zeros((self.rows, self.width + 1), dtype=np.int64)
        out[:, 0] = np.bincount(chosen, minlength=self.rows)
        step = max(1, min(_BLOCK // self.width, (1 << 16) - 1))  # so that sums fit 16 bits
        for start in range(0, len(chosen), step):
            part = chosen[start : start + step]
            first = np.flatnonzero(np.diff(part, prepend=-1))
            bits = np.unpackbits(packed[start : start + step], axis=1, count=self.width, bitorder="little")
            out[part[first], 1:] += np.add.reduceat(bits, first, axis=0, dtype=np.uint16)
        return out.reshape(-1), lost

    def coefficients(self, counts: Table) -> tuple[Table, int, int]:
        """Return the transform of each row's set bits; transformed back, it is `width` times as large."""
        return walsh_hadamard(counts.reshape(self.rows, -1)[:, 1:]), 0, self.width

    def matches(self, counts: Table) -> tuple[float, float]:
        """Return squares of unbiased bit counts, without the pairs of a report with itself; and pairs in a row."""
        table, q = counts.reshape(self.rows, -1), float(self.lie)
        n, ones = table[:, :1].astype(float), table[:, 1:]
        alone = ones * (1 - 2 * q) + n * q * q
        return float((((ones - n * q) ** 2 - alone) / (1 - 2 * q) ** 2).sum()), float((n * (n - 1)).sum())

    def likelihood(self, value: int | str) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        self.written(self.rows << min(self.width, 64))
        every = np.arange(self.rows)
        own = hashes(self.family, every, np.repeat(self.checked([value]), self.rows)).tolist()
        size = self.bytes_per_report - self._head
        found = {}
        for row, at in enumerate(own):
            for bits in product((0, 1), repeat=self.width):
                wrong = sum(bit != (place == at) for place, bit in enumerate(bits))
                number = sum(bit << place for place, bit in enumerate(bits))
                report = row.to_bytes(self._head, "little") + number.to_bytes(size, "little")
                found[report] = prod([self.lie] * wrong + [1 - self.lie] * (self.width - wrong)) / Fraction(self.rows)
        return found


@dataclass(frozen=True, slots=True)
class HadamardCountMeanSketch(MeanSketch):
    """Reports a row, a column of the Hadamard matrix and the sign at the value's hash, wrong with probability `lie`.

    Guarantee: pure epsilon = ln((1 - lie)/lie), and exactly that: row and column are drawn without a look at the value,
    and the sign is one bit of randomized response (Apple 2017, Algorithm 5). A day of `reports_per_day` fresh reports
    costs `loss_per_day`.
    """

    name: ClassVar[str] = "hadamard_count_mean_sketch"
    k: int
    epsilon: Fraction
    rows: int
    width: int
    lie: Fraction
    candidates: tuple[str, ...] = ()
    reports_per_day: int = 1
    seed: int = field(kw_only=True)

    @property
    def odds(self) -> Fraction:
        """The true sign against the wrong one."""
        return (1 - self.lie) / self.lie

    @property
    def alike(self) -> tuple[Fraction, Fraction]:
        """A report supports the values whose hash has its sign in its column."""
        return 1 - self.lie, Fraction(1, 2)

    @property
    def bytes_per_report(self) -> int:
        """A row, a column and a sign."""
        return width(self.cells)

    @property
    def cells(self) -> int:
        """One for each row, column and sign."""
        return 2 * self.rows * self.width

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Draw rows and columns, look up signs, and turn some over; a sign of minus is a bit of 1."""
        count = len(values)
        chosen = below(source, self.rows, count).astype(np.uint32)
        columns = source.words(count, self.width.bit_length() - 1).astype(np.uint32)
        signs = parity(columns & hashes(self.family, chosen, values))
        signs ^= np.unpackbits(packed_bernoulli(source, numerator(self.lie), BITS, -(-count // 8)), count=count)
        return narrow_rows((chosen * np.uint32(self.width) + columns) << np.uint32(1) | signs, self.bytes_per_report)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count rows, columns and signs; what is beyond the last row is malformed."""
        return count_rows(rows, self.cells)

    def coefficients(self, counts: Table) -> tuple[Table, int, int]:
        """Return the sums of signs: half of all reports plus half of their transform is the support."""
        table = counts.reshape(self.rows, self.width, 2)
        return table[:, :, 0] - table[:, :, 1], int(counts.sum()), 2

    def matches(self, counts: Table) -> tuple[float, float]:
        """Return squares of unbiased sums of signs, without the pairs of a report with itself; and pairs in a row."""
        table = counts.reshape(self.rows, self.width, 2).astype(float)
        signs, n = table[:, :, 0] - table[:, :, 1], table.sum(axis=2)
        in_row = n.sum(axis=1)
        same = self.width * (signs**2 - n).sum() / float(1 - 2 * self.lie) ** 2
        return float(same), float((in_row * (in_row - 1)).sum())

    def likelihood(self, value: int | str) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        self.written(self.cells)
        own = hashes(self.family, np.arange(self.rows), np.repeat(self.checked([value]), self.rows)).tolist()
        even, size = Fraction(1, self.rows * self.width), self.bytes_per_report
        return {
            (2 * (row * self.width + column) + sign).to_bytes(size, "little"): even
            * (1 - self.lie if (column & own[row]).bit_count() % 2 == sign else self.lie)
            for row in range(self.rows)
            for column in range(self.width)
            for sign in (0, 1)
        }


def count_mean_sketch(
    k: int | None = None,
    epsilon: Number = 1,
    *,
    rows: int = _ROWS,
    width: int = _WIDTH,
    candidates: Sequence[str] = (),
    reports_per_day: int = 1,
) -> CountMeanSketch:
    """Return Apple's count mean sketch over the values 0 .. k-1, or without k over any strings.

    Its hash functions are drawn here, so two calls return two protocols: share the spec, not the call.

    Guarantee: see `CountMeanSketch`; its epsilon is at most the one asked for.
    """
    exact = asked(epsilon)
    size, lies, texts = _size(k), lie(exact / 2), tuple(candidates)
    return CountMeanSketch(size, exact, rows, width, lies, texts, reports_per_day, seed=fresh_seed())


def hadamard_count_mean_sketch(
    k: int | None = None,
    epsilon: Number = 1,
    *,
    rows: int = _ROWS,
    width: int = _WIDTH,
    candidates: Sequence[str] = (),
    reports_per_day: int = 1,
) -> HadamardCountMeanSketch:
    """Return Apple's Hadamard count mean sketch over the values 0 .. k-1, or without k over any strings.

    Its hash functions are drawn here, so two calls return two protocols: share the spec, not the call.

    Guarantee: see `HadamardCountMeanSketch`; its epsilon is at most the one asked for.
    """
    exact = asked(epsilon)
    size, lies, texts = _size(k), lie(exact), tuple(candidates)
    return HadamardCountMeanSketch(size, exact, rows, width, lies, texts, reports_per_day, seed=fresh_seed())


def _size(k: int | None) -> int:
    if k == 0:
        raise BadParameter("k", k, why="there would be no value", fix="use k of 2 or more, or leave it out for strings")
    return 0 if k is None else k


def examples() -> Iterator[MeanSketch]:
    """Yield small instances, on which every promise is tried."""
    yield count_mean_sketch(k=9, epsilon=1, rows=4, width=8)
    yield count_mean_sketch(k=5, epsilon=2, rows=3, width=4, reports_per_day=3)
    yield hadamard_count_mean_sketch(k=9, epsilon=1, rows=8, width=8)
    yield hadamard_count_mean_sketch(epsilon=Fraction(1, 2), rows=5, width=16, candidates=("red", "green", "blue"))
