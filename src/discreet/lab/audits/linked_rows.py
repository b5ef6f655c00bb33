"""Linked rows: made-up rows of tables that refer to each other, in which every key occurs once and leads to its person.

Whose a row is stands beside it until keys are made: the n-th row of a table has the n-th key, and rows that refer to
the table get the keys of their own person's rows. Rows of other people come first in both of two neighbours, and so
have the same keys in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.lab.audits.made_up_rows import OWNER, Cell, Row, written_step

_REFERRED = 2  # rows that a person has in a table that is referred to, where the question itself asks for none


def in_order(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Return the tables, each after the one that its link refers to."""
    found: dict[str, Table] = {}

    def put(table: Table) -> None:
        via = table.unit.via
        if via is not None and via.table in tables and via.table not in found:
            put(tables[via.table])
        found.setdefault(table.name, table)

    for each in tables.values():
        put(each)
    return found


def reached(names: Iterable[str], tables: Mapping[str, Table]) -> set[str]:
    """Return the names of tables, and of those that their links lead to."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in tables and name not in found:
            found.add(name)
            via = tables[name].unit.via
            waiting += [] if via is None else [via.table]
    return found


def referred_keys(tables: Iterable[Table]) -> dict[str, tuple[str, ...]]:
    """Return, by the name of a table, its columns that links refer to."""
    links = [each.unit.via for each in tables if each.unit.via is not None]
    return {link.table: tuple(dict.fromkeys(o.key for o in links if o.table == link.table)) for link in links}


def tied(tables: Mapping[str, Table], rows: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
    """Return the rows of all tables with keys in them; `tables` come in the order of `in_order`.

    A row that belongs to nobody refers to nothing.
    """
    keys = referred_keys(tables.values())
    if not keys:
        return {name: list(found) for name, found in rows.items()}
    own: dict[tuple[str, str], dict[Cell, list[Row]]] = {}
    made: dict[str, list[Row]] = {}
    people = list(dict.fromkeys(owner(tables[name], row) for name, found in rows.items() for row in found))
    for name, table in tables.items():
        found = list(rows.get(name, ()))
        if name not in rows:
            found = [_of(table, who) for who in people if who is not None for _ in range(_REFERRED)]
        via, times, made[name] = table.unit.via, dict[Cell, int](), []
        for place, row in enumerate(found):
            who = owner(table, row)
            numbered = {**row, **{key: _key(table, key, place) for key in keys.get(name, ())}}
            if via is not None:
                theirs = own[via.table, via.key].get(who, []) if who is not None else []
                turn = times[who] = times.get(who, -1) + 1
                numbered[via.column] = theirs[turn % len(theirs)][via.key] if theirs else None
            made[name].append(numbered)
            for key in keys.get(name, ()):
                own.setdefault((name, key), {}).setdefault(who, []).append(numbered)
        for key in keys.get(name, ()):
            own.setdefault((name, key), {})
    return made


def owner(table: Table, row: Row) -> Cell:
    """Return whose a made-up row is, by its identifier or by what stands beside it."""
    return row.get(table.unit.identifier or OWNER)


def _of(table: Table, who: Cell) -> Row:
    return {table.unit.identifier or OWNER: who}


def _key(table: Table, name: str, place: int) -> str:
    """Return a key that no other row of a table has, which can be read as what its column was declared to be."""
    column = {each.name: each for each in table.columns}.get(name)
    if column is None or column.kind == "text":
        return f"key {place}"
    low, high = column.steps if column.kind in ("number", "date") else (0, -1)
    if low + place > high:
        why = f"{name!r} of {table.name!r} is referred to, and has too few declared values for made-up rows"
        raise BadParameter("tables", name, why=why, fix="declare it with wider bounds, as text, or not at all")
    return written_step(column, low + place)
