"""Reports on the wire: integers in as few bytes as the largest of them needs, least significant first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.reports import Bytes


def width(outcomes: int) -> int:
    """Return how many bytes tell so many outcomes apart."""
    return max(1, -(-(outcomes - 1).bit_length() // 8))


def narrow_rows(numbers: NDArray[Any], size: int) -> Bytes:
    """Return each number as a row of that many bytes."""
    if size == 1:
        return numbers.astype(np.uint8, copy=False).reshape(-1, 1)
    kind = np.dtype("<u2" if size == 2 else "<u4" if size <= 4 else "<u8")
    wide = np.ascontiguousarray(numbers, dtype=kind).view(np.uint8).reshape(-1, kind.itemsize)
    if size == kind.itemsize:
        return wide
    rows = np.empty((len(wide), size), dtype=np.uint8)
    for place in range(size):  # by columns: copying rows of three bytes takes ten times as long
        rows[:, place] = wide[:, place]
    return rows


def read_rows(rows: Bytes) -> NDArray[np.int64]:
    """Return the number in each row of at most seven bytes."""
    size = rows.shape[1]
    if size == 1:
        return rows[:, 0].astype(np.int64)
    if size == 2:
        return np.ascontiguousarray(rows).view("<u2")[:, 0].astype(np.int64)
    padded = np.zeros((len(rows), 8), dtype=np.uint8)
    for place in range(size):
        padded[:, place] = rows[:, place]
    return padded.view("<i8")[:, 0]


def count_rows(rows: Bytes, cells: int) -> tuple[NDArray[np.int64], int]:
    """Return how often each number below `cells` stands in a row, and how many rows hold a larger one."""
    numbers = read_rows(rows)
    good = numbers < cells
    lost = len(numbers) - int(np.count_nonzero(good))
    return np.bincount(numbers[good] if lost else numbers, minlength=cells), lost


def count_bits(rows: Bytes) -> NDArray[np.int64]:
    """Return in how many rows each bit is set, the least significant bit of the first byte first.

    Three rows are added into a row of sums and one of carries, for all bits at once, until few rows are left.
    """
    total = np.zeros(8 * rows.shape[1], dtype=np.int64)
    weight, level = 1, [rows]
    while level:
        carries: list[Bytes] = []
        for block in level:
            pending = block
            while len(pending) >= _FEW:
                third = len(pending) // 3
                total += weight * _unpacked(pending[3 * third :])
                sums, carry = _added(pending[:third], pending[third : 2 * third], pending[2 * third : 3 * third])
                carries.append(carry)
                pending = sums
            total += weight * _unpacked(pending)
        weight, level = 2 * weight, [np.concatenate(carries)] if carries else []
    return total


_FEW = 1024


def _added(first: Bytes, second: Bytes, third: Bytes) -> tuple[Bytes, Bytes]:
    """Return sum and carry of three rows of bits."""
    differ = first ^ second
    carry = first & second
    carry |= differ & third
    differ ^= third
    return differ, carry


def _unpacked(rows: Bytes) -> NDArray[np.int64]:
    return np.asarray(np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0, dtype=np.int64))
