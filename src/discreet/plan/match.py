"""Matches: which columns of two tables may be equal, or compared, how many partners a row has, and what is taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from discreet.core.column import Column, check_name
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import replace

# A column of one, how it compares with a column of the other, and that one.
Comparison: TypeAlias = tuple[str, str, str]
COMPARISONS = ("<", "<=", ">", ">=", "!=")


def check_match(
    columns: Mapping[str, Column], theirs: Mapping[str, Column], table: str, on: Iterable[tuple[str, str]]
) -> None:
    """Refuse to match by columns that one side does not have, or that can never be equal."""
    for ours, other in on:
        if ours not in columns:
            raise UnknownName("column", ours, columns)
        if other not in theirs:
            raise UnknownName(f"column of {table}", other, theirs)
        if family(columns[ours]) != family(theirs[other]):
            why = f"a {columns[ours].kind} never equals the {theirs[other].kind} {other!r}"
            raise BadParameter("on", ours, why=why, fix="join by columns of the same kind")


def check_comparison(columns: Mapping[str, Column], theirs: Mapping[str, Column], compare: Comparison) -> None:
    """Refuse a comparison of columns that are not there, or that are not ordered alike."""
    ours, order, other = compare
    if order not in COMPARISONS:
        raise UnknownName("comparison", order, COMPARISONS)
    check_match(columns, theirs, "the other table", [(ours, other)])
    ordered = columns[ours].kind in ("number", "date")
    if columns[ours].kind == "flag" or not (ordered or order == "!="):
        why = f"a {columns[ours].kind} is not ordered alike on every engine"
        raise BadParameter("compare", ours, why=why, fix="compare numbers or days, or join by equal values")


def check_most(most: object) -> None:
    """Refuse a number of partners that is no positive integer."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        why = "partners are bounded by a positive integer"
        raise BadParameter("most", most, why=why, fix="use the most partners a row should have, for example most=3")


def family(column: Column) -> tuple[str, ...]:
    """Return what a column's values are: columns of one family may be equal."""
    if column.kind == "category":
        return ("text",) if isinstance((column.keys or ("",))[0], str) else ("category",)
    return (column.kind,)


def chosen_columns(pairs: Iterable[tuple[str, str]], columns: Mapping[str, Column]) -> list[tuple[str, Column]]:
    """Return columns under their new names."""
    found = []
    for new, old in pairs:
        check_name("name", new)
        if old not in columns:
            raise UnknownName("column", old, columns)
        found.append((new, columns[old].named(new)))
    if not found:
        raise BadParameter("columns", (), why="no column is left", fix="name at least one column to keep")
    return found


# What names begin with that are the plan's own.
RESERVED = "~"


def distinct(columns: Sequence[tuple[str, Column]]) -> dict[str, Column]:
    """Return the columns by name; engines fold the case of names, so case alone tells no two apart."""
    seen: dict[str, str] = {}
    for name, _ in columns:
        if name.startswith(RESERVED):
            why = f"names that begin with {RESERVED} are reserved"
            raise BadParameter("name", name, why=why, fix="choose another name")
        if name.lower() in seen:
            why = f"there is a column {seen[name.lower()]!r} already, and case alone does not tell names apart"
            raise BadParameter("name", name, why=why, fix="choose another name")
        seen[name.lower()] = name
    return dict(columns)


def united(one: dict[str, Column], other: dict[str, Column]) -> dict[str, Column]:
    """Return the columns of a union, or refuse sides that have other ones."""
    if set(one) != set(other):
        extra = sorted(set(one) ^ set(other))
        why = f"only one of the two has {', '.join(map(repr, extra))}"
        raise BadParameter("union", extra, why=why, fix="give both sides the same columns")
    return {name: hull(column, other[name]) for name, column in one.items()}


def hull(one: Column, other: Column) -> Column:
    """Return a column that holds the values of both."""
    nullable = one.nullable or other.nullable
    if one.kind != other.kind or one.step != other.step or family(one) != family(other):
        why = "its values are not the same things on both sides"
        raise BadParameter("union", one.name, why=why, fix="derive columns of the same kind and step on both sides")
    if one.keys is not None and other.keys is not None:
        keys = one.keys + tuple(key for key in other.keys if key not in one.keys)
        return replace(one, keys=keys, nullable=nullable)
    if one.bounds is not None and other.bounds is not None:
        bounds = min(one.bounds[0], other.bounds[0]), max(one.bounds[1], other.bounds[1])
        return replace(one, bounds=bounds, nullable=nullable)  # type: ignore[arg-type]
    return replace(one, nullable=nullable)
