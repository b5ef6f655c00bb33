"""Rows as they cross the border of a database: what is written, and sealed, has the types that are read back."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints

from discreet.core.value import fields
from discreet.ledger.refusals import Tampered

K = TypeVar("K")


def built(kind: type[K], found: tuple[Any, ...]) -> K:
    """Make a row, an entry or a head of what a database returned.

    Guarantee: every field is of its declared type; what is not is no ledger's work, and refused.
    """
    for value, allowed in zip(found, _types(cast("Any", kind)), strict=True):
        if type(value) not in allowed:
            what = f"what is stored as {kind.__name__.lower()}"
            raise Tampered(what, why="a field has another type than a ledger writes")
    return kind(*found)


def as_stored(row: K) -> K:
    """Return a row as it will be read back: its values of the declared types exactly, such as 1.0 for 1."""
    kind: Any = type(row)
    values = [(getattr(row, field.name), types) for field, types in zip(fields(kind), _types(kind), strict=True)]
    if all(type(value) in allowed for value, allowed in values):
        return row
    return cast("K", kind(*(_plain(value, allowed[0]) for value, allowed in values)))


def _plain(value: object, plain: type) -> object:
    related = isinstance(value, plain) or (plain is float and isinstance(value, int))
    return plain(value) if related else value


@cache
def _types(kind: Any) -> tuple[tuple[type, ...], ...]:  # noqa: ANN401  (any dataclass)
    """Return the types that each field may have, the one that is not None first."""
    hints = get_type_hints(kind)
    return tuple(get_args(hints[field.name]) or (hints[field.name],) for field in fields(kind))
