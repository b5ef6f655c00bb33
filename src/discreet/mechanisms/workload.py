"""Workloads: classes of counting queries, what one row moves them by, and the error to expect of an answer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number as Written
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.linear import check_matrix, of_matrix
from discreet.mechanisms.parts.integer_noise import Sensitivity
from discreet.mechanisms.parts.keys import tally
from discreet.mechanisms.parts.raw_values import Grid, tables
from discreet.mechanisms.prediction import Prediction, predicted

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Workload(ABC):
    """A class of counting queries; `answers` are exact integers, in units of `unit`."""

    @property
    @abstractmethod
    def queries(self) -> int:
        """How many there are."""

    @abstractmethod
    def sensitivity(self, relation: Relation) -> Sensitivity:
        """Return how far one row, added or replaced, moves the answers."""

    @abstractmethod
    def answers(self, values: Iterable[Any]) -> Counts | tuple[int, ...]:
        """Return the exact answers; what was not declared counts nowhere, and no value raises."""

    @property
    def unit(self) -> Fraction:
        """What one step of an answer means."""
        return Fraction(1)

    def mechanisms(
        self, *, epsilon: Number, delta: Number = 0, relation: Relation = "add_remove"
    ) -> tuple[Laplace | Gaussian, ...]:
        """Return the mechanisms that answer all queries: Laplace, and Gaussian where a delta is given.

        Guarantee: epsilon-DP and (epsilon, delta)-DP, under the relation.
        """
        moved, unit = self.sensitivity(check_relation(relation)), self.unit
        pure = Laplace(sensitivity=moved.l1 * unit, epsilon=epsilon, step=unit, relation=relation)
        if delta == 0:
            return (pure,)
        squared = moved.l2_squared * unit**2
        normal = Gaussian(
            sensitivity_squared=squared,
            epsilon=epsilon,
            delta=delta,
            step=unit,
            dimension=self.queries,
            relation=relation,
        )
        return (pure, normal)

    def predict(
        self, *, epsilon: Number, delta: Number = 0, relation: Relation = "add_remove"
    ) -> tuple[Prediction, ...]:
        """Return the error to expect from each mechanism, a function of parameters alone."""
        offered = self.mechanisms(epsilon=epsilon, delta=delta, relation=relation)
        return tuple(predicted(mechanism, self.queries) for mechanism in offered)


@dataclass(frozen=True, slots=True)
class Points(Workload):
    """How many rows lie in each of the cells 0 ... cells - 1: a histogram."""

    cells: int

    @property
    def queries(self) -> int:
        """One for each cell."""
        return self.cells

    def sensitivity(self, relation: Relation) -> Sensitivity:
        """Return one cell, or two for a replaced row."""
        return Sensitivity.entries(1 if relation == "add_remove" else min(2, self.cells), 1)

    def answers(self, values: Iterable[Any]) -> Counts:
        """Return the count of every cell."""
        return tally(range(self.cells), values)


@dataclass(frozen=True, slots=True)
class Thresholds(Points):
    """How many rows lie in the cells 0 ... t, for every t: a cumulative histogram."""

    def sensitivity(self, relation: Relation) -> Sensitivity:
        """Return all answers: a row in cell 0 counts in each, one that left its cell for none, too."""
        check_relation(relation)
        return Sensitivity.entries(self.cells, 1)

    def answers(self, values: Iterable[Any]) -> Counts:
        """Return the count up to every cell."""
        return np.cumsum(tally(range(self.cells), values))


@dataclass(frozen=True, slots=True)
class Means(Workload):
    """How many rows have each of so many yes-or-no attributes: one-way marginals; divide by n for means."""

    columns: int

    @property
    def queries(self) -> int:
        """One for each attribute."""
        return self.columns

    def sensitivity(self, relation: Relation) -> Sensitivity:
        """Return all answers by 1, under both relations: from none to all attributes."""
        check_relation(relation)
        return Sensitivity.entries(self.columns, 1)

    def answers(self, values: Iterable[Any]) -> Counts:
        """Return the count of every attribute; null is no."""
        counts: Counts = yes(values, self.columns).sum(axis=0)
        return counts


@dataclass(frozen=True, slots=True)
class Conjunctions(Workload):
    """How many rows satisfy each conjunction of so many literals, attributes that are plain or negated.

    Without a number, all of them: 3^columns, since an attribute is asked for, asked against or left out.
    """

    columns: int
    literals: int | None = None

    @property
    def queries(self) -> int:
        """C(columns, literals) 2^literals, or 3^columns."""
        return sum(math.comb(self.columns, t) << t for t in self._sizes)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(range(self.columns + 1)) if self.literals is None else (self.literals,)

    def sensitivity(self, relation: Relation) -> Sensitivity:
        """Return one answer for each set of attributes, two for a row replaced by its opposite (one set is empty)."""
        sets = sum(math.comb(self.columns, t) for t in self._sizes)
        empty = 1 if 0 in self._sizes else 0
        return Sensitivity.entries(sets if relation == "add_remove" else 2 * (sets - empty), 1)

    def terms(self) -> Iterator[tuple[tuple[int, bool], ...]]:
        """Yield every conjunction, in the order of the answers, as attributes with the value asked for."""
        for t in self._sizes:
            for chosen in combinations(range(self.columns), t):
                for signs in product((False, True), repeat=t):
                    yield tuple(zip(chosen, signs, strict=True))

    def answers(self, values: Iterable[Any]) -> Counts:
        """Return the count of every conjunction; null is no."""
        table = yes(values, self.columns)
        found: list[NDArray[Any]] = []
        for t in self._sizes:
            powers = 1 << np.arange(t - 1, -1, -1, dtype=np.int64)
            sets = combinations(range(self.columns), t)
            found.extend(np.bincount(table[:, chosen] @ powers, minlength=1 << t) for chosen in sets)
        return np.concatenate(found).astype(np.int64)


@dataclass(frozen=True, slots=True)
class LinearQueries(Workload):
    """A matrix times the histogram over cells 0 ... columns - 1; entries are exact."""

    matrix: tuple[tuple[Fraction, ...], ...]

    @property
    def queries(self) -> int:
        """One for each row of the matrix."""
        return len(self.matrix)

    @property
    def unit(self) -> Fraction:
        """One over the common denominator."""
        return Fraction(1, math.lcm(*(entry.denominator for row in self.matrix for entry in row)))

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The matrix in whole steps."""
        return tuple(tuple(int(entry / self.unit) for entry in row) for row in self.matrix)

    def sensitivity(self, relation: Relation) -> Sensitivity:
        """Return the heaviest column, or the heaviest difference of two."""
        return of_matrix(self.steps, relation)

    def answers(self, values: Iterable[Any]) -> tuple[int, ...]:
        """Return the answers in steps."""
        counts = tally(range(len(self.matrix[0])), values).tolist()
        return tuple(sum(a * b for a, b in zip(row, counts, strict=True)) for row in self.steps)


