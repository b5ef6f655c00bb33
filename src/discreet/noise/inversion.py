"""Exact inversion: a table decides most draws from a few bits, and more bits decide the rest."""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeAlias

from discreet.noise.arrays import NDArray, np
from discreet.noise.bits import BitSource, Words
from discreet.noise.law import Law

Integers: TypeAlias = "NDArray[np.int64] | NDArray[np.object_]"

_UNDECIDED = -(1 << 15)


class Inverter:
    """Draws X = F^-1(U) from a law, reading the bits of a uniform U only as far as they matter.

    Guarantee: every draw has exactly the law's distribution. The first `word` bits of U choose a bucket; the table
    answers only where no boundary of F lies in it. Otherwise U is read to `wide` bits and compared with
    enclosures of the boundaries, and a draw that still touches one is read on, `step` bits at a time, against ever
    finer enclosures. No bit of U is drawn twice, and nothing is decided inside an enclosure.
    """

    __slots__ = ("_codes", "_first", "_high", "_law", "_least", "_low", "_most", "_step", "_tight", "_wide", "_word")

    def __init__(self, law: Law, word: int = 16, wide: int = 64, step: int = 64) -> None:
        self._law, self._word, self._wide, self._step = law, word, wide, step
        ladder = law.ladder(wide)
        self._first = ladder.first
        self._least, self._most = int(ladder.open_below), len(ladder.low) - ladder.open_above
        # U lies in a cell [u, u + 1) of width 2**-wide. A boundary in [low, high] is surely passed when high <= u,
        # surely not when low > u. Counts need each array sorted, not the pairs kept together; `high` is stored
        # one less, because it can be 2**64.
        self._low = np.sort(np.array([max(0, low) for low in ladder.low], dtype=np.uint64))
        self._high = np.sort(np.array([max(0, min(high, 1 << wide) - 1) for high in ladder.high], dtype=np.uint64))
        self._tight = bool((self._low == self._high).all())
        self._codes = self._table()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the tables hold."""
        return self._codes.nbytes + self._low.nbytes + self._high.nbytes

    @property
    def span(self) -> range:
        """The values that the table and `wide` bits can tell apart."""
        return range(self._first, self._first + len(self._low) + 1)

    def draw(self, source: BitSource, out: NDArray[np.int64], limit: int = 1 << 62) -> Integers:
        """Fill `out` and return it; should a value reach `limit`, return an array of Python integers instead."""
        words = source.words(len(out), self._word)
        codes = np.take(self._codes, words, mode="wrap")
        out[...] = codes
        slow = np.flatnonzero(codes == _UNDECIDED)
        return self._refine(source, words, slow, out, limit) if slow.size else out

    def one(self, source: BitSource) -> int:
        """Draw a single value."""
        word = source.bits(self._word)
        code: int = self._codes.item(word)
        if code != _UNDECIDED:
            return code
        rest = self._wide - self._word
        cell = word << rest | source.bits(rest)
        passed, undecided = self._count(np.array([cell], dtype=np.uint64))
        if not undecided[0]:
            return self._first + int(passed[0])
        return self._settle(source, cell)

    def _table(self) -> NDArray[np.int16]:
        """Say for every word which value it means, or that a boundary (or an open end) lies in its bucket."""
        buckets = 1 << self._word
        shift = np.uint64(self._wide - self._word)
        touched = np.cumsum(np.bincount((self._low >> shift).astype(np.intp), minlength=buckets))
        passed = np.cumsum(np.bincount((self._high >> shift).astype(np.intp) + 1, minlength=buckets + 1))[:buckets]
        decided = (passed == touched) & (passed >= self._least) & (passed <= self._most)
        codes = np.where(decided, self._first + passed, _UNDECIDED)
        assert np.abs(codes[decided]).max(initial=0) < -_UNDECIDED, "more values than words"
        return codes.astype(np.int16)

    def _refine(
        self, source: BitSource, words: Words, slow: NDArray[np.intp], out: NDArray[np.int64], limit: int
    ) -> Integers:
        """Read undecided draws on to `wide` bits; the few that are still open are settled one by one."""
        rest = self._wide - self._word
        cells = words[slow].astype(np.uint64) << np.uint64(rest) | source.words(len(slow), rest)
        passed, undecided = self._count(cells)
        out[slow] = self._first + passed
        settled = {int(slow[i]): self._settle(source, int(cells[i])) for i in np.flatnonzero(undecided)}
        values: Integers = out
        if any(abs(value) >= limit for value in settled.values()):
            values = out.astype(object)
        for place, value in settled.items():
            values[place] = value
        return values

    def _count(self, cells: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Count the boundaries that each cell has surely passed, and say whether another might be among them."""
        passed = np.searchsorted(self._high, cells, side="left")
        if self._tight:
            touches = self._high[np.minimum(passed, len(self._high) - 1)] == cells
        else:
            touches = passed != np.searchsorted(self._low, cells, side="right")
        return passed, touches | (passed < self._least) | (passed > self._most)

    def _settle(self, source: BitSource, cell: int) -> int:
        """Decide one draw that `wide` bits left open, reading on for as long as it takes."""
        bits = self._wide
        while True:
            bits += self._step
            cell = cell << self._step | source.bits(self._step)
            ladder = self._law.ladder(bits)
            passed = bisect_right(sorted(ladder.high), cell)
            touched = bisect_right(sorted(ladder.low), cell)
            if passed == touched and ladder.open_below <= passed <= len(ladder.low) - ladder.open_above:
                return ladder.first + passed
