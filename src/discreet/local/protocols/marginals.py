"""Marginals: tables of every few attributes together, from one sign of each person's row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.numeric.checks import Number, finite, whole
from discreet.core.errors import BadParameter, UnknownName
from discreet.local.estimate import Estimate
from discreet.local.grid import BITS, asked, lie, numerator
from discreet.local.parts.linear_interval import Floats, bounds, few
from discreet.local.parts.transform import parity
from discreet.local.parts.wire import count_rows, narrow_rows, width
from discreet.local.post_processing import processed
from discreet.local.protocol import Counts, Protocol, categories, reports_of
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.packed_coins import packed_bernoulli
from discreet.noise.uniform_stream import below

_MOST_BITS, _MOST_COEFFICIENTS, _MOST_CELLS = 48, 1 << 20, 1 << 16


@dataclass(frozen=True, slots=True)
class Marginals(Protocol):
    """Reports one sign of a row: a set of its bits, drawn evenly, and their parity, wrong with probability `lie`.

    Every category is written in bits. The sets are those that touch at most `ways` attributes, so they are the
    Walsh-Hadamard coefficients of every table of so many attributes. All tables come from the same coefficients and
    agree with each other exactly; codes of bits that stand for no category are spread evenly over those that do, which
    keeps the tables unbiased and consistent (Cormode, Kulkarni, Srivastava 2018, InpHT).

    Guarantee: pure epsilon = ln((1 - lie)/lie) for the whole row, and exactly that: the set is drawn without a look at
    the row, and the parity is one bit of randomized response.
    """

    name: ClassVar[str] = "marginals"
    attributes: tuple[str, ...]
    sizes: tuple[int, ...]
    ways: int
    epsilon: Fraction
    lie: Fraction

    def __post_init__(self) -> None:
        asked(self.epsilon)
        numerator(self.lie)
        if not 0 < self.lie < Fraction(1, 2):
            raise BadParameter("lie", self.lie, why="the true sign is the more likely one", fix="use less than 1/2")
        names = [*self.attributes]
        if not names or len({*names}) < len(names) or not all(isinstance(name, str) for name in names):
            raise BadParameter("attributes", names, why="they are not distinct names", fix="name each attribute once")
        if len(self.sizes) != len(names):
            raise BadParameter("sizes", self.sizes, why=f"there are {len(names)} attributes", fix="give one size each")
        for size in self.sizes:
            whole("sizes", size, least=2)
        if whole("ways", self.ways) > len(names):
            raise BadParameter("ways", self.ways, why=f"there are {len(names)} attributes", fix="use at most as many")
        if sum(self.bits) > _MOST_BITS:
            why = f"a row has {sum(self.bits)} bits, and at most {_MOST_BITS} are handled"
            raise BadParameter("sizes", self.sizes, why=why, fix="use fewer attributes or categories")
        widest = sum(sorted(self.bits)[-self.ways :])
        if comb(len(names), self.ways) << widest > _MOST_COEFFICIENTS:
            why = "there would be more than a million coefficients"
            raise BadParameter("ways", self.ways, why=why, fix="use fewer ways, attributes or categories")

    # Rows -------------------------------------------------------------------------------------------------------------

    @property
    def bits(self) -> tuple[int, ...]:
        """How many bits each attribute has."""
        return tuple((size - 1).bit_length() for size in self.sizes)

    @property
    def shifts(self) -> tuple[int, ...]:
        """Where the bits of each attribute begin in the code of a row."""
        return tuple(sum(self.bits[:at]) for at in range(len(self.bits)))

    @property
    def k(self) -> int:
        """How many different rows there are."""
        return prod(self.sizes)

    @property
    def sets(self) -> NDArray[np.uint64]:
        """The sets of bits that may be drawn, as numbers."""
        return _sets(self.bits, self.ways)

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return the bits of rows: a row of categories for each person, or its number, the last attribute fastest."""
        try:
            found = np.asarray(values)
        except ValueError as error:
            why, fix = "a row has a category for each attribute", "pass rows of equal length"
            raise BadParameter("values", type(values).__name__, why=why, fix=fix) from error
        if found.ndim == 2 and found.shape[1] == len(self.sizes):
            columns = [categories(column, size) for column, size in zip(found.T, self.sizes, strict=True)]
        else:
            columns = list(np.unravel_index(categories(found, self.k).astype(np.int64), self.sizes))
        out = np.zeros(len(found), dtype=np.int64)
        for column, shift in zip(columns, self.shifts, strict=True):
            out |= column.astype(np.int64) << shift
        return out

    # Reports ----------------------------------------------------------------------------------------------------------

    @property
    def odds(self) -> Fraction:
        """The true sign against the wrong one."""
        return (1 - self.lie) / self.lie

    @property
    def bytes_per_report(self) -> int:
        """A set and a sign."""
        return width(self.cells)

    @property
    def cells(self) -> int:
        """One for each set and sign."""
        return 2 * len(self.sets)

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Draw sets, take parities, and turn some of them over."""
        count = len(values)
        chosen = below(source, len(self.sets), count).astype(np.int64)
        signs = _parity(self.sets[chosen] & values.astype(np.uint64))
        signs ^= np.unpackbits(packed_bernoulli(source, numerator(self.lie), BITS, -(-count // 8)), count=count)
        return narrow_rows(2 * chosen + signs, self.bytes_per_report)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count sets and signs; what is beyond the last set is malformed."""
        return count_rows(rows, self.cells)

    def likelihood(self, value: object) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a row."""
        if self.cells > _MOST_CELLS:
            why = f"it has {self.cells:,} reports, too many to write out"
            raise BadParameter("ways", self.ways, why=why, fix="ask for the likelihood of a smaller protocol")
        signs = _parity(self.sets & self.checked(np.asarray([value])).astype(np.uint64)).tolist()
        even, size = Fraction(1, len(signs)), self.bytes_per_report
        return {
            (2 * at + sign).to_bytes(size, "little"): even * (1 - self.lie if sign == own else self.lie)
            for at, own in enumerate(signs)
            for sign in (0, 1)
        }

    # Estimates --------------------------------------------------------------------------------------------------------

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """The least and the most that one report adds to a cell of a table of `ways` attributes."""
        scale = len(self.sets) / float(1 - 2 * self.lie)
        ends: list[float] = []
        for chosen in combinations(range(len(self.sizes)), self.ways):
            first, largest = self._largest(chosen)
            ends += [float((first - scale * largest).min()), float((first + scale * largest).max())]
        return Fraction(min(ends)), Fraction(max(ends))

    def _largest(self, at: Sequence[int]) -> tuple[Floats, Floats]:
        """Return, for each cell, the weight of all reports alike, and the largest one of a coefficient."""
        first, largest = np.ones(1), np.zeros(1)
        for place in at:
            weights = np.abs(_weights(self.sizes[place]))
            most, others = weights.max(axis=1), weights[:, 1:].max(axis=1)
            # The empty set is no coefficient: some attribute has a part in it.
            largest = np.maximum(np.outer(largest, most), np.outer(first, others)).reshape(-1)
            first = np.outer(first, weights[:, 0]).reshape(-1)
        return first, largest

    def table(self, sketch: Sketch, attributes: Sequence[str]) -> Floats:
        """Return the unbiased table of some attributes, an axis for each; it sums to the number of reports."""
        at = self._places(attributes)
        signs = self.own(sketch).counts.reshape(-1, 2)
        scale = len(self.sets) / float(1 - 2 * self.lie)
        found = np.empty([1 << self.bits[place] for place in at])
        for index in np.ndindex(*found.shape):
            mask = sum(code << self.shifts[place] for code, place in zip(index, at, strict=True))
            where = int(np.searchsorted(self.sets, np.uint64(mask)))
            found[index] = scale * (signs[where, 0] - signs[where, 1]) if mask else sketch.reports
        for axis, place in enumerate(at):
            found = np.moveaxis(np.tensordot(_weights(self.sizes[place]), found, axes=(1, axis)), 0, axis)
        return found

    def estimate(
        self, sketch: Sketch, beta: float = 0.05, post: str | None = None, *, attributes: Sequence[str] | None = None
    ) -> Estimate:
        """Return the table of some attributes, a row for each cell, or all tables of `ways` attributes.

        Raw tables agree with each other exactly; post-processing is of each table alone.
        """
        wanted = [*combinations(self.attributes, self.ways)] if attributes is None else [tuple(attributes)]
        parts = [self._estimated(sketch, each, beta, post) for each in wanted]
        value, low, high = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "low", "high")
        )
        labels = tuple(label for part in parts for label in part.names)
        return replace(parts[0], value=value, low=low, high=high, labels=labels)

    def _estimated(self, sketch: Sketch, attributes: Sequence[str], beta: float, post: str | None) -> Estimate:
        value, at = self.table(sketch, attributes).reshape(-1), self._places(attributes)
        low, high = self._bounded(value, at, sketch.reports, beta)
        cells = product(*(range(self.sizes[place]) for place in at))
        labels = tuple(
            ", ".join(f"{name}={each}" for name, each in zip(attributes, cell, strict=True)) for cell in cells
        )
        found = Estimate(value, low, high, sketch.reports, sketch.rejected, beta, str(self), labels=labels)
        return processed(found, post, threshold=self.error(sketch.reports, beta)) if post is not None else found

    def _bounded(self, value: Floats, at: Sequence[int], n: int, beta: float) -> tuple[Floats, Floats]:
        """Return the bounds of the cells of a table, whose estimates are along the last axis."""
        (base, slope), (first, largest) = self._spread(at), self._largest(at)
        scale = len(self.sets) / float(1 - 2 * self.lie)
        unit = 2 * scale / float(1 << sum(self.bits[place] for place in at))
        # A report of the cell itself adds signs that lean one way, any other one signs that lean both ways.
        jump = scale * float(largest.max())
        lean = jump * np.clip(value / max(1, n), 0.0, 1.0)
        low, high = bounds(value, base * n, slope, unit, beta, skew=(lean, 0.0), jump=jump)
        # What one report adds is 0 or 1 on average, and at most `scale * largest` from `first`.
        most = scale * largest + np.maximum(first, 1 - first)
        reach = few(n, np.maximum(base, base + slope), most, 2 * scale * largest, beta)
        return np.minimum(low, value - reach), np.maximum(high, value + reach)

    def _spread(self, at: Sequence[int]) -> tuple[Floats, Floats]:
        """Return, for each cell, the variance that a report of another cell adds, and how much more one of its own.

        A report adds w0 plus or minus its coefficient's weight times the number of sets over 1 - 2 lie.
        """
        squares, first = np.ones(1), np.ones(1)
        for place in at:
            weights = _weights(self.sizes[place])
            squares = np.outer(squares, (weights**2).sum(axis=1)).reshape(-1)
            first = np.outer(first, weights[:, 0]).reshape(-1)
        noise = len(self.sets) * (squares - first**2) / float(1 - 2 * self.lie) ** 2
        return noise - first**2, 2 * first - 1

    def variance(self, n: int, count: Number = 0, *, attributes: Sequence[str] | None = None) -> float:
        """Return the variance of a cell that `count` of n people are in: the worst of all tables, or of one."""
        people, having = reports_of(n), float(finite("count", count))
        names = [*combinations(self.attributes, self.ways)] if attributes is None else [tuple(attributes)]
        spreads = (self._spread(self._places(each)) for each in names)
        return max(float((people * base + having * slope).max()) for base, slope in spreads)

    def _places(self, attributes: Sequence[str]) -> list[int]:
        for name in attributes:
            if name not in self.attributes:
                raise UnknownName("attribute", str(name), self.attributes)
        if not attributes or len({*attributes}) < len(attributes) or len(attributes) > self.ways:
            why = f"a table has one to {self.ways} different attributes"
            raise BadParameter("attributes", tuple(attributes), why=why, fix="collect with more ways for larger tables")
        return [self.attributes.index(name) for name in attributes]

    def __str__(self) -> str:
        return f"{self.name}({len(self.attributes)} attributes, ways={self.ways}, epsilon={float(self.epsilon):g})"


def marginals(attributes: Mapping[str, int] | Sequence[int], epsilon: Number, *, ways: int = 2) -> Marginals:
    """Return the marginals of at most so many ways over attributes, given as {name: number of categories} or sizes.

    Guarantee: see `Marginals`; its epsilon is at most the one asked for.
    """
    exact = asked(epsilon)
    named = attributes if isinstance(attributes, Mapping) else {f"a{at}": size for at, size in enumerate(attributes)}
    return Marginals(tuple(named), tuple(named.values()), ways, exact, lie(exact))


@lru_cache(maxsize=16)
def _sets(bits: tuple[int, ...], ways: int) -> NDArray[np.uint64]:
    """Return every set of bits that touches one to `ways` attributes, in rising order."""
    shifts = [sum(bits[:at]) for at in range(len(bits))]
    found = [
        sum(code << shifts[place] for code, place in zip(codes, chosen, strict=True))
        for count in range(1, ways + 1)
        for chosen in combinations(range(len(bits)), count)
        for codes in product(*(range(1, 1 << bits[place]) for place in chosen))
    ]
    out = np.array(sorted(found), dtype=np.uint64)
    out.flags.writeable = False
    return out


@lru_cache(maxsize=256)
def _weights(size: int) -> Floats:
    """Return what each coefficient of an attribute adds to each category: the inverse transform, without idle codes."""
    order = 1 << (size - 1).bit_length()
    signs = np.array([[1 - 2 * ((code & cell).bit_count() % 2) for code in range(order)] for cell in range(order)])
    out = np.asarray((signs[:size] + signs[size:].sum(axis=0) / size) / order, dtype=np.float64)
    out.flags.writeable = False
    return out


def _parity(numbers: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return parity((numbers ^ (numbers >> np.uint64(32))).astype(np.uint32))


def examples() -> Iterator[Marginals]:
    """Yield small instances, on which every promise is tried."""
    yield marginals([2, 2, 2], 1)
    yield marginals({"sex": 2, "age": 5, "town": 3}, 1, ways=2)
    yield marginals([4, 3], Fraction(1, 2), ways=1)
