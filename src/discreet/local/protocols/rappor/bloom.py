"""RAPPOR's Bloom filters: which bits a string sets in each cohort, by our own hash or by the published client's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]

# One digest serves all hashes: four bytes each of BLAKE2b, or one byte each of MD5 in the published client.
MOST_HASHES = 16
_PERSON = b"discreet.rappor"
_WORD = 4


def written(value: str) -> bytes:
    """Return a string as the bytes that are hashed; every string has some, lone surrogates too."""
    return value.encode("utf-8", "surrogatepass")


def places(word: bytes, cohort: int, hashes: int, bits: int) -> tuple[int, ...]:
    """Return the bits that a word sets in a cohort: so many hashes, so many different bits.

    The i-th hash chooses among the bits that the earlier ones left, so every word sets equally many.
    """
    message = cohort.to_bytes(4, "big") + word
    digest = hashlib.blake2b(message, digest_size=_WORD * hashes, person=_PERSON).digest()
    chosen: list[int] = []
    for at in range(hashes):
        place = int.from_bytes(digest[_WORD * at : _WORD * (at + 1)], "big") % (bits - at)
        for taken in sorted(chosen):
            place += place >= taken
        chosen.append(place)
    return tuple(chosen)


def published_places(word: bytes, cohort: int, hashes: int, bits: int) -> tuple[int, ...]:
    """Return the bits that the published client sets: bytes of the MD5 of cohort and word; two may be the same."""
    # MD5 spreads strings over bits here and keeps no secret: what hides the string is the randomized response.
    digest = hashlib.md5(cohort.to_bytes(4, "big") + word, usedforsecurity=False).digest()
    return tuple(byte % bits for byte in digest[:hashes])


def table(words: Sequence[str], cohorts: int, hashes: int, bits: int, published: bool) -> Places:
    """Return the places of every word (first axis) in every cohort (second axis)."""
    rule = published_places if published else places
    out = np.empty((len(words), cohorts, hashes), dtype=np.int64)
    for row, word in enumerate(words):
        coded = written(word)
        out[row] = [rule(coded, cohort, hashes, bits) for cohort in range(cohorts)]
    return out


@lru_cache(maxsize=4)
def kept_table(words: tuple[str, ...], cohorts: int, hashes: int, bits: int, published: bool) -> Places:
    """Return `table` for candidates that are asked for again and again."""
    found = table(words, cohorts, hashes, bits, published)
    found.flags.writeable = False
    return found


def pairs(words: Sequence[str], owners: Places, hashes: int, bits: int, published: bool) -> Places:
    """Return the places of each word in its owner's cohort, hashing every pair of word and cohort once."""
    rule = published_places if published else places
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int64)
    distinct, back = np.unique(codes << 32 | owners, return_inverse=True)
    coded = [written(word) for word in known]
    found = [rule(coded[pair >> 32], pair & 0xFFFFFFFF, hashes, bits) for pair in distinct.tolist()]
    return np.array(found, dtype=np.int64).reshape(len(distinct), hashes)[back]


def design(places: Places, bits: int) -> NDArray[np.float64]:
    """Return the design matrix: for each cohort, bits by candidates, 1 where the candidate sets the bit."""
    candidates, cohorts, _ = places.shape
    out = np.zeros((cohorts, bits, candidates))
    out[np.arange(cohorts)[None, :, None], places, np.arange(candidates)[:, None, None]] = 1.0
    return out
