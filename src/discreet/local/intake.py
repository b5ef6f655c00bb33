"""Intake: whatever reaches a server, sorted into rows of the right length and a count of what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from discreet.local.reports import Bytes, Reports


def batches(
    reports: Reports | bytes | Iterable[bytes | Reports], size: int, spec_hash: str
) -> Iterator[tuple[Bytes, int]]:
    """Yield rows of the right length and how many were lost to a wrong one, batch by batch."""
    if isinstance(reports, Reports):
        yield _rows(reports, size, spec_hash)
    elif isinstance(reports, bytes | bytearray | memoryview):
        data = bytes(reports)
        wrong = len(data) % size
        # Where whole reports end in bytes of a wrong length nobody knows: all of them are lost.
        yield (_empty(size), -(-len(data) // size)) if wrong else (_matrix(data, size), 0)
    else:
        single: list[bytes] = []
        for one in reports:
            if isinstance(one, Reports):
                yield _rows(one, size, spec_hash)
            elif isinstance(one, bytes) and len(one) == size:
                single.append(one)
            else:
                yield _empty(size), 1
        yield _matrix(b"".join(single), size), 0


def _rows(reports: Reports, size: int, spec_hash: str) -> tuple[Bytes, int]:
    rows = reports.rows
    fits = reports.spec_hash == spec_hash and (rows.shape[1] == size or not len(rows))
    return (rows, 0) if fits and len(rows) else (_empty(size), len(reports) if not fits else 0)


def _matrix(data: bytes, size: int) -> Bytes:
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, size)


def _empty(size: int) -> Bytes:
    return np.zeros((0, size), dtype=np.uint8)
