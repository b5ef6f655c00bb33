"""Person hashes: uniform numbers by which blocks and samples are drawn, known to nobody without the vault's secret.

What the engine computes of a person is a hash whose multipliers are secret, but linear ones. Here it becomes the output
of a cipher under a key that is derived from the same secret, so that no two purposes and no two people go together.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.core.errors import BadParameter

Hashes = NDArray[np.uint64]

_KEY_BYTES = 32
_BITS = 64


def person_hashes(keys: NDArray[np.int64], places: NDArray[np.int64], secret: bytes) -> Hashes:
    """Return a uniform number for each person, of what the engine hashed of them and a place among equal ones.

    Guarantee: a number follows from the secret, the key and the place, and from nobody else: AES-256 of the two as one
    block, under a key that the secret alone determines.
    """
    if not secret:
        raise BadParameter("secret", None, why="without one anybody could compute the numbers", fix="use the vault's")
    key = hashlib.blake2b(b"discreet person hash", key=hashlib.sha256(secret).digest(), digest_size=_KEY_BYTES).digest()
    blocks = np.empty((len(keys), 2), "<u8")
    blocks[:, 0], blocks[:, 1] = keys, places
    return _enciphered(blocks, key)


def derived(hashes: Hashes, key: bytes) -> Hashes:
    """Return other uniform numbers of the same people: of another key, independent ones.

    The key is that of a debit's draws where the numbers are coins, and a public name where they only divide people:
    the hashes themselves are secret.
    """
    blocks = np.zeros((len(hashes), 2), "<u8")
    blocks[:, 0] = hashes
    return _enciphered(blocks, hashlib.sha256(b"discreet derived\0" + key).digest())


def block_numbers(hashes: Hashes, many: int, name: str) -> NDArray[np.int64]:
    """Return which of so many blocks each person is in, for blocks of one name.

    Guarantee: a block follows from the person alone. Whoever comes or goes moves nobody else from theirs.
    """
    if many < 1:
        raise BadParameter("blocks", many, why="people are divided into at least one", fix="use 1 or more")
    found: NDArray[np.int64] = (derived(hashes, name.encode()) % np.uint64(many)).astype(np.int64)
    return found


def sampled(hashes: Hashes, rate: Fraction, key: bytes) -> NDArray[np.bool_]:
    """Return who is in a sample that takes each person with at most this chance, independently: a Poisson sample.

    Guarantee: the chance is the rate, rounded down to a multiple of 2^-64; `key` is drawn for one sample alone.
    """
    if not 0 <= rate <= 1:
        raise BadParameter("rate", rate, why="it is a probability", fix="use a number from 0 to 1")
    if rate == 1:
        return np.ones(len(hashes), np.bool_)
    found: NDArray[np.bool_] = derived(hashes, key) < np.uint64(int(rate * (1 << _BITS)))
    return found


def _enciphered(blocks: NDArray[np.uint64], key: bytes) -> Hashes:
    """Encipher blocks of 16 bytes, each by itself, and return the first half of each: a pseudorandom function of it."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305  (a function of blocks, not of a text)
    found: Hashes = np.frombuffer(cipher.update(blocks.tobytes()), "<u8")[::2].astype(np.uint64)
    return found