def yes(values: Iterable[Any], columns: int) -> Counts:
    """Return a table of 0 and 1 from an array of shape (rows, columns) or a list of columns; null is 0."""
    out = []
    for array, present in tables(values, columns):
        steps, known = Grid(0, 1, Fraction(1)).place(array, present)
        column = np.zeros(len(array), dtype=np.int64)
        column[known] = steps
        out.append(column)
    return np.stack(out, axis=-1)


def points(cells: int) -> Points:
    """Ask how many rows lie in each cell."""
    return Points(whole("cells", cells))


def thresholds(cells: int) -> Thresholds:
    """Ask how many rows lie up to each cell."""
    return Thresholds(whole("cells", cells))


def means(columns: int) -> Means:
    """Ask how many rows have each attribute."""
    return Means(whole("columns", columns))


def conjunctions(columns: int, literals: int | None = None) -> Conjunctions:
    """Ask how many rows satisfy each conjunction of that many literals, or of any number."""
    if literals is not None and whole("literals", literals, least=0) > whole("columns", columns):
        why = f"there are only {columns} attributes"
        raise BadParameter("literals", literals, why=why, fix=f"use at most {columns}")
    return Conjunctions(whole("columns", columns), literals)


def linear(matrix: Iterable[Iterable[Written]]) -> LinearQueries:
    """Ask for a matrix times the histogram."""
    return LinearQueries(check_matrix(matrix))
