"""Statements: the SQL of what every store does with its rows, written once for all databases."""

from __future__ import annotations

from functools import cache

from discreet.core.value import fields
from discreet.ledger.store import Row

ENTRY = '"sequence", "kind", "body", "previous", "hash"'


@cache
def columns(kind: type[Row]) -> tuple[str, ...]:
    """Return the names of a kind's columns, in the order of its fields."""
    return tuple(field.name for field in fields(kind))


@cache
def statement(name: str, kind: type[Row], mark: str, prefix: str = "") -> str:
    """Write one action on one kind of row; names come from the classes of `store`, never from a caller.

    `mark` is what the driver puts values for, `prefix` what stands before the names of tables.
    """
    named = [f'"{field}"' for field in columns(kind)]
    key = [f'"{field}"' for field in kind.KEY]
    all_, keys, table = ", ".join(named), ", ".join(key), prefix + kind.TABLE
    places = ", ".join([mark] * len(named))
    chosen = " AND ".join(f"{each} = {mark}" for each in key)
    changed = ", ".join(f"{each} = excluded.{each}" for each in named if each not in key)
    after = ", ".join([mark] * len(key))
    return {
        "get": f"SELECT {all_} FROM {table} WHERE {chosen}",  # noqa: S608
        "put": f"INSERT INTO {table} ({all_}) VALUES ({places}) ON CONFLICT ({keys}) DO UPDATE SET {changed}",  # noqa: S608
        "copy": f"COPY {table} ({all_}) FROM STDIN",
        "delete": f"DELETE FROM {table} WHERE {chosen}",  # noqa: S608
        "all": f"SELECT {all_} FROM {table} ORDER BY {keys}",  # noqa: S608
        "first": f"SELECT {all_} FROM {table} ORDER BY {keys} LIMIT {mark}",  # noqa: S608
        "next": f"SELECT {all_} FROM {table} WHERE ({keys}) > ({after}) ORDER BY {keys} LIMIT {mark}",  # noqa: S608
        "seals": f"""SELECT {all_} FROM {table} WHERE "kind" = {mark} ORDER BY {keys}""",  # noqa: S608
        "limits": f"""SELECT {all_} FROM {table} WHERE "account" = {mark} AND "analyst" IN ('', {mark}) ORDER BY {keys}""",  # noqa: S608, E501
    }[name]


@cache
def entry_statement(name: str, mark: str, prefix: str = "") -> str:
    """Write one action on the entries."""
    table = f"{prefix}entries"
    return {
        "head": f'SELECT "sequence", "hash" FROM {table} ORDER BY "sequence" DESC LIMIT 1',  # noqa: S608
        "append": f"INSERT INTO {table} ({ENTRY}) VALUES ({', '.join([mark] * 5)})",  # noqa: S608
        "entry": f'SELECT {ENTRY} FROM {table} WHERE "sequence" = {mark}',  # noqa: S608
        "entries": f'SELECT {ENTRY} FROM {table} WHERE "sequence" > {mark} ORDER BY "sequence" LIMIT {mark}',  # noqa: S608
    }[name]
