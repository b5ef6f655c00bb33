"""Where a collector keeps what it has counted: sketches by epoch, and which batches are in them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from hashlib import blake2b
from typing import Protocol

import numpy as np

from discreet.core.errors import Refusal
from discreet.local.sketch import Sketch

SECRET_BYTES = 32
_HASH_BYTES = 16
_LATE = 1.0  # seconds after which rejections are written by themselves


class BatchOutcome(Enum):
    """What became of a batch."""

    ADDED = "added"
    REPLAYED = "replayed"
    CLOSED = "closed"


class StoreUnavailable(Refusal):
    """A store that cannot be reached or written just now; nothing was counted, and the sender may try again."""


class OtherCollection(Refusal, ValueError):
    """A store that belongs to another collection."""


class SketchStore(Protocol):
    """A store of one collection's sketches.

    Guarantee: a batch is counted once or not at all, whatever is killed when: its key and its counts are stored in one
    transaction, which is on disk before `add` returns. No report, sender, time or key itself is stored: of a key there
    is a hash under a secret of the store, which is deleted with all of them when the collection is closed.
    """

    def add(self, epoch: int, key: bytes, sketch: Sketch) -> BatchOutcome:
        """Count a batch, unless its key was seen before or the epoch is closed."""

    def reject(self, reason: str, count: int = 1) -> None:
        """Count what was rejected; written along with the next batch, or within a second."""

    def sketch(self, epoch: int) -> Sketch:
        """Return what an epoch has counted so far."""

    def rejected(self) -> Mapping[str, int]:
        """Return how much was rejected for each reason."""

    def closed(self) -> frozenset[int]:
        """Return the epochs that take no more reports."""

    def close(self, epoch: int | None = None) -> None:
        """Take no more reports of an epoch, or of any; after the last, forget the hashes of all keys."""

    def disconnect(self) -> None:
        """Let go of the store."""


class Rejections:
    """Counts of rejections that wait to be written, so a flood of nonsense costs no write each."""

    __slots__ = ("_pending", "_waiting", "_written")

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()
        self._pending: Counter[str] = Counter()
        self._written = time.monotonic()

    def add(self, reason: str, count: int) -> bool:
        """Count, and say whether it is time to write."""
        self._waiting[reason] += count
        return time.monotonic() - self._written > _LATE

    def rows(self) -> list[tuple[str, int]]:
        """Return what is to be written now, in one order, so two writers never wait for each other."""
        self._pending = Counter(self._waiting)
        return sorted(self._pending.items())

    def over(self, *, written: bool) -> None:
        """Say how the transaction ended that may have written what `rows` returned."""
        if written and self._pending:
            self._waiting -= self._pending
            self._written = time.monotonic()
        self._pending = Counter()

    def __bool__(self) -> bool:
        return bool(self._waiting)


def key_hash(secret: bytes, key: bytes) -> bytes:
    """Return the hash of a sender's key under the store's secret."""
    return blake2b(key, key=secret, digest_size=_HASH_BYTES).digest()


def packed(sketch: Sketch) -> bytes:
    """Return the counts as little-endian 64-bit integers."""
    return sketch.counts.astype("<i8").tobytes()


def unpacked(spec_hash: str, counts: bytes, reports: int, rejected: int) -> Sketch:
    """Return the sketch that `packed` wrote."""
    return Sketch(spec_hash, np.frombuffer(counts, dtype="<i8").astype(np.int64), reports, rejected)


def empty(spec_hash: str, cells: int) -> Sketch:
    """Return a sketch of no reports."""
    return Sketch(spec_hash, np.zeros(cells, dtype=np.int64), 0)
