"""RAPPOR's client: a permanent answer that is remembered by one key, and a fresh report of it each time."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Protocol as Structural
from typing import cast

from discreet.core.errors import BadParameter
from discreet.local.protocol import Client, Memo
from discreet.local.protocols.rappor.bloom import places, published_places, written
from discreet.noise.bits import BitSource, current

_KEY_BYTES = 32
_KEPT_AS = "rappor key"
# Kinds of message under the client's key; the published clients in C++ and Java tell them apart likewise.
_COHORT, _PERMANENT = b"\x00", b"\x01"
_WORD = 4


class Parameters(Structural):
    """What a client has to know of RAPPOR's parameters."""

    @property
    def bits(self) -> int:
        """How many bits a Bloom filter has."""

    @property
    def hashes(self) -> int:
        """How many of them a string sets."""

    @property
    def cohorts(self) -> int:
        """How many ways of hashing there are."""

    @property
    def published(self) -> bool:
        """Whether bits are those of the published client."""

    @property
    def flips(self) -> int:
        """Of 2^32 equally likely words, how many turn over a permanent bit."""

    @property
    def ones(self) -> tuple[int, int]:
        """Of 2^32 equally likely words, how many report 1 for a permanent bit 0, and for 1."""

    @property
    def spec_hash(self) -> str:
        """The hash of all parameters."""

    def word(self, value: object) -> str:
        """Return the string that a value stands for."""

    def pack(self, cohort: int, report: int) -> bytes:
        """Return the report that is sent."""


@dataclass(frozen=True, slots=True, repr=False)
class RapporClient(Client):
    """One person's side of RAPPOR: `memo` is the secret key, all that has to be kept; `cohort` is public.

    Without a memo a new key is made. A mapping as memo keeps the key under one name. The cohort follows from the key
    unless it is given.

    Guarantee: any number of reports of one value costs at most the protocol's `loss_forever`, as long as the key is
    kept and secret and HMAC-SHA256 is a pseudorandom function; each distinct value that is reported pays again, and has
    a permanent answer of its own, also where two values have one filter. A lost key is a new permanent answer, which
    pays again too. The published client derives answers from the filter alone, so under one key values (and
    questions) of equal filters share an answer and are seen to: it promises this for one value under each key.
    """

    cohort: int = -1
    key: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        super(RapporClient, self).__post_init__()
        key = _key(self.memo)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "memo", key if self.memo is None else self.memo)
        parameters = self._parameters
        if self.cohort == -1:
            rule = published_cohort if parameters.published else cohort
            object.__setattr__(self, "cohort", rule(key, parameters.cohorts))
        elif not 0 <= self.cohort < parameters.cohorts:
            why = f"cohorts are numbered from 0 to {parameters.cohorts - 1}"
            raise BadParameter("cohort", self.cohort, why=why, fix="leave it out, and it follows from the key")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.protocol!r}, cohort={self.cohort})"  # the key is secret

    @property
    def _parameters(self) -> Parameters:
        return cast("Parameters", self.protocol)

    def bloom(self, value: object) -> int:
        """Return the Bloom filter of a value as an integer, bit i for place i. It is the value itself: never sent."""
        parameters = self._parameters
        rule = published_places if parameters.published else places
        word = written(parameters.word(value))
        return _integer(rule(word, self.cohort, parameters.hashes, parameters.bits))

    def permanent(self, value: object) -> int:
        """Return the permanent answer for a value: its filter, each bit turned over with probability f/2 once forever.

        The published client replaces a bit by a coin with probability f, which is the same law. It is for tests and
        never sent as it is.
        """
        parameters, bloom = self._parameters, self.bloom(value)
        if parameters.published:
            uniform, mask = masks(self.key, bloom.to_bytes(4, "big"), parameters.flips >> 24, parameters.bits)
            return bloom & ~mask | uniform & mask
        # By the value and not by its filter: equal answers of two values would tell that their filters are equal.
        message = b"".join((_PERMANENT, bytes.fromhex(parameters.spec_hash), self.cohort.to_bytes(4, "big")))
        stream = expanded(self.key, message + written(parameters.word(value)), _WORD * parameters.bits)
        limit = parameters.flips
        words = (int.from_bytes(stream[_WORD * at : _WORD * (at + 1)], "big") for at in range(parameters.bits))
        return bloom ^ sum((word < limit) << at for at, word in enumerate(words))

    def report(self, value: object) -> bytes:
        """Return a fresh report of a value's permanent answer.

        Guarantee: see the class; the first report of a value costs the protocol's `loss`.
        """
        parameters = self._parameters
        return parameters.pack(self.cohort, instantaneous(self.permanent(value), parameters, current()))


def instantaneous(permanent: int, parameters: Parameters, source: BitSource) -> int:
    """Return what is reported of a permanent answer: bit 1 with probability q where it is set, p where it is not."""
    words = source.words(parameters.bits, 32).tolist()
    return sum((word < parameters.ones[permanent >> at & 1]) << at for at, word in enumerate(words))


def cohort(key: bytes, cohorts: int) -> int:
    """Return the cohort of a key: even among all, the same for every collection."""
    limit = (1 << 64) // cohorts * cohorts
    return _first(lambda count: hmac.digest(key, _COHORT + count.to_bytes(4, "big"), "sha256"), limit) % cohorts


def published_cohort(key: bytes, cohorts: int) -> int:
    """Return the cohort as the published client in C++ derives it, from the HMAC of nothing."""
    if cohorts & (cohorts - 1):
        why = "the published client derives cohorts from a key for powers of two alone"
        raise BadParameter("cohorts", cohorts, why=why, fix="use a power of two, or give the client its cohort")
    return int.from_bytes(hmac.digest(key, b"", "sha256")[:4], "little") & (cohorts - 1)


def masks(key: bytes, message: bytes, f_of_128: int, bits: int) -> tuple[int, int]:
    """Return the published client's coins and where they replace a bit: one byte of an HMAC for each bit."""
    stream = hmac.digest(key, message, "sha256")[:bits]
    uniform = sum((byte & 1) << at for at, byte in enumerate(stream))
    return uniform, sum((byte >> 1 < f_of_128) << at for at, byte in enumerate(stream))


def expanded(key: bytes, message: bytes, size: int) -> bytes:
    """Return so many pseudorandom bytes for a message: HMAC-SHA256 in counter mode."""
    blocks = (hmac.digest(key, message + count.to_bytes(4, "big"), "sha256") for count in range(-(-size // 32)))
    return b"".join(blocks)[:size]


def _first(draw: Callable[[int], bytes], limit: int) -> int:
    """Return the first of a keyed sequence of 64-bit numbers that is below the limit."""
    count = 0
    while (found := int.from_bytes(draw(count)[:8], "big")) >= limit:
        count += 1
    return found


def _key(memo: Memo | None) -> bytes:
    if memo is None:
        return token_bytes(_KEY_BYTES)
    if isinstance(memo, bytes):
        return memo
    if _KEPT_AS not in memo:
        memo[_KEPT_AS] = token_bytes(_KEY_BYTES)
    return memo[_KEPT_AS]


def _integer(chosen: tuple[int, ...]) -> int:
    out = 0
    for place in chosen:
        out |= 1 << place
    return out
