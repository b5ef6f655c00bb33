"""Digests of many short texts at once: MD5, SHA-1 and SHA-256 in NumPy, of messages that fit into one block.

A message is sixteen words, each an array over the texts or, where all texts agree in it, one number for all: a pattern
whose last places alone vary costs little more than its rounds. RFC 1321 and FIPS 180-4 are followed as they stand; what
is found here is always checked again by `hashlib`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Word = NDArray[np.uint32]  # one for each text, or a single one for all of them

MOST_BYTES = 55  # a block has 64, of which one marks the end and eight say the length
_ROOT = 1 << 32


@dataclass(frozen=True, slots=True)
class Digest:
    """One algorithm: its name in `hashlib`, its length, the order of bytes in its words, and its first word."""

    name: str
    digits: int  # hexadecimal ones
    order: str  # as NumPy writes it
    first: Callable[[Sequence[Word]], Word]

    def message(self, texts: NDArray[np.uint8]) -> list[Word]:
        """Return the words of texts of one length, a row for each; a word in which they agree is kept once."""
        many, length = texts.shape
        block = np.zeros((many, 64), np.uint8)
        block[:, :length] = texts
        block[:, length] = 0x80
        block[:, 56:] = np.frombuffer(np.array([8 * length], self.order[0] + "u8").tobytes(), np.uint8)
        words = np.ascontiguousarray(block.view(self.order).astype(np.uint32).T)
        return [word[:1] if (word == word[0]).all() else word for word in words]

    def started(self, message: Sequence[Word], head: bytes) -> list[Word]:
        """Put a head into a message whose texts begin with as many zeros."""
        words = np.frombuffer(head.ljust(64, b"\0"), self.order).astype(np.uint32)
        return [word | start if start else word for word, start in zip(message, words, strict=True)]


def _turned(word: Word, by: int) -> Word:
    """Rotate the bits of words to the left."""
    low = word >> np.uint32(32 - by)
    high = word << np.uint32(by)
    high |= low
    return high


def _number(value: float) -> np.uint32:
    return np.uint32(int(value) % _ROOT)


_MD5_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_MD5_SINES = tuple(_number(math.floor(abs(math.sin(step + 1)) * _ROOT)) for step in range(64))
_MD5_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_MD5_PLACES = ((1, 0), (5, 1), (3, 5), (7, 0))


def _md5(words: Sequence[Word]) -> Word:
    """Return the first 32 bits of MD5 (RFC 1321), as a little-endian word."""
    a, b, c, d = (np.array([value], np.uint32) for value in _MD5_START)
    for step in range(64):
        turn = step // 16
        if turn == 0:
            mixed = d ^ (b & (c ^ d))
        elif turn == 1:
            mixed = c ^ (d & (b ^ c))
        elif turn == 2:
            mixed = b ^ c ^ d
        else:
            mixed = c ^ (b | ~d)
        factor, offset = _MD5_PLACES[turn]
        added = words[(factor * step + offset) % 16] + _MD5_SINES[step]
        mixed = mixed + (a + added)
        a, b, c, d = d, b + _turned(mixed, _MD5_TURNS[turn][step % 4]), b, c
    return a + np.uint32(_MD5_START[0])


_SHA1_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
_SHA1_ADDED = tuple(np.uint32(value) for value in (0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6))


def _sha1(words: Sequence[Word]) -> Word:
    """Return the first 32 bits of SHA-1 (FIPS 180-4), as a big-endian word."""
    spread = [*words]
    for step in range(16, 80):
        spread.append(_turned(spread[step - 3] ^ spread[step - 8] ^ spread[step - 14] ^ spread[step - 16], 1))
    a, b, c, d, e = (np.array([value], np.uint32) for value in _SHA1_START)
    for step in range(80):
        turn = step // 20
        if turn == 0:
            mixed = d ^ (b & (c ^ d))
        elif turn == 2:
            mixed = (b & c) | (d & (b | c))
        else:
            mixed = b ^ c ^ d
        total = _turned(a, 5) + mixed + (e + spread[step] + _SHA1_ADDED[turn])
        a, b, c, d, e = total, a, _turned(b, 30), c, d
    return a + np.uint32(_SHA1_START[0])


def _primes(many: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < many:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root_bits(number: int, root: int) -> int:
    """Return the first 32 bits of the fraction of a square or cube root, in integers."""
    wanted, low, high = number << (32 * root), 0, number << 32
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= wanted else (low, middle)
    return low % _ROOT


_SHA256_START = tuple(_root_bits(prime, 2) for prime in _primes(8))
_SHA256_ADDED = tuple(np.uint32(_root_bits(prime, 3)) for prime in _primes(64))


def _sha256(words: Sequence[Word]) -> Word:
    """Return the first 32 bits of SHA-256 (FIPS 180-4), as a big-endian word."""
    spread = [*words]
    for step in range(16, 64):
        late, early = spread[step - 2], spread[step - 15]
        one = _turned(late, 15) ^ _turned(late, 13) ^ (late >> np.uint32(10))
        other = _turned(early, 25) ^ _turned(early, 14) ^ (early >> np.uint32(3))
        spread.append(one + spread[step - 7] + other + spread[step - 16])
    a, b, c, d, e, f, g, h = (np.array([value], np.uint32) for value in _SHA256_START)
    for step in range(64):
        mixed = _turned(e, 26) ^ _turned(e, 21) ^ _turned(e, 7)
        total = h + (spread[step] + _SHA256_ADDED[step]) + mixed + (g ^ (e & (f ^ g)))
        other = (_turned(a, 30) ^ _turned(a, 19) ^ _turned(a, 10)) + ((a & b) | (c & (a | b)))
        a, b, c, d, e, f, g, h = total + other, a, b, c, d + total, e, f, g
    return a + np.uint32(_SHA256_START[0])


DIGESTS = {
    digest.name: digest
    for digest in (
        Digest("md5", 32, "<u4", _md5),
        Digest("sha1", 40, ">u4", _sha1),
        Digest("sha256", 64, ">u4", _sha256),
    )
}
