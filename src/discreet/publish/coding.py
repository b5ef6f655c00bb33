"""Coding: declared columns as whole-number codes and back: keys, flags, bins of numbers and dates, and one for null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.keys import Key, bins, declared, shown
from discreet.plan.value_codes import in_steps, keyed
from discreet.publish.code_table import Coded
from discreet.publish.domain import Domain
from discreet.publish.named_values import cuts_of, places_of, steps_of
from discreet.publish.zeros import Zero, zeros_of

if TYPE_CHECKING:
    from discreet.publish.sample import Codes, SampledColumn

DEFAULT_BINS = 32
# A bin is found by comparisons in the engine; beyond this the question's text would take longer than its rows.
MOST_BINS = 1024
_VERSION = 1


@dataclass(frozen=True, slots=True)
class ColumnCode:
    """The codes of one column: 0, 1, ... for its keys or bins, and the last for null where the column may be null.

    `edges` are the first steps of all bins but the first, for numbers and dates.
    """

    column: Column
    edges: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name or ""

    @property
    def values(self) -> int:
        """How many codes stand for values."""
        return len(self.edges) + 1 if self.edges is not None else len(declared(self.column) or ())

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.values + self.column.nullable

    @property
    def null(self) -> int | None:
        """The code of null, where there is one."""
        return self.values if self.column.nullable else None

    @property
    def key(self) -> Key:
        """The column as a key that an engine groups by; its place is the code."""
        if self.edges is not None:
            return bins(self.name, self.column, self.edges)
        return Key(self.name, self.column, declared(self.column))

    def bin(self, code: int) -> tuple[int, int]:
        """Return the first and the last step of a bin."""
        low, high = self.column.steps
        starts = (low, *(self.edges or ()), high + 1)
        return starts[code], starts[code + 1] - 1

    def label(self, code: int) -> str:
        """Return a code as people read it: a key, a boolean, the ends of a bin, or null."""
        if code == self.null:
            return "null"
        if self.edges is None:
            return str(shown(self.column, (declared(self.column) or ())[code]))
        first, last = (shown(self.column, step) for step in self.bin(code))
        return str(first) if first == last else f"{first} to {last}"

    def codes(self, wanted: object) -> list[int]:
        """Return the codes of values: one, several, or a range of numbers; a bin that is wanted in part is refused."""
        places, nulls = places_of(self.column, wanted)
        if self.edges is None:
            listed = declared(self.column) or ()
            found = [listed.index(value) for value in places]
        else:
            steps = steps_of(self.column, wanted)
            found = [code for code in range(self.values) if self._is_wanted(code, steps, wanted)]
        if nulls and self.null is None:
            raise BadParameter(self.name, None, why="the column was declared without nulls", fix="leave None out")
        return [*found, *([self.null] if nulls and self.null is not None else [])]

    def drawn(self, codes: Codes) -> SampledColumn:
        """Return values for codes; within a bin each of its steps is as likely as any other."""
        from discreet.publish.sample import decoded

        starts = None if self.edges is None else [self.bin(code)[0] for code in range(self.values)]
        return decoded(self.column, starts, codes)

    def encoded(self, values: object) -> NDArray[np.int64]:
        """Return the codes of values, which are read as an engine would; -1 where there is none."""
        return _encoded(self.column, self.edges, values)

    def _is_wanted(self, code: int, steps: Sequence[tuple[int, int]], wanted: object) -> bool:
        first, last = self.bin(code)
        inside = sum(max(0, min(last, high) - max(first, low) + 1) for low, high in steps)
        if 0 < inside <= last - first:
            ends = " to ".join(str(shown(self.column, step)) for step in (first, last))
            fix = "name whole bins, or synthesize with more of them: bins="
            raise BadParameter(self.name, wanted, why=f"it takes a part of the bin from {ends}", fix=fix)
        return inside > 0


@dataclass(frozen=True, slots=True)
class Coding:
    """The codes of a table's columns, in order, and what was left out, in words."""

    codes: tuple[ColumnCode, ...]
    left_out: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Column],
        *,
        bins: int = DEFAULT_BINS,
        only: Iterable[str] | None = None,
        zeros: Iterable[Mapping[str, object]] = (),
    ) -> Coding:
        """Code declared columns; numbers and dates in at most `bins` runs of equally many steps.

        Free text has no codes: it is left out, or refused where `only` names it. Where `zeros` take a part of a bin,
        the bin is cut there.
        """
        many, named = _checked(bins), None if only is None else tuple(only)
        if isinstance(only, str):
            raise BadParameter("columns", only, why="it is a list of names", fix=f"write [{only!r}]")
        for name in (*(named or ()), *(each for zero in zeros for each in zero)):
            if name not in columns:
                raise UnknownName("column", str(name), columns)
        found, words = [], []
        for name in columns if named is None else named:
            column = columns[name].named(name)
            if column.kind != "text":
                cuts = [cut for zero in zeros if name in zero for cut in cuts_of(column, zero[name])]
                found.append(_code(column, many, cuts))
            elif named is not None:
                why = "it is free text, whose values nobody declared"
                raise BadParameter("columns", name, why=why, fix="declare it with one_of, or leave it out")
            else:
                words.append(f"{name} is left out: it is free text, whose values nobody declared")
        if not found:
            why = "no column has declared values"
            raise BadParameter("columns", [*columns], why=why, fix="declare one with one_of, between, date or flag")
        return cls(tuple(found), tuple(words))

    def __getitem__(self, name: str) -> ColumnCode:
        for code in self.codes:
            if code.name == name:
                return code
        raise UnknownName("column", str(name), [code.name for code in self.codes])

    @property
    def domain(self) -> Domain:
        """The domain of the codes."""
        return Domain(tuple(code.name for code in self.codes), tuple(code.size for code in self.codes))

    def coded(self, columns: Mapping[str, object]) -> Coded:
        """Return a table of values as codes, for those who may see it.

        Guarantee: no value makes anything here fail: what its column cannot hold counts as null.
        """
        for code in self.codes:
            if code.name not in columns:
                raise UnknownName("column", code.name, columns)
        found = {code.name: code.encoded(columns[code.name]) for code in self.codes}
        return Coded.of(found, self.domain)

    def zeros(self, zeros: Iterable[Mapping[str, object]]) -> tuple[Zero, ...]:
        """Return combinations of values that no row can have, as combinations of codes."""
        return zeros_of(
            self.domain, [{name: self[name].codes(wanted) for name, wanted in zero.items()} for zero in zeros]
        )

    def record(self) -> dict[str, Any]:
        """Return the coding as plain JSON values."""
        return {
            "version": _VERSION,
            "columns": [code.column.record() for code in self.codes],
            "edges": [None if code.edges is None else [*code.edges] for code in self.codes],
        }

    @classmethod
    def from_record(cls, record: object) -> Coding:
        """Read what `record` returned, checking it again."""
        found = records.fields("coding", record, ("version", "columns", "edges"))
        if found["version"] != _VERSION:
            why, fix = f"this release reads version {_VERSION}", "read it with the release that wrote it"
            raise BadParameter("version", found["version"], why=why, fix=fix)
        pairs = zip(map(Column.from_record, found["columns"]), found["edges"], strict=True)
        codes = [ColumnCode(column, None if edges is None else tuple(map(int, edges))) for column, edges in pairs]
        for code in codes:
            if (code.edges is None) == (code.column.kind in ("number", "date")) or not _rises(code):
                raise ValueError("edges do not fit their column")
        return cls(tuple(codes))


