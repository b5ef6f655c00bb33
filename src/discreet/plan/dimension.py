"""Dimensions: public tables of any size that a vault registers, joined where their rows lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass
from discreet.plan.match import check_most
from discreet.plan.nodes import Join, MarkJoin, PersonJoin, Plan, Public, Scan, Union

# Columns, and the most rows that share their values.
Reuse = tuple[tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class Dimension(Public):
    """A registered public table, as a question knows it: no rows, but how many of them may share values of columns.

    `reuses` are declared by the custodian: columns, and the most rows that have the same values there. Those of a key
    are 1. `version` counts the refreshes of the source, so that a question is about one state of it.

    Guarantee: where it is matched by columns, no row meets more partners than `fan_out` says, whatever the source
    holds: the engine leaves values out that more rows share. That is a rule about public rows alone, and it bounds the
    partners before any private row is joined.
    """

    reuses: tuple[Reuse, ...] = ()
    version: int = 1

    def __post_init__(self) -> None:
        Public.__post_init__(self)
        if self.rows:
            raise BadParameter("rows", len(self.rows), why="its rows lie in its source", fix="leave them out")
        if type(self.version) is not int or self.version < 1:
            raise BadParameter("version", self.version, why="versions count from 1", fix="leave it out")
        if not self.reuses:
            why = "without a key nothing bounds how many of its rows a private row meets"
            fix = "declare its key, the columns that no two rows share, or of some columns how many rows share a value"
            raise BadParameter("key", None, why=why, fix=fix)
        for columns, most in self.reuses:
            check_most(most)
            if most is None or not columns or len({*columns}) < len(columns):
                why = "a key is one or more columns, each once, and a fan-out a number of rows"
                raise BadParameter("key", columns, why=why, fix='write key="partkey", or fan_out={"partkey": 4}')
            for name in columns:
                if name not in self.names:
                    raise UnknownName(f"column of {self.name}", name, self.names)

    def fan_out(self, on: Iterable[str]) -> int:
        """Return the most rows that share their values of these columns, by what was declared."""
        matched = frozenset(on)
        found = [most for columns, most in self.reuses if matched.issuperset(columns)]
        if not found:
            self._unbounded(sorted(matched))
        return min(found)

    def capped(self, on: Iterable[str], most: int) -> Public:
        """Return the table itself, which has its declared fan-out; fewer partners would have to be chosen by a rule."""
        check_most(most)
        if (found := self.fan_out(on)) > most:
            why = f"{self.name} is registered with up to {found:,} rows for each of these values"
            raise BadParameter("most", most, why=why, fix="leave it out: people are bounded after the join")
        return self

    def check_matched(self, on: Iterable[str]) -> None:
        """Refuse to match by columns of which no fan-out was declared."""
        self.fan_out(on)

    def check_listed(self) -> None:
        """Refuse to take keys from rows that lie in a source."""
        why = f"{self.name} is registered, and its rows are not in the question"
        fix = 'join it and group by its column, or list the keys: keys={"ward": ["A", "B"]}'
        raise BadParameter("keys", self.name, why=why, fix=fix)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "name": self.name,
            "columns": [column.record() for column in self.columns],
            "reuses": [[list(columns), most] for columns, most in self.reuses],
            "version": self.version,
        }

    @classmethod
    def from_record(cls, record: object) -> Dimension:
        """Read what `record` returned, checking it again."""
        found = records.fields("dimension", record, ("name", "columns", "reuses", "version"))
        columns, reuses = found["columns"], found["reuses"]
        if not isinstance(columns, list) or not isinstance(reuses, list) or not all(map(_is_reuse, reuses)):
            why, fix = "it is not a public table of this release", "pass the record that was written, unchanged"
            raise BadParameter("dimension", found["name"], why=why, fix=fix)
        made = tuple(Column.from_record(column) for column in columns)
        return cls(found["name"], made, (), tuple((tuple(names), most) for names, most in reuses), found["version"])

    def _unbounded(self, on: list[str]) -> NoReturn:
        declared = [" and ".join(columns) for columns, _ in self.reuses]
        why = f"of {self.name} it was not declared how many rows share a value of {', '.join(on) or 'nothing'}"
        keys = " or ".join(declared)
        fix = f"match it by {keys}, or have the custodian declare the fan-out of {', '.join(on) or 'these columns'}"
        raise BadParameter("on", on, why=why, fix=fix)


def _is_reuse(record: object) -> bool:
    return (
        isinstance(record, list)
        and len(record) == 2
        and isinstance(record[0], list)
        and all(isinstance(name, str) for name in record[0])
        and type(record[1]) is int
    )


def dimensions_of(plan: Plan) -> dict[str, Dimension]:
    """Return the registered public tables of a plan by their names; one that is read in two states is refused."""
    found: dict[str, Dimension] = {}
    for each in _dimensions(plan):
        if found.setdefault(each.name, each) != each:
            why = "the question reads it in two states"
            raise BadParameter("join", each.name, why=why, fix="write the question again, with the table as it is now")
    return found


def _dimensions(plan: Plan) -> Iterator[Dimension]:
    match plan:
        case Scan():
            return
        case Union(one, other) | PersonJoin(one, other) | MarkJoin(one, other):
            yield from _dimensions(one)
            yield from _dimensions(other)
        case Join(source, joined):
            yield from _dimensions(source)
            if isinstance(joined, Dimension):
                yield joined
        case _:
            yield from _dimensions(plan.source)
