"""Units: who is protected, and which two tables count as neighbours."""

from __future__ import annotations

from typing import Any, Literal

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.link import Link
from discreet.core.value import dataclass, fields

Relation = Literal["add_remove", "replace"]
Bound = Literal["query", "table"]

# What limits a person's rows, by the words of declarations in Python, policies and on the command line.
LIMITS = ("max_rows", "max_groups", "max_rows_per_group", "relation", "bound")


def check_relation(value: object) -> Relation:
    """Return the neighbour relation, or refuse whatever is not one."""
    match value:
        case "add_remove" | "replace":
            return value
    raise BadParameter(
        "relation",
        value,
        why="neighbouring tables differ by one unit added or removed, or by one unit replaced; there is no third way",
        fix="use 'add_remove' (how many there are is secret) or 'replace' (how many there are is public)",
    )


def check_bound(value: object) -> Bound:
    """Return the place where contributions are bounded, or refuse whatever is not one."""
    match value:
        case "query" | "table":
            return value
    raise BadParameter(
        "bound",
        value,
        why="rows of a person are dropped in each query or once for the whole table",
        fix="use 'query' (the least is dropped) or 'table' (the same rows are kept everywhere)",
    )


@dataclass(frozen=True, slots=True)
class Unit:
    """What one neighbour step changes: one row, or all rows of one person.

    A row unit has no identifier. A person unit names the column that identifies people, or the link (`via`) to a table
    that does, and bounds how many rows (`max_rows`) and how many groups of one question (`max_groups`, by default as
    many as rows) a person may touch. `max_rows_per_group`, if there is one, bounds what a person counts for in each
    group of a count or a sum. `bound` says where surplus rows are dropped: in every query, or once a table.

    Guarantee: none by itself; every loss and every sensitivity is stated for one unit and its relation.
    """

    identifier: str | None
    max_rows: int
    max_groups: int
    relation: Relation = "add_remove"
    bound: Bound = "query"
    via: Link | None = None
    max_rows_per_group: int | None = None

    def __post_init__(self) -> None:
        _check_identifier(self.identifier)
        _check_via(self.identifier, self.via)
        _check_count("max_rows", self.max_rows)
        _check_count("max_groups", self.max_groups)
        if self.max_groups > self.max_rows:
            raise BadParameter(
                "max_groups",
                self.max_groups,
                why=f"{self.max_rows} rows fall into at most {self.max_rows} groups",
                fix=f"use at most max_rows={self.max_rows}, or leave it out",
            )
        check_relation(self.relation)
        check_bound(self.bound)
        if self.max_rows_per_group is not None:
            _check_cap(self)
        if self.is_row and (self.max_rows, self.bound) != (1, "query"):
            raise BadParameter(
                "max_rows" if self.max_rows != 1 else "bound",
                self.max_rows if self.max_rows != 1 else self.bound,
                why="a row unit protects single rows, so there is nothing to bound",
                fix="use row(), or person(identifier, ...) to protect all rows of one person",
            )

    @property
    def is_row(self) -> bool:
        """Whether single rows are protected, rather than people."""
        return self.identifier is None and self.via is None

    @property
    def whom(self) -> str | None:
        """What tells people apart: the identifier, or a link in words; None where single rows are protected."""
        return self.identifier if self.via is None else self.via.words

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values; a link and a cap by group only where there are such."""
        found = {name: getattr(self, name) for name in _FIELDS}
        if self.via is not None:
            found["via"] = self.via.record()
        if self.max_rows_per_group is not None:
            found["max_rows_per_group"] = self.max_rows_per_group
        return found

    @classmethod
    def from_record(cls, record: object) -> Unit:
        """Read what `record` returned, checking it again."""
        more = [name for name in _OPTIONAL if isinstance(record, dict) and name in record]
        found = records.fields("unit", record, (*_FIELDS, *more))
        return cls(**{**found, "via": Link.from_record(found["via"])} if "via" in more else found)

    def to_json(self) -> str:
        """Write the unit as versioned JSON."""
        return records.write("unit", self.record())

    @classmethod
    def from_json(cls, text: str) -> Unit:
        """Read what `to_json` wrote."""
        return cls.from_record(records.read("unit", text))


# Fields that are written only where they are not None.
_OPTIONAL = ("via", "max_rows_per_group")
_FIELDS = tuple(field.name for field in fields(Unit) if field.name not in _OPTIONAL)


def row(*, relation: Relation = "add_remove") -> Unit:
    """Protect single rows: right only where no person has more than one row."""
    return Unit(identifier=None, max_rows=1, max_groups=1, relation=relation)


def person(
    identifier: str | None = None,
    *,
    max_rows: int,
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    relation: Relation = "add_remove",
    bound: Bound = "query",
    via: Link | None = None,
) -> Unit:
    """Protect all rows that share a value of the column `identifier`, of which at most `max_rows` are used.

    In the groups of a question with `group_by` a person counts for at most `max_rows_per_group` rows each, and so for
    at most `max_groups` times as many in all.

    `via=link("l_orderkey", "orders", "o_orderkey")`, in its place, gives a row to the person of the row it refers to.
    """
    if identifier is None and via is None:
        why = "a person is told by the values of a column, or by a link to a table that tells"
        fix = "use person('patient_id', max_rows=20), or person(via=link('l_orderkey', 'orders', 'o_orderkey'), ...)"
        raise BadParameter("identifier", None, why=why, fix=fix)
    groups = max_rows if max_groups is None else max_groups
    return Unit(identifier, max_rows, groups, relation, bound, via, max_rows_per_group)


def _check_identifier(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not value.strip():
        raise BadParameter(
            "identifier",
            value,
            why="a person is identified by the values of one column",
            fix="name that column, for example person('patient_id', max_rows=20), or use row()",
        )


def _check_via(identifier: str | None, via: object) -> None:
    if via is None:
        return
    if not isinstance(via, Link):
        why = "a table is linked to one other, so that each of its rows has one person"
        raise BadParameter("via", via, why=why, fix="use via=link('l_orderkey', 'orders', 'o_orderkey')")
    if identifier is not None:
        why = f"the identifier {identifier!r} says already whose a row is"
        raise BadParameter("via", via.words, why=why, fix="leave out the identifier or the link")


def _check_cap(unit: Unit) -> None:
    _check_count("max_rows_per_group", unit.max_rows_per_group)
    assert unit.max_rows_per_group is not None
    why, fix = "", "leave it out"
    if unit.is_row:
        why = "a row unit protects single rows, so there is nothing to bound"
        fix = "use row(), or person(identifier, ...) to protect all rows of one person"
    elif unit.bound == "table":
        why = "groups belong to a question, and the rows of a person are bounded once, for the whole table"
        fix = "use bound='query', or leave it out"
    elif unit.max_rows_per_group > unit.max_rows:
        why = f"a person counts for at most {unit.max_rows} rows in all groups together"
        fix = f"use at most max_rows={unit.max_rows}, or leave it out"
    if why:
        raise BadParameter("max_rows_per_group", unit.max_rows_per_group, why=why, fix=fix)


def _check_count(name: str, value: object) -> None:
    # bool is a subclass of int, but person(max_rows=True) is a mistake, not a count of one.
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadParameter(
            name,
            value,
            why="a contribution is bounded by a positive integer",
            fix="use the most that one person should count for, for example 20",
        )
