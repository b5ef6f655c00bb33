"""Entries: what the ledger appends, each chained to the one before it by a hash."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from discreet.core.value import dataclass

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
