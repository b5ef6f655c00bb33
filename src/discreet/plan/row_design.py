"""Row design: what a model sees of a row, as whole numbers that follow from declarations and from that row alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass
from discreet.plan.keys import declared, shown
from discreet.plan.value_codes import step_codes

Codes = NDArray[np.int64]
Matrix = Any  # a sparse matrix of scipy, whose types say little

# A number that is scaled instead of binned is a multiple of 1/128 between -1 and 1.
SCALE = 128
MOST_WIDTH = 1 << 16


@dataclass(frozen=True, slots=True)
class RowFeature:
    """One column as a model sees it: an entry for each key, or bin, and one for null; or one scaled number.

    `edges` are the codes at which bins begin, all but the first; a number that is scaled has none.
    """

    column: Column
    edges: tuple[int, ...] | None = None
    scaled: bool = False

    @classmethod
    def of(cls, column: Column, bins: int | None) -> RowFeature:
        """Encode a declared column: numbers and dates in at most so many runs of equally many steps, or scaled."""
        if column.kind == "text":
            why = "its values were not declared, so that nothing can number them"
            raise BadParameter("columns", column.name, why=why, fix="declare it with one_of, or leave it out")
        if column.kind in ("category", "flag"):
            return cls(column)
        if bins is None:
            return cls(column, scaled=True)
        many = column.steps[1] - column.steps[0] + 1
        width = -(-many // bins)
        return cls(column, tuple(range(width, many, width)))

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name or ""

    @property
    def values(self) -> int:
        """How many entries stand for values."""
        if self.scaled:
            return 1
        return len(self.edges) + 1 if self.edges is not None else len(declared(self.column) or ())

    @property
    def width(self) -> int:
        """How many entries there are, with that of null."""
        return self.values + self.column.nullable

    @property
    def labels(self) -> tuple[str, ...]:
        """Each entry in words: a key, a bin, or null."""
        if self.scaled:
            found = [self.name]
        elif self.edges is None:
            found = [f"{self.name}={shown(self.column, value)}" for value in declared(self.column) or ()]
        else:
            low, high = self.column.steps
            ends = [low, *(low + edge for edge in self.edges), high + 1]
            found = [
                f"{self.name}={shown(self.column, one)}..{shown(self.column, other - 1)}"
                for one, other in pairwise(ends)
            ]
        return (*found, *([f"{self.name}=null"] * self.column.nullable))

    def placed(self, codes: Codes) -> tuple[Codes, Codes]:
        """Return which entry each code has, and its value in units of 1/SCALE; where there is none, 0.

        Codes are those of batches: 0 to the number of values, and -1 for null.
        """
        here = codes >= 0
        if self.scaled:
            most = max(1, self.column.steps[1] - self.column.steps[0])
            ratio = np.clip(codes, 0, most).astype(np.float64) / most  # a declared range, whatever was read
            value = np.trunc((2 * ratio - 1) * SCALE).astype(np.int64)
            entry = np.where(here, 0, 1 if self.column.nullable else 0)
            return entry, np.where(here, value, SCALE * self.column.nullable)
        last = self.values - 1
        entry = np.clip(codes, 0, last) if self.edges is None else np.searchsorted(self.edges, codes, side="right")
        entry = np.where(here, np.minimum(entry, last), self.values if self.column.nullable else 0)
        return entry, np.where(here | self.column.nullable, SCALE, 0)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        edges = None if self.edges is None else [*self.edges]
        return {"column": self.column.record(), "edges": edges, "scaled": self.scaled}

    @classmethod
    def from_record(cls, record: object) -> RowFeature:
        """Read what `record` returned, checking it again."""
        found = records.fields("feature", record, ("column", "edges", "scaled"))
        column, edges, scaled = Column.from_record(found["column"]), found["edges"], found["scaled"]
        if edges is not None:
            edges = tuple(map(int, edges))
            many = column.steps[1] - column.steps[0] + 1
            if [*edges] != sorted({*edges}) or any(not 0 < edge < many for edge in edges):
                raise ValueError("edges do not fit their column")
        if (column.kind in ("number", "date")) != (scaled is True or edges is not None):
            raise ValueError("a number is binned or scaled, and nothing else is")
        return cls(column, edges, bool(scaled))


@dataclass(frozen=True, slots=True)
class RowDesign:
    """What a model sees of a row: one entry of each feature; and a constant, where no feature has one in every row.

    Guarantee: a row of it follows from that row and what was declared. All its entries are whole numbers of `unit`, at
    most one for each feature and the constant, each at most `unit`: so the lengths stated here bound every row.
    """

    features: tuple[RowFeature, ...]

    @classmethod
    def of(cls, columns: Mapping[str, Column], bins: int | None) -> RowDesign:
        """Encode declared columns, all of them in their order."""
        made = cls(tuple(RowFeature.of(column.named(name), bins) for name, column in columns.items()))
        if not made.features:
            raise BadParameter("columns", (), why="there is nothing to learn from", fix="declare a column or more")
        if made.width > MOST_WIDTH:
            why = f"they have {made.width:,} entries in all, and each gets noise of its own"
            raise BadParameter("columns", made.width, why=why, fix="use fewer keys, or fewer bins")
        return made

    @property
    def has_constant(self) -> bool:
        """Whether rows have a constant: where entries of keys or bins add up to one, it would add nothing."""
        return all(each.scaled for each in self.features)

    @property
    def width(self) -> int:
        """How many entries there are."""
        return sum(each.width for each in self.features) + self.has_constant

    @property
    def entries(self) -> int:
        """How many entries of one row are not 0, at most."""
        return len(self.features) + self.has_constant

    @property
    def unit(self) -> int:
        """What 1 is counted as."""
        return SCALE if any(each.scaled for each in self.features) else 1

    @property
    def length_squared(self) -> int:
        """The largest squared Euclidean length of a row."""
        return self.entries * self.unit**2

    @property
    def length_l1(self) -> int:
        """The largest sum of sizes of a row's entries."""
        return self.entries * self.unit

    @property
    def labels(self) -> tuple[str, ...]:
        """Each entry in words."""
        named = [label for each in self.features for label in each.labels]
        return (*named, *(["constant"] * self.has_constant))

    def matrix(self, codes: Codes) -> Matrix:
        """Return rows as a sparse matrix of whole floats, in units; as many entries in each, so none is told apart."""
        from scipy.sparse import csr_array

        many = len(codes)
        entries = np.zeros((many, self.entries), np.int32)
        values = np.zeros((many, self.entries), np.float64)
        start = 0
        for place, each in enumerate(self.features):
            entry, value = each.placed(codes[:, place])
            entries[:, place] = entry + start
            values[:, place] = value // (SCALE // self.unit)
            start += each.width
        if self.has_constant:
            entries[:, -1], values[:, -1] = start, self.unit
        ends = np.arange(0, many * self.entries + 1, self.entries, dtype=np.int64)
        return csr_array((values.ravel(), entries.ravel(), ends), shape=(many, self.width))

    def codes(self, columns: Mapping[str, object]) -> Codes:
        """Return the codes of values in memory, a column for each feature.

        Guarantee: that of `step_codes`. Columns of different lengths are refused, and which they are alone is told.
        """
        for each in self.features:
            if each.name not in columns:
                raise UnknownName("column", each.name, map(str, columns))
        return side_by_side([(each.name, step_codes(each.column, columns[each.name])) for each in self.features])

    def record(self) -> list[Any]:
        """Return the features as plain JSON values."""
        return [each.record() for each in self.features]

    @classmethod
    def from_record(cls, record: object) -> RowDesign:
        """Read what `record` returned."""
        if not isinstance(record, list) or not record:
            raise ValueError("a design has features")
        return cls(tuple(RowFeature.from_record(each) for each in record))


def side_by_side(named: Sequence[tuple[str, Codes]]) -> Codes:
    """Put columns of codes side by side; how long they are is nobody's to know."""
    if len({len(codes) for _, codes in named}) > 1:
        other = [name for name, codes in named if len(codes) != len(named[0][1])]
        why = f"they differ in length from {named[0][0]!r}"
        raise BadParameter("data", other, why=why, fix="give each row all its values")
    return np.stack([codes for _, codes in named], axis=1)
