"""Finite fields and their vectors: the hash functions of local hashing, and the sums over all of them at once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.local.parts.transform import walsh_hadamard

Integers = NDArray[Any]
# For each power of two, an irreducible polynomial over two elements, its coefficients as bits.
_POLYNOMIALS = {
    2: 0b11,
    4: 0b111,
    8: 0b1011,
    16: 0b10011,
    32: 0b100101,
    64: 0b1000011,
    128: 0b10000011,
    256: 0b100011011,
}
LARGEST = 1021
_TABLE = 1 << 20


def sizes() -> tuple[int, ...]:
    """Return the sizes of field used here: powers of two and primes."""
    primes = (n for n in range(3, LARGEST + 1, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2)))
    return tuple(sorted({*_POLYNOMIALS, *primes}))


def points(size: int, dimension: int) -> int:
    """Return how many points the projective space has: vectors but zero, those that are multiples of another once."""
    return sum(size**t for t in range(dimension))


@lru_cache(maxsize=8)
def vectors(size: int, dimension: int) -> Integers:
    """Return a vector for each point, its first digit that is not zero being 1, as numbers to the base of the size."""
    runs = [np.arange(size**t, 2 * size**t, dtype=np.uint32) for t in range(dimension)]
    return _fixed(np.concatenate(runs))


@lru_cache(maxsize=32)
def multiplication(size: int) -> Integers:
    """Return the table of products."""
    if size not in sizes():
        why = "a field here has a prime number of elements, or a power of two"
        raise BadParameter("g", size, why=why, fix=f"use one of 2, 3, 4, 5, 7, 8, ... up to {LARGEST}")
    left, right = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    if size not in _POLYNOMIALS:
        return _fixed((left * right % size).astype(_kind(size)))
    product = np.zeros_like(left)
    for bit in range(size.bit_length() - 1):
        product ^= np.where(right >> bit & 1, left << bit, 0)
    for bit in reversed(range(size.bit_length() - 1, 2 * size.bit_length())):
        product ^= np.where(product >> bit & 1, _POLYNOMIALS[size] << (bit - size.bit_length() + 1), 0)
    return _fixed(product.astype(_kind(size)))


def add(size: int, left: Integers, right: Integers) -> Integers:
    """Return sums in the field, of arrays of one unsigned type that holds twice the size."""
    if size in _POLYNOMIALS:
        return np.asarray(left ^ right)
    total = left + right
    # Below the size the difference wraps to a huge number, so the lesser of the two is the remainder.
    return np.asarray(np.minimum(total, total - total.dtype.type(size)))


def products(size: int, dimension: int, left: Integers, right: Integers) -> Integers:
    """Return the inner products of vectors, written as numbers to the base of the size."""
    step = _digits(size)
    left, right = left.astype(np.uint32, copy=False), right.astype(np.uint32, copy=False)
    if dimension <= step:
        return _table(size, dimension).take(left * np.uint32(size**dimension) + right)
    base = np.uint32(size**step)
    high = products(size, dimension - step, left // base, right // base)
    return add(size, high, products(size, step, left % base, right % base))


def _digits(size: int) -> int:
    """Return of how many digits all pairs fit a table."""
    step = 1
    while size ** (2 * step + 2) <= _TABLE:
        step += 1
    return step


@lru_cache(maxsize=8)
def _table(size: int, digits: int) -> Integers:
    """Return the inner products of all pairs of vectors of so many digits."""
    one = multiplication(size)
    table = one
    for _ in range(digits - 1):
        wide = add(size, one[:, None, :, None], table[None, :, None, :])
        table = wide.reshape(wide.shape[0] * wide.shape[1], -1)
    return _fixed(np.ascontiguousarray(table).reshape(-1))


def sums(size: int, dimension: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for every vector x, the total of counts[s, <a_s, x>] over all points s.

    Written with the characters of the field, the total is one Fourier transform over all vectors: the number of
    reports at zero, and at the multiple c a_s the transform of point s's own counts at c. Powers of two have real
    characters, and the transform is one of integers; else it is complex, and far more exact than the integers it gives.
    """
    table = counts.reshape(-1, size)
    total = size**dimension
    places = _places(size, dimension)
    if size in _POLYNOMIALS:
        flat = np.zeros(total, dtype=np.int64)
        flat[places] = (table @ _signs(size))[:, 1:].T
        flat[0] = counts.sum()
        return np.asarray(walsh_hadamard(flat) // size)
    wave = np.zeros(total, dtype=np.complex128)
    wave[places] = np.fft.fft(table, axis=1)[:, 1:].T
    wave[0] = counts.sum()
    found = np.fft.ifftn(wave.reshape((size,) * dimension)).real.reshape(-1)
    return np.asarray(np.rint(found * (total // size)), dtype=np.int64)


@lru_cache(maxsize=8)
def _places(size: int, dimension: int) -> Integers:
    """Return where the multiple c of each point's vector stands in the transform, for c = 1, 2, ..."""
    table = multiplication(size).astype(np.int64)
    if size in _POLYNOMIALS:
        table = _dual(size)[table]
    places = np.zeros((size - 1, points(size, dimension)), dtype=np.int64)
    rest = vectors(size, dimension).astype(np.int64)
    for place in range(dimension):
        places += table[1:][:, rest % size] * size**place
        rest //= size
    return _fixed(places)


def _trace(size: int) -> Integers:
    """Return the trace of every element of a field of 2^r: the sum of its powers of 2, 4, ..., which is 0 or 1."""
    table, power = multiplication(size), np.arange(size)
    total = np.zeros(size, dtype=np.int64)
    for _ in range(size.bit_length() - 1):
        total ^= power
        power = table[power, power].astype(np.int64)
    return total


def _signs(size: int) -> NDArray[np.int64]:
    """Return the characters: (-1)^trace(y c), a row for each y."""
    return 1 - 2 * _trace(size)[multiplication(size)]


def _dual(size: int) -> Integers:
    """Return for each a the bits of trace(a b) for b = 1, 2, 4, ..., with which trace(a x) is a parity of bits."""
    table, trace = multiplication(size), _trace(size)
    return sum(
        (trace[table[:, 1 << bit]] << bit for bit in range(size.bit_length() - 1)), np.zeros(size, dtype=np.int64)
    )


def _kind(size: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if 2 * size <= 256 else np.uint16


def _fixed(array: Integers) -> Integers:
    array.flags.writeable = False
    return array
