"""Discrete Gaussian numbers of any scale: exact bins, uniform inside, and an exact acceptance."""

from __future__ import annotations

from discreet.noise import enclosure
from discreet.noise.arrays import NDArray, np
from discreet.noise.bits import BitSource
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers, Inverter
from discreet.noise.law import Bell


class Bins:
    """Draws P(k) proportional to exp(-k**2 / (2 sigma**2)).

    Guarantee: exact. A bin is drawn by the weight of its most likely value `near`, a value k in it uniformly, and k is
    kept with probability exp(-(k**2 - near**2) / (2 sigma**2)); otherwise the draw starts again (rejection). The
    uniform V of that decision is read like any other: `word` bits against the least acceptance in the bin, `wide` bits
    against a float value with a guard band, and inside the band on and on against rigorous enclosures.
    """

    __slots__ = ("_bins", "_floor", "_guard", "_halved", "_shift", "_step", "_wide", "_word")

    def __init__(
        self,
        sigma: Ratio,
        *,
        direct: int = 64,
        bin_bits: int = 5,
        word: int = 16,
        wide: int = 64,
        step: int = 64,
        guard: float = 2.0**-40,
    ) -> None:
        top, bottom = sigma
        whole = top // bottom
        # Below `direct` the bins are the integers; above, 2**bin_bits to twice as many bins make a standard deviation.
        self._shift = max(0, whole.bit_length() - 1 - bin_bits) if whole >= direct else 0
        self._word, self._wide, self._step, self._guard = word, wide, step, guard
        self._halved: Ratio = (bottom**2, 2 * top**2)
        self._bins = Inverter(Bell(self._halved, 1 << self._shift), word, wide, step)
        self._floor = self._least_acceptance()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the tables hold."""
        return self._bins.nbytes + self._floor.nbytes

    def draw(self, source: BitSource, out: NDArray[np.int64]) -> Integers:
        """Fill `out` and return it, or an array of Python integers should 64 bits not hold a value."""
        if not self._shift:
            return self._bins.draw(source, out)
        values, kept = self._attempt(source, out)
        places = np.flatnonzero(~kept)
        while places.size:
            fresh, kept = self._attempt(source, np.empty(len(places), dtype=np.int64))
            if fresh.dtype == object:
                values = values.astype(object)
            values[places] = fresh
            places = places[~kept]
        return values

    def one(self, source: BitSource) -> int:
        """Draw a single value."""
        if not self._shift:
            return self._bins.one(source)
        while True:
            value, kept = self._attempt_one(source)
            if kept:
                return value

    def _attempt(self, source: BitSource, out: NDArray[np.int64]) -> tuple[Integers, NDArray[np.bool_]]:
        """Propose values into `out` and say which of them to keep."""
        count = len(out)
        values = self._bins.draw(source, out, limit=1 << (62 - self._shift))
        # The outermost bins stand for all beyond them; their floor is 0, so nothing is decided too early.
        inside = np.clip(values - self._bins.span[0], 0, len(self._floor) - 1).astype(np.intp)
        values <<= self._shift
        values |= source.words(count, self._shift).astype(np.int64)
        coins = source.words(count, self._word)
        kept = coins < np.take(self._floor, inside)
        slow = np.flatnonzero(~kept)
        if slow.size:
            kept[slow] = self._kept(source, values[slow], coins[slow])
        return values, kept

    def _attempt_one(self, source: BitSource) -> tuple[int, bool]:
        bin_ = self._bins.one(source)
        value = bin_ << self._shift | source.bits(self._shift)
        coin = source.bits(self._word)
        if bin_ in self._bins.span and coin < self._floor.item(bin_ - self._bins.span[0]):
            return value, True
        return value, self._settle(source, value, coin, self._word)

    def _near(self, value: int) -> int:
        """Return the size of the most likely value in the same bin."""
        bin_ = value >> self._shift
        return bin_ << self._shift if bin_ >= 0 else (~bin_ << self._shift) + 1

    def _least_acceptance(self) -> NDArray[np.uint32]:
        """Bound from below, in words, the acceptance probability anywhere in each bin; 0 for the open ends."""
        width = 1 << self._shift
        floors = []
        for bin_ in self._bins.span:
            near = self._near(bin_ * width)
            far = near + width - 1
            top, bottom = self._halved
            floors.append(enclosure.exp((top * (far**2 - near**2), bottom), self._word)[0])
        floors[0] = floors[-1] = 0
        return np.array(floors, dtype=np.uint32)

    def _kept(self, source: BitSource, values: Integers, coins: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        """Decide acceptance where the first word of V did not."""
        rest = self._wide - self._word
        cells = coins.astype(np.uint64) << np.uint64(rest) | source.words(len(coins), rest)
        if values.dtype == object:
            verdict = np.zeros(len(values))
        else:
            size = np.abs(values)
            bins = values >> self._shift
            near = np.where(bins >= 0, bins << self._shift, (~bins << self._shift) + 1)
            exponent = (size - near).astype(float) * (size + near).astype(float) * (self._halved[0] / self._halved[1])
            # The float is good to about 2**-50 and the cell to 2**-wide; the guard covers both with room to spare.
            verdict = np.exp(-exponent) - cells.astype(float) * 2.0**-self._wide
        kept = verdict > 0
        for i in np.flatnonzero(np.abs(verdict) <= self._guard + 2.0**-self._wide):
            kept[i] = self._settle(source, int(values[i]), int(cells[i]), self._wide)
        return kept

    def _settle(self, source: BitSource, value: int, cell: int, bits: int) -> bool:
        """Compare V, whose first `bits` bits are `cell`, with the acceptance probability, reading on as needed."""
        top, bottom = self._halved
        rate = (top * (value**2 - self._near(value) ** 2), bottom)
        while True:
            low, high = enclosure.exp(rate, bits)
            if cell < low:
                return True
            if cell >= high:
                return False
            cell = cell << self._step | source.bits(self._step)
            bits += self._step
