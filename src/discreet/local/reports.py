"""Reports: what clients send, packed one after another in bytes of equal length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """So many reports under one protocol: `data` holds them one after another, `spec_hash` says which protocol.

    Iterating gives each report as bytes; `bytes(reports)` is what goes over a wire; `a + b` puts batches together.
    """

    data: Bytes
    count: int
    spec_hash: str

    def __post_init__(self) -> None:
        flat = np.frombuffer(self.data, dtype=np.uint8) if isinstance(self.data, bytes | bytearray) else self.data
        flat = np.ascontiguousarray(flat, dtype=np.uint8).reshape(-1)
        if self.count < 0 or (len(flat) % self.count if self.count else len(flat)):
            why = f"{len(flat)} bytes are not {self.count} reports of equal length"
            raise BadParameter("count", self.count, why=why, fix="pass whole reports and how many they are")
        flat = flat.view()
        flat.flags.writeable = False
        object.__setattr__(self, "data", flat)

    def __len__(self) -> int:
        return self.count

    def __bytes__(self) -> bytes:
        return self.data.tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reports):
            return NotImplemented
        return (self.spec_hash, self.count, bytes(self)) == (other.spec_hash, other.count, bytes(other))

    def __hash__(self) -> int:
        return hash((self.spec_hash, self.count, bytes(self)))

    def __iter__(self) -> Iterator[bytes]:
        return (row.tobytes() for row in self.rows)

    def __add__(self, other: object) -> Reports:
        if not isinstance(other, Reports):
            return NotImplemented
        if other.spec_hash != self.spec_hash:
            why = "they were made under another protocol"
            raise BadParameter("reports", other.spec_hash, why=why, fix="aggregate each under its own protocol")
        return Reports(np.concatenate([self.data, other.data]), self.count + other.count, self.spec_hash)

    @property
    def rows(self) -> Bytes:
        """One report a row."""
        return self.data.reshape(self.count, -1) if self.count else self.data.reshape(0, 0)

    def batches(self, size: int) -> Iterator[Reports]:
        """Yield the reports in batches of at most that many."""
        rows = self.rows
        for start in range(0, self.count, max(1, size)):
            part = rows[start : start + size]
            yield Reports(part.reshape(-1), len(part), self.spec_hash)
