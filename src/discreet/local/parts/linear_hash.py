"""Linear hashing: random affine maps over two elements, any three values of which are hashed independently."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.parts.transform import walsh_hadamard
from discreet.noise.bits import current

WORD_BITS = 64
_SEED_BITS = 62

Words = NDArray[Any]
Keys = NDArray[np.uint32]


def fresh_seed() -> int:
    """Draw the seed of a family of hash functions.

    Intervals hold over this draw: under a seed that is always the same, two values that collide would always collide.
    """
    return int(current().words(1, _SEED_BITS)[0])


@lru_cache(maxsize=16)
def keys(seed: int, rows: int, bits: int, width: int) -> Keys:
    """Return, for each row, the hash of zero and what each bit of a value adds to it (exclusive or).

    A row hashes x to b ^ M x, with b and the columns of M drawn evenly and independently (by SHAKE-256 of the seed)
    among the numbers below the width, a power of two. Three distinct values are never on a line over two elements, so
    that their hashes are independent and even, exactly (Carter and Wegman 1979).
    """
    stream = hashlib.shake_256(f"discreet.local linear hash {seed} {rows} {bits} {width}".encode())
    drawn = np.frombuffer(stream.digest(4 * rows * (bits + 1)), dtype="<u4").astype(np.uint32)
    found = (drawn & np.uint32(width - 1)).reshape(rows, bits + 1)
    found.flags.writeable = False
    return found


def hashes(family: Keys, rows: Words, values: Words) -> NDArray[np.uint32]:
    """Return the hash of each value in its own row."""
    out = family[:, 0].take(rows)
    wide = values.astype(np.uint64)
    for bit in range(family.shape[1] - 1):
        out ^= family[:, bit + 1].take(rows) * (wide >> np.uint64(bit) & np.uint64(1)).astype(np.uint32)
    return out


def gathered(family: Keys, table: NDArray[np.int64], values: Words) -> NDArray[np.int64]:
    """Return the sum over all rows of table[row, hash of the value in that row], for each value.

    The hashes of several rows lie side by side in a word of 64 bits; a byte of a value is looked up for all at once.
    """
    kind = np.dtype("u1" if table.shape[1] <= 1 << 8 else "u2" if table.shape[1] <= 1 << 16 else "u4")
    lanes = 8 // kind.itemsize
    blocks = -(-len(family) // lanes)
    padded = np.zeros((blocks * lanes, family.shape[1]), dtype=kind)
    padded[: len(family)] = family
    side = np.ascontiguousarray(padded.reshape(blocks, lanes, -1).transpose(0, 2, 1)).view(np.uint64)[:, :, 0]
    wide = np.ascontiguousarray(values, dtype="<u8").view(np.uint8).reshape(-1, 8)
    places = [np.ascontiguousarray(wide[:, at]) for at in range(-(-(family.shape[1] - 1) // 8))]
    total = np.zeros(len(values), dtype=np.int64)
    for block, columns in enumerate(side):
        found = np.full(len(values), columns[0], dtype=np.uint64)
        for at, place in enumerate(places):
            found ^= _span(columns[None, 1 + 8 * at : 9 + 8 * at])[0].take(place)
        apart = found.view(kind).reshape(-1, lanes)
        for lane, counts in enumerate(table[block * lanes : (block + 1) * lanes]):
            total += counts.take(apart[:, lane])
    return total


def spread(family: Keys, coefficients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum over rows of what `gathered` returns for every value, from each row's Walsh-Hadamard coefficients.

    The sign of coefficient l at the hash b ^ M x is that of l at b, times that of M^T l at x: the coefficients of all
    rows are those of one function of x, to be added up at M^T l and transformed once.
    """
    bits = family.shape[1] - 1
    order = int(coefficients.shape[1]).bit_length() - 1
    # Row by row: what bit t of l adds to M^T l, and the parity of l & b.
    turned = np.zeros((len(family), order), dtype=np.uint32)
    for bit in range(bits):
        column = family[:, bit + 1 : bit + 2] >> np.arange(order, dtype=np.uint32) & np.uint32(1)
        turned |= column << np.uint32(bit)
    odd = family[:, :1] >> np.arange(order, dtype=np.uint32) & np.uint32(1)
    places = _span(turned | odd << np.uint32(bits))
    signs = 1 - 2 * (places >> np.uint32(bits)).astype(np.int64)
    sums = np.zeros(1 << bits, dtype=np.int64)
    np.add.at(sums, places & np.uint32((1 << bits) - 1), coefficients * signs)
    return walsh_hadamard(sums)


def words(texts: list[str]) -> NDArray[np.uint64]:
    """Return 64 bits of the SHA-256 of each text; two of n texts have the same with probability below n^2 / 2^65."""
    kept: dict[str, bytes] = {}
    for text in texts:
        if text not in kept:
            # Every string has bytes, lone surrogates too: none is refused for what it is.
            kept[text] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]
    return np.frombuffer(b"".join(kept[text] for text in texts), dtype="<u8").astype(np.uint64)


def _span(columns: NDArray[Any]) -> NDArray[Any]:
    """Return, a row each, the exclusive or of every subset of the columns, subsets being numbers by their bits."""
    found = np.zeros((len(columns), 1), dtype=columns.dtype)
    for at in range(columns.shape[1]):
        found = np.concatenate([found, found ^ columns[:, at : at + 1]], axis=1)
    return found
