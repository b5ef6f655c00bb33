"""Entries: what the ledger appends, chained by hashes; and rows as they cross the border of a database."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar, cast, get_args, get_type_hints

from discreet.core.value import dataclass, fields
from discreet.ledger.refusals import Tampered

# What the first entry of every vault follows.
GENESIS = "0" * 64


def canonical(record: object) -> str:
    """Write plain JSON values in the one way that is hashed: sorted keys, no spaces, no NaN."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(*fields: str) -> str:
    """Return the SHA-256 of several texts, each preceded by its length, so no two lists of texts agree."""
    found = sha256()
    for field in fields:
        content = field.encode()
        found.update(len(content).to_bytes(8, "big"))
        found.update(content)
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: its number, what kind of thing happened, what exactly, and the seal.

    `body` is canonical JSON; `hash` is the SHA-256 of (previous, sequence, kind, body), each with its length.
    """

    sequence: int
    kind: str
    body: str
    previous: str
    hash: str

    @classmethod
    def after(cls, sequence: int, previous: str, kind: str, body: str) -> Entry:
        """Return the entry that follows number `sequence`, whose hash is `previous`."""
        return cls(sequence + 1, kind, body, previous, digest(previous, str(sequence + 1), kind, body))

    @property
    def sealed(self) -> bool:
        """Whether the hash is that of the other fields."""
        return self.hash == digest(self.previous, str(self.sequence), self.kind, self.body)

    def record(self) -> dict[str, Any]:
        """Return the body as plain JSON values."""
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the number and the hash of its last entry."""

    sequence: int = 0
    hash: str = GENESIS


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
