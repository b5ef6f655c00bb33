"""Microsoft's dBitFlip: a histogram from a few bits of each client, about buckets drawn for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import finite, whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.local.estimate import Estimate
from discreet.local.grid import BITS, log_up, numerator
from discreet.local.parts import interval
from discreet.local.parts.oracle import parameters
from discreet.local.parts.sample_interval import drawn_within
from discreet.local.parts.telemetry_client import BitFlipClient
from discreet.local.parts.wire import narrow_rows, read_rows, width
from discreet.local.post_processing import processed
from discreet.local.protocol import Counts, Memo, Protocol, categories, reports_of
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.packed_coins import packed_bernoulli
from discreet.noise.uniform_stream import below

_MOST_WRITTEN = 1 << 16


@dataclass(frozen=True, slots=True)
class DBitFlip(Protocol):
    """Reports d of k buckets, drawn evenly, and for each whether the value is in it, turned over with chance `lie`.

    A client with a memo draws its buckets and its answers once: one for a value in each bucket and one for a value in
    none of them; `gamma` turns each bit of a report over once more, freshly.

    Guarantee: pure epsilon = 2 ln((1 - turned)/turned) for one report, and half of that where d = 1, attained, turned
    being the chance that either coin alone turns a bit over: buckets are drawn without a look at the value, and two
    values differ in at most two bits, or one. With a memo, reports of a value that stays in its bucket cost
    `loss_forever`, however many they are; moves between buckets that were not drawn are not seen. That a value moved
    otherwise is hidden by gamma alone: `loss_after(r)` bounds r reports of any two histories, and is infinite without
    gamma (Ding, Kulkarni, Yekhanin 2017).
    """

    name: ClassVar[str] = "d_bit_flip"
    k: int
    d: int
    epsilon: Fraction
    lie: Fraction
    gamma: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        parameters(self.k, self.epsilon)
        numerator(self.lie), numerator(self.gamma)
        if whole("d", self.d) > min(self.k, 256):
            why = f"a client answers for different ones of {self.k} buckets, and 256 at most"
            raise BadParameter("d", self.d, why=why, fix="use fewer bits")
        for name, chance in (("lie", self.lie), ("gamma", self.gamma)):
            if not 0 <= chance < Fraction(1, 2) or (name == "lie" and chance == 0):
                raise BadParameter(name, chance, why="the truth is the more likely answer", fix="use less than 1/2")

    @property
    def turned(self) -> Fraction:
        """The probability that a bit of a report is not the truth."""
        return self.lie * (1 - self.gamma) + (1 - self.lie) * self.gamma

    @property
    def differing(self) -> int:
        """In how many bits two values can differ."""
        return min(self.d, 2)

    @property
    def odds(self) -> Fraction:
        """All bits in which two values differ, right against wrong."""
        return ((1 - self.turned) / self.turned) ** self.differing

    @property
    def loss_forever(self) -> PrivacyLoss:
        """What any number of reports of a value that stays the same costs, with a memo; no moves are covered by it."""
        return Pure(log_up(((1 - self.lie) / self.lie) ** self.differing), relation="replace")

    def loss_after(self, reports: int) -> PrivacyLoss:
        """Return what so many reports cost, with a memo, whatever the values were and however they changed.

        Guarantee: given the buckets and all answers, each bit is that of an answer turned over with probability gamma.
        """
        count = whole("reports", reports)
        if count > 1 and not self.gamma:
            why = "without gamma a change of the answer is seen, and no epsilon covers that"
            raise BadParameter("gamma", 0, why=why, fix="use gamma above 0, or loss_forever for a value that stays")
        each = Fraction(log_up(((1 - self.gamma) / self.gamma) ** self.d)) if self.gamma else Fraction(0)
        return self.loss if count == 1 else Pure(each * count, relation="replace")

    # Reports ----------------------------------------------------------------------------------------------------------

    @property
    def _head(self) -> int:
        """How many bytes name a bucket; where all are answered for, none."""
        return width(self.k) if self.d < self.k else 0

    @property
    def bytes_per_report(self) -> int:
        """The buckets, in rising order, and a bit for each."""
        return self._head * self.d + -(-self.d // 8)

    @property
    def cells(self) -> int:
        """For each bucket, the reports about it, and those that have its bit set."""
        return 2 * self.k

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return the values, refusing any outside 0 .. k-1."""
        return categories(values, self.k)

    def client(self, memo: Memo | None = None) -> BitFlipClient:
        """Return one person's client; with a memo (a secret key, or a mapping that keeps one) it answers alike.

        Guarantee: see `DBitFlip`.
        """
        return BitFlipClient(self, memo)

    def asked_buckets(self, count: int, source: BitSource) -> NDArray[np.int64]:
        """Draw d different buckets for each client, every set of them equally likely (Floyd's algorithm), in order."""
        if self.d == self.k:
            return np.tile(np.arange(self.k, dtype=np.int64), (count, 1))
        out = np.empty((count, self.d), dtype=np.int64)
        for at, last in enumerate(range(self.k - self.d, self.k)):
            drawn = below(source, last + 1, count).astype(np.int64)
            out[:, at] = np.where((out[:, :at] == drawn[:, None]).any(axis=1), last, drawn)
        return np.sort(out, axis=1)

    def answered(self, buckets: NDArray[Any], values: NDArray[Any], source: BitSource) -> Bytes:
        """Return for each bucket whether it is the value's, turned over by a coin."""
        coins = packed_bernoulli(source, numerator(self.lie), BITS, -(-buckets.size // 8))
        bits: Bytes = np.unpackbits(coins, count=buckets.size).reshape(buckets.shape)
        bits ^= buckets == values[:, None]
        return bits

    def packed(self, buckets: NDArray[Any], bits: Bytes) -> Bytes:
        """Return reports as rows: the buckets, then the bits."""
        tail = np.packbits(bits, axis=1, bitorder="little")
        if not self._head:
            return tail
        head = narrow_rows(buckets.reshape(-1), self._head).reshape(len(buckets), -1)
        return np.concatenate([head, tail], axis=1)

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Draw buckets, answer for each, and turn some answers over."""
        buckets = self.asked_buckets(len(values), source)
        bits = self.answered(buckets, values, source)
        if self.gamma:
            fresh = packed_bernoulli(source, numerator(self.gamma), BITS, -(-bits.size // 8))
            bits ^= np.unpackbits(fresh, count=bits.size).reshape(bits.shape)
        return self.packed(buckets, bits)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count buckets and set bits; buckets out of order or beyond the last, or bits beyond, are malformed."""
        size = self._head * self.d
        if size:
            buckets = read_rows(np.ascontiguousarray(rows[:, :size]).reshape(-1, self._head)).reshape(-1, self.d)
        else:
            buckets = np.tile(np.arange(self.k), (len(rows), 1))
        good = (np.diff(buckets, axis=1) > 0).all(axis=1) & (buckets[:, -1] < self.k)
        if self.d % 8:
            good &= rows[:, -1] >> (self.d % 8) == 0
        bits = np.unpackbits(rows[good][:, size:], axis=1, count=self.d, bitorder="little").astype(bool)
        kept = buckets[good]
        counts = np.bincount(kept.reshape(-1), minlength=self.k), np.bincount(kept[bits], minlength=self.k)
        return np.concatenate(counts), len(rows) - len(kept)

    # Estimates --------------------------------------------------------------------------------------------------------

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """The least and the most that one report adds to an estimate."""
        scale = Fraction(self.k, self.d) / (1 - 2 * self.turned)
        return -self.turned * scale, (1 - self.turned) * scale

    def _spread(self) -> tuple[Fraction, Fraction]:
        """Return the variance that one report of another value adds, and how much more one of the value itself does."""
        share, noise = Fraction(self.k, self.d), self.turned * (1 - self.turned) / (1 - 2 * self.turned) ** 2
        return share * noise, share - 1

    def estimate(self, sketch: Sketch, beta: float = 0.05, post: str | None = None) -> Estimate:
        """Return how many reports are of each value, with an interval that holds with probability 1 - beta.

        A report that answers for a bucket stands for k/d people; the estimate is unbiased. Intervals are of the ones
        given how many reports are about a bucket, which does not depend on the values: those are a sum of independent
        coins, as the number of values among drawn people is (Vatutin and Mikhailov 1982).
        """
        about, ones = self.own(sketch).counts[: self.k], sketch.counts[self.k :]
        scale = float(Fraction(self.k, self.d) / (1 - 2 * self.turned))
        value = scale * (ones - about * float(self.turned))
        if self.d == self.k:
            _, low, high = interval.counts(ones, sketch.reports, 1 - self.turned, self.turned, beta)
        else:
            low, high = drawn_within(ones, about, sketch.reports, float(self.turned), beta)
        low, high = np.minimum(low, value), np.maximum(high, value)
        found = Estimate(value, low, high, sketch.reports, sketch.rejected, beta, str(self))
        return processed(found, post, threshold=self.error(sketch.reports, beta)) if post is not None else found

    def variance(self, n: int, count: Number = 0) -> float:
        """Return the variance of the estimate for a value that `count` of n people have."""
        base, slope = self._spread()
        return float(reports_of(n) * base + Fraction(finite("count", count)) * slope)

    def likelihood(self, value: int) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        sets = comb(self.k, self.d)
        if sets << min(self.d, 64) > _MOST_WRITTEN:
            why = f"it has {sets:,} sets of buckets, too many to write out"
            raise BadParameter("k", self.k, why=why, fix="ask for the likelihood of a smaller protocol")
        found = {}
        for buckets in combinations(range(self.k), self.d):
            for bits in product((0, 1), repeat=self.d):
                wrong = sum(bit != (bucket == value) for bit, bucket in zip(bits, buckets, strict=True))
                chance = prod([self.turned] * wrong + [1 - self.turned] * (self.d - wrong), start=Fraction(1, sets))
                row = self.packed(np.array([buckets]), np.array([bits], dtype=np.uint8))
                found[row.tobytes()] = chance
        return found

    def __str__(self) -> str:
        return f"{self.name}(k={self.k}, d={self.d}, epsilon={float(self.epsilon):g})"