def _code(column: Column, many: int, cuts: Iterable[int]) -> ColumnCode:
    if column.kind not in ("number", "date"):
        return ColumnCode(column)
    low, high = column.steps
    width = -(-(high - low + 1) // many)
    edges = {*range(low + width, high + 1, width), *(cut for cut in cuts if low < cut <= high)}
    return ColumnCode(column, tuple(sorted(edges)))


def _rises(code: ColumnCode) -> bool:
    if code.edges is None:
        return True
    low, high = code.column.steps
    return all(one < other for one, other in pairwise((low, *code.edges, high + 1)))


def _checked(many: int) -> int:
    if whole("bins", many) > MOST_BINS:
        why = f"{MOST_BINS:,} bins are the most; each of them gets noise of its own"
        raise BadParameter("bins", many, why=why, fix="use 32, or a few more")
    return many


def _encoded(column: Column, edges: tuple[int, ...] | None, values: object) -> NDArray[np.int64]:
    """Return the code of each value: clamped and rounded to the column's step, as engines do; nulls have the last.

    What the column cannot hold counts as null, and null has no code (-1) where the column was declared without.
    """
    if edges is None:
        return keyed(column, values, len(declared(column) or ()) if column.nullable else -1)
    steps = in_steps(column, values)
    low, high = column.steps
    there = ~np.isnan(steps)
    clamped = np.clip(np.floor(np.where(there, steps, low) + 0.5), low, high)
    found = np.searchsorted(np.array(edges, np.float64), clamped, side="right")
    return np.where(there, found, len(edges) + 1 if column.nullable else -1).astype(np.int64)
