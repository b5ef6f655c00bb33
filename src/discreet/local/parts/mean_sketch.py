"""Mean sketches: reports about hashed values, whose collisions are taken off the estimates and kept in the errors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import Number, finite, whole
from discreet.core.errors import BadParameter
from discreet.local.estimate import Estimate
from discreet.local.grid import asked, log_up, numerator
from discreet.local.parts import linear_hash
from discreet.local.parts.linear_interval import Floats, bounds, few
from discreet.local.parts.oracle import parameters
from discreet.local.parts.transform import walsh_hadamard
from discreet.local.post_processing import processed
from discreet.local.protocol import Protocol, categories, reports_of
from discreet.local.sketch import Sketch

Table = NDArray[np.int64]
_MOST_CELLS, _MOST_WIDTH = 1 << 27, 1 << 20
# Up to so many bits the sums of all values come from one transform, else value by value.
_TRANSFORMED = 24
_MOST_WRITTEN = 1 << 16
# With fewer rows or cells, the collisions of a value are too few to be measured by those of all others.
_FEWEST_ROWS, _FEWEST_CELLS = 16, 256


class MeanSketch(Protocol):
    """A protocol whose report is about the hash of a value in one of many rows, drawn evenly.

    A report supports its own value with probability p, and another one with probability q' = p/m + q (1 - 1/m), m
    being the width: where the row hashes both alike, which happens in one of m rows on average, it is the same to it.
    The estimate (support - n q')/(p - q') is unbiased over the draw of hash functions (the seed) and of reports. Its
    variance is that of a frequency oracle with (p, q'), plus sum w(w - 1) / (rows (m - 1)) over the counts w of all
    other values, exactly, because any three hashes are independent (Apple 2017, Theorem 3.4 bounds it).
    """

    __slots__ = ()
    k: int
    epsilon: Fraction
    rows: int
    width: int
    lie: Fraction
    candidates: tuple[str, ...]
    seed: int
    reports_per_day: int

    def __post_init__(self) -> None:
        if self.k:
            parameters(self.k, self.epsilon)
        asked(self.epsilon)
        numerator(self.lie)
        whole("reports_per_day", self.reports_per_day), whole("seed", self.seed, least=0), whole("rows", self.rows)
        if not 0 < self.lie < Fraction(1, 2):
            raise BadParameter("lie", self.lie, why="the truth is the more likely answer", fix="use less than 1/2")
        width = whole("width", self.width, least=2)
        if width & (width - 1) or width > _MOST_WIDTH:
            why = "hashes are numbers of so many bits"
            raise BadParameter("width", self.width, why=why, fix="use a power of two, such as 256")
        if self.rows * self.width > _MOST_CELLS:
            why = f"its sketch would have {self.rows * self.width:,} cells"
            raise BadParameter("rows", self.rows, why=why, fix="use fewer rows, or a smaller width")
        if not all(isinstance(each, str) for each in self.candidates) or len({*self.candidates}) < len(self.candidates):
            raise BadParameter("candidates", self.candidates, why="they are not distinct texts", fix="list each once")
        if self.k and self.candidates:
            why = "values are either the numbers below k or strings"
            raise BadParameter("candidates", self.candidates, why=why, fix="give one of k= and candidates=")

    # What each kind of sketch says ------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def alike(self) -> tuple[Fraction, Fraction]:
        """The probabilities (p, q) that a report supports a value of its own hash, and one of another hash."""

    @abstractmethod
    def coefficients(self, counts: Table) -> tuple[Table, int, int]:
        """Return Walsh-Hadamard coefficients of each row, and what to add to and divide by for the support."""

    @abstractmethod
    def matches(self, counts: Table) -> tuple[float, float]:
        """Return unbiased counts of ordered pairs of reports: of one row and one hash, and of one row."""

    # Values -----------------------------------------------------------------------------------------------------------

    @property
    def bits(self) -> int:
        """How many bits of a value are hashed."""
        return (self.k - 1).bit_length() if self.k else linear_hash.WORD_BITS

    @property
    def family(self) -> linear_hash.Keys:
        """The hash functions."""
        return linear_hash.keys(self.seed, self.rows, self.bits, self.width)

    def trial_values(self) -> list[int]:
        """Return some values to try: numbers, which stand for candidates where those are declared."""
        return [*range(min(8, self.k or len(self.candidates)))]

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return the numbers that are hashed: the values themselves, or 64 bits of the hash of each string.

        Where candidates are declared, their numbers stand for them.
        """
        if self.k:
            return categories(values, self.k)
        found = np.asarray(values, dtype=object)
        if found.ndim == 1 and all(isinstance(each, str) for each in found.tolist()):
            return linear_hash.words(found.tolist())
        if not self.candidates:
            why = "values are strings, or numbers of declared candidates, and none are declared"
            raise BadParameter("values", f"{found.size} values", why=why, fix="pass strings")
        return linear_hash.words(list(self.candidates)).take(categories(values, len(self.candidates)))

    # What a day costs -------------------------------------------------------------------------------------------------

    @property
    def loss_per_day(self) -> PrivacyLoss:
        """What a day of fresh reports costs: so many times the loss of one, as a client ledger enforces."""
        return Pure(Fraction(log_up(self.odds)) * self.reports_per_day, relation="replace")

    # Estimates --------------------------------------------------------------------------------------------------------

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report supports its own value, and any other one, over the draw of the hashes."""
        p, q = self.alike
        return p, p / self.width + q * (1 - Fraction(1, self.width))

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """The least and the most that one report adds to an estimate."""
        p, q = self.support
        return -q / (p - q), (1 - q) / (p - q)

    def supports(self, sketch: Sketch, values: NDArray[Any] | None = None) -> Table:
        """Return how many reports support each value: those given, or all below k."""
        found, added, divisor = self.coefficients(self.own(sketch).counts)
        if values is None:
            values = np.arange(self.k)
        if self.bits <= _TRANSFORMED and self.bits * len(values) >= 1 << self.bits:
            sums = linear_hash.spread(self.family, found)[values]
        else:
            sums = linear_hash.gathered(self.family, walsh_hadamard(found), values)
        return (sums + added) // divisor

    def collisions(self, sketch: Sketch) -> float:
        """Estimate sum w(w - 1) over the counts w of all values, known ones or not, from pairs of reports in a row."""
        same, pairs = self.matches(self.own(sketch).counts)
        n = sketch.reports
        share = 1 - 1 / self.width
        return float(np.clip(self.rows * (same - pairs / self.width) / share, 0, max(0, n * (n - 1))))

    def estimate(
        self,
        sketch: Sketch,
        beta: float = 0.05,
        post: str | None = None,
        *,
        candidates: Sequence[str] | Sequence[int] | None = None,
    ) -> Estimate:
        """Return how many reports are of each value or candidate, with intervals that hold with probability 1 - beta.

        Intervals hold over the draw of reports and hash functions; collisions are in them, as the sketch measures them,
        or all that can be where it has fewer than 16 rows or 256 cells.
        """
        labels = self._labels(candidates)
        values = None if labels is None else self.checked(list(labels))
        value, low, high = self.bounded(sketch, values, beta)
        found = Estimate(value, low, high, sketch.reports, sketch.rejected, beta, str(self), labels=labels)
        return processed(found, post, threshold=self.error(sketch.reports, beta)) if post is not None else found

    def bounded(
        self, sketch: Sketch, values: NDArray[Any] | None, beta: float, share: Number = 1
    ) -> tuple[Floats, Floats, Floats]:
        """Return estimates and bounds of checked values, for a crowd of which each reports with probability `share`."""
        p, q = self.support
        gap, odd = float(p - q), float(1 / Fraction(share))
        value = odd * np.asarray(self.supports(sketch, values) - float(sketch.reports * q)) / gap
        # The pairs of a value with itself are no collisions.
        collide = np.maximum(odd**2 * self.collisions(sketch) - np.maximum(value, 0) ** 2, 0)
        noise, chance = odd**2 * sketch.reports * float(q * (1 - q)) / gap**2, collide / (self.rows * (self.width - 1))
        slope = odd * float(p * (1 - p) - q * (1 - q)) / gap**2 + odd - 1
        # Collisions are few and large, the largest where all are with one value: they lengthen the upper tail.
        unit, meeting = odd / gap, np.sqrt(collide) / self.rows
        part = chance / np.maximum(noise + chance, 1e-300)
        skew = (unit + part * meeting, unit)
        jump = np.sqrt(unit**2 * (1 - part) + meeting**2 * part)
        low, high = bounds(value, noise + chance, slope, unit, beta, skew=skew, jump=jump)
        if self.rows < _FEWEST_ROWS or self.rows * self.width < _FEWEST_CELLS:
            worst = self._worst(value, sketch.reports, odd, beta)
            low, high = np.minimum(low, worst[0]), np.maximum(high, worst[1])
        return value, low, high

    def _worst(self, value: Floats, n: int, odd: float, beta: float) -> tuple[Floats, Floats]:
        """Return bounds that hold whatever the hashes are: few rows say nothing of how often they collide.

        Given the hashes, the estimate of t people is (t + c - n/m)/(1 - 1/m) on average, where c of the n - t others
        collide, in the mean over the rows: nobody, or everyone.
        """
        p, q = self.support
        unit, spread = odd / float(p - q), float(max(each * (1 - each) for each in self.alike))
        _, high = bounds(value, n * spread * unit**2, odd - 1, unit, beta, skew=(unit, unit), jump=unit)
        reach = few(n, np.full(1, spread * unit**2), np.full(1, unit), np.full(1, unit), beta)
        share = 1 / self.width
        return np.minimum(value, 0.0), (1 - share) * np.maximum(high, value + reach) + share * odd * n

    def variance(self, n: int, count: Number = 0, *, collisions: Number | None = None) -> float:
        """Return the variance of the estimate for a value that `count` of n people have.

        `collisions` is sum w(w - 1) over the counts w of all other values; by default all values (or candidates) are
        equally frequent, and where neither is declared all others have one value, the worst case.
        """
        p, q = self.support
        people, having = reports_of(n), Fraction(finite("count", count))
        each = Fraction(people, self.k or len(self.candidates) or 1)
        others = (people - having) * max(each - 1, Fraction(0)) if collisions is None else Fraction(collisions)
        plain = (having * p * (1 - p) + (people - having) * q * (1 - q)) / (p - q) ** 2
        return float(plain + others / (self.rows * (self.width - 1)))

    def _labels(self, candidates: Sequence[str] | Sequence[int] | None) -> tuple[str | int, ...] | None:
        chosen: tuple[str | int, ...] | None = None if candidates is None else tuple(candidates)
        if chosen is None and not self.k:
            chosen = self.candidates
        if chosen is not None and not chosen:
            why = "there is nothing to estimate without candidate strings"
            raise BadParameter("candidates", candidates, why=why, fix="pass candidates=, or use heavy_hitters")
        return chosen

    def __str__(self) -> str:
        over = f"k={self.k}" if self.k else "strings"
        return f"{self.name}({over}, epsilon={float(self.epsilon):g}, rows={self.rows}, width={self.width})"

    def written(self, outcomes: int) -> None:
        """Refuse to write out a distribution of too many outcomes."""
        if outcomes > _MOST_WRITTEN:
            why = f"it has {outcomes:,} reports, too many to write out"
            raise BadParameter("width", self.width, why=why, fix="ask for the likelihood of a smaller sketch")
