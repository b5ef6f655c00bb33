"""Microsoft's clients: what is drawn once and remembered by a key, and what is drawn for each report."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from fractions import Fraction
from secrets import token_bytes
from typing import Any, cast
from typing import Protocol as Structural

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.local.grid import BITS, numerator
from discreet.local.protocol import Client
from discreet.local.reports import Bytes
from discreet.noise.bits import BitSource, current
from discreet.noise.packed_coins import packed_bernoulli
from discreet.noise.uniform_stream import below

_KEPT_AS = "telemetry key"

Integers = NDArray[Any]


class Bit(Structural):
    """What a client of the 1-bit mean has to know."""

    @property
    def steps(self) -> int:
        """How many steps lie between the bounds."""

    @property
    def lie(self) -> Fraction:
        """The probability that an answer is turned over, once and forever."""

    @property
    def gamma(self) -> Fraction:
        """The probability that a report of it is turned over."""


class Buckets(Structural):
    """What a client of dBitFlip has to know."""

    @property
    def gamma(self) -> Fraction:
        """The probability that a bit of a report is turned over."""

    def asked_buckets(self, count: int, source: BitSource) -> Integers:
        """Draw buckets for so many clients."""

    def answered(self, buckets: Integers, values: Integers, source: BitSource) -> Bytes:
        """Return for each bucket whether it is the value's, turned over by a coin."""

    def packed(self, buckets: Integers, bits: Bytes) -> Bytes:
        """Return reports as rows."""


@dataclass(frozen=True, slots=True)
class _Remembering(Client):
    """A client whose memo is a key, or a mapping that keeps one."""

    def key(self) -> bytes | None:
        """Return the key; one that is missing from a mapping is made and kept."""
        if self.memo is None or isinstance(self.memo, bytes):
            return self.memo
        if _KEPT_AS not in self.memo:
            self.memo[_KEPT_AS] = token_bytes(32)
        return self.memo[_KEPT_AS]

    def stream(self, key: bytes, about: object) -> BitSource:
        """Return bits that are always the same for the same key, protocol and subject."""
        return BitSource(_Stream(key, f"discreet.local telemetry {self.protocol.spec_hash} {about!r}"))


@dataclass(frozen=True, slots=True)
class OneBitClient(_Remembering):
    """One person's side of the 1-bit mean.

    Guarantee: without a memo every report costs the protocol's loss again. With one, alpha and both answers are drawn
    once: see `OneBitMean`.
    """

    def report(self, value: object) -> bytes:
        """Return the report of a value.

        Guarantee: see the class.
        """
        found, key = self.protocol.checked(cast(ArrayLike, [value])), self.key()
        if key is None:
            return self.protocol.draw(found, current()).tobytes()
        own = cast(Bit, self.protocol)
        up = int(found[0] + int(below(self.stream(key, "alpha"), own.steps, 1)[0]) >= own.steps)
        answer = up ^ _coin(self.stream(key, up), own.lie)
        return bytes([answer ^ _coin(current(), own.gamma)])


@dataclass(frozen=True, slots=True)
class BitFlipClient(_Remembering):
    """One person's side of dBitFlip.

    Guarantee: without a memo every report costs the protocol's loss again. With one, the buckets and the answer for
    each of them, and the one for all others, are drawn once: see `DBitFlip`.
    """

    def report(self, value: object) -> bytes:
        """Return the report of a value.

        Guarantee: see the class.
        """
        found, key = self.protocol.checked(cast(ArrayLike, [value])), self.key()
        if key is None:
            return self.protocol.draw(found, current()).tobytes()
        own = cast(Buckets, self.protocol)
        buckets = own.asked_buckets(1, self.stream(key, "buckets"))
        # A value in none of the buckets is answered like all others that are in none.
        state = int(found[0]) if (buckets == found[0]).any() else -1
        bits = own.answered(buckets, np.array([state]), self.stream(key, state))
        for at in range(bits.shape[1]):
            bits[0, at] ^= _coin(current(), own.gamma)
        return own.packed(buckets, bits).tobytes()


class _Stream:
    """A stand-in for the system's randomness: a keyed stream."""

    __slots__ = ("_calls", "_key")

    def __init__(self, key: bytes, about: str) -> None:
        self._key, self._calls = hmac.digest(key, about.encode(), "sha256"), 0

    def __call__(self, size: int) -> bytes:
        self._calls += 1
        return hmac.digest(self._key, self._calls.to_bytes(8, "big"), "sha256")[:size]


def _coin(source: BitSource, chance: Fraction) -> int:
    """Toss one coin of an exact chance on the grid."""
    return int(packed_bernoulli(source, numerator(chance), BITS, 1)[0]) & 1 if chance else 0
