"""Census tables: what a statistical office publishes of every small block, and the counts of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.lab.defence import Answers, Defence, GaussianDefence, LaplaceDefence
from discreet.lab.table_copy import Bits, TableCopy
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

# The years of an age group, as offices publish them.
YEARS = 5
# More kinds of records than this are no matter for an integer program over each block.
_KINDS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A column of the records: the values there are, and the coarser group of each (itself, where it has none)."""

    name: str
    values: tuple[Any, ...]
    groups: Bits

    @classmethod
    def read(cls, name: str, column: NDArray[Any]) -> tuple[Attribute, Bits]:
        """Return the attribute and every person's place among its values; numbers are taken down to whole ones."""
        cells = column.tolist()
        number = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
        if number:
            cells = [math.floor(cell) for cell in cells]
        values = sorted(set(cells), key=lambda cell: (str(type(cell)), cell))
        place = {value: at for at, value in enumerate(values)}
        wide = number and len(values) > 2 * YEARS
        groups = [(value - values[0]) // YEARS if wide else at for at, value in enumerate(values)]
        dense = np.unique(np.array(groups, np.int64), return_inverse=True)[1].astype(np.int64)
        return cls(name, tuple(values), dense), np.array([place[cell] for cell in cells], np.int64)

    @property
    def fine(self) -> bool:
        """Whether its groups are coarser than its values."""
        return int(self.groups.max(initial=0)) + 1 < len(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Which tables are published: for every kind of record, its cell in each table.

    A kind is a combination of values, numbered; `medians` are sets of kinds for which the median of the first attribute
    is published too.
    """

    attributes: tuple[Attribute, ...]
    titles: tuple[str, ...]
    tables: tuple[Bits, ...]
    medians: tuple[NDArray[np.bool_], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(each.values) for each in self.attributes)

    @property
    def kinds(self) -> int:
        """How many kinds of records there are."""
        return math.prod(self.shape)

    @property
    def order(self) -> Bits:
        """Every kind's place by the first attribute."""
        return np.asarray(np.unravel_index(np.arange(self.kinds), self.shape)[0], np.int64)

    def counts(self, records: Bits) -> list[Bits]:
        """Return the exact tables of some records, given by their kinds."""
        return [np.bincount(of[records], minlength=int(of.max()) + 1) for of in self.tables]

    def middles(self, records: Bits) -> list[tuple[int, int]]:
        """Return the size and the lower median of each set that a median is published of (-1 of an empty one)."""
        found = []
        for among in self.medians:
            places = np.sort(self.order[records[among[records]]])
            found.append((len(places), int(places[(len(places) - 1) // 2]) if len(places) else -1))
        return found


def design(people: TableCopy, names: Sequence[str]) -> tuple[Design, Bits]:
    """Return the usual tables of these columns, and everyone's kind of record.

    The total, and each column alone; the first by the second in full detail (age by sex, in years); groups of the first
    by every two of the others (or by the one there is); and the median of the first by each value of those from the
    third on. Exact margins add nothing to exact tables, but a suppressed table is often told by its margins.
    """
    if len(names) < 2:
        why = "tables are made of two columns or more"
        raise BadParameter("attributes", list(names), why=why, fix="name some, such as age, female and health")
    read = [Attribute.read(name, people.column(name)) for name in names]
    attributes = tuple(attribute for attribute, _ in read)
    shape = tuple(len(each.values) for each in attributes)
    if math.prod(shape) > _KINDS:
        why = f"{math.prod(shape):,} kinds of records are too many to solve for"
        raise BadParameter("attributes", list(names), why=why, fix="leave columns with many values out")
    kind = np.ravel_multi_index(tuple(codes for _, codes in read), shape).astype(np.int64)
    codes = [np.asarray(each, np.int64) for each in np.unravel_index(np.arange(math.prod(shape)), shape)]
    grouped = [attribute.groups[code] for attribute, code in zip(attributes, codes, strict=True)]
    pairs: list[tuple[int, ...]] = [*combinations(range(1, len(names)), 2)] or [(1,)]
    tables, titles = [np.zeros_like(codes[0]), *grouped], ["total", *names]
    tables.append(_cells([codes[0], codes[1]]))
    titles.append(f"{names[0]} by {names[1]}")
    for pair in pairs:
        tables.append(_cells([grouped[0], *(codes[at] for at in pair)]))
        titles.append(" by ".join([f"groups of {names[0]}", *(names[at] for at in pair)]))
    later = [(at, value) for at in range(2, len(names)) for value in range(shape[at])] if attributes[0].fine else []
    medians = tuple(codes[at] == value for at, value in later)
    return Design(attributes, tuple(titles), tuple(tables), medians), kind


def published(plan: Design, records: Bits, defence: Defence) -> Answers:
    """Return all tables of a block, one after the other, as the defence gives them away.

    Guarantee: under Discreet's mechanisms what they promise, per person: a person is in one cell of each table, so
    all tables together move by their number, and in one block, so blocks compose in parallel.
    """
    tables = len(plan.tables)
    exact = np.concatenate(plan.counts(records))
    match defence:
        case LaplaceDefence(total):
            return np.asarray(Laplace(sensitivity=tables, epsilon=total).release(exact), np.float64)
        case GaussianDefence(rho):
            noise = Gaussian(sensitivity_squared=tables, rho=rho, dimension=len(exact))
            return np.asarray(noise.release(exact.tolist()), np.float64)
        case _:
            cells = np.concatenate(
                [of[records][None, :] == np.arange(int(of.max()) + 1)[:, None] for of in plan.tables]
            )
            return defence.protect(np.ones(len(records), np.int64), len(exact)).sums(cells)


def _cells(parts: list[Bits]) -> Bits:
    """Give a number to each cell of a table that some kind of record falls into."""
    total = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        total = total * (int(part.max(initial=0)) + 1) + part
    return np.unique(total, return_inverse=True)[1].astype(np.int64)
