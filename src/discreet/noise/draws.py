"""Draws: the randomness of one debit, divided into substreams by label, the same bits for the same label every time."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import sha256

from discreet.core.errors import BadParameter
from discreet.noise import bits

KEY_BYTES = 32
# How bits become values. Raise it with every change of a sampler or of a label that can turn the same bits into another
# value: a debit that was charged under another number is never drawn for again.
SAMPLER_VERSION = 1


class Draws:
    """Addresses random bits by (key, label), never by the order of calls.

    Each label is drawn from once; a second use would repeat its noise under another number, and raises. `part` gives
    the draws of a part, whose labels are its own. `check` is called before each: whoever may draw no more raises there.

    Guarantee: streams of different labels, and of different keys, are independent to anyone without the key; what is
    drawn at a label depends on key, label and what is asked of the samplers there, not on threads, forks, other labels
    or what the process has drawn before.
    """

    __slots__ = ("_check", "_key", "_parts", "_used")

    def __init__(self, key: bytes, check: Callable[[], None] = lambda: None) -> None:
        if len(key) != KEY_BYTES:
            raise BadParameter("key", len(key), why=f"a key has {KEY_BYTES} bytes", fix="draw one with new_key()")
        self._key, self._check = key, check
        self._used: set[str] = set()
        self._parts: set[str] = set()

    def __repr__(self) -> str:
        return "Draws(hidden)"

    def at(self, label: str) -> bits.drawing:
        """Make this thread draw from the label's own stream, inside a `with` block."""
        self._check()
        if label in self._used:
            why = "what was drawn there would be drawn again"
            raise BadParameter("label", label, why=why, fix="give every noisy number a label of its own")
        self._used.add(label)
        return bits.drawing(bits.BitSource(_stream(_derived(self._key, "label", label)), fixed=True))

    def part(self, name: str) -> Draws:
        """Return the draws of one part, whose labels are apart from these and from those of every other part."""
        if name in self._parts:
            why = "its labels would be drawn from again"
            raise BadParameter("part", name, why=why, fix="give every part a name of its own")
        self._parts.add(name)
        return Draws(_derived(self._key, "part", name), self._check)


def new_key() -> bytes:
    """Draw a key from the operating system."""
    return bits.own().new_key()


def _derived(key: bytes, purpose: str, name: str) -> bytes:
    """Return the key of one label or part: HMAC-SHA-256, which no name of one purpose shares with another's."""
    return hmac.digest(key, f"discreet draws\0{purpose}\0{name}".encode(errors="surrogatepass"), "sha256")


class _stream:  # noqa: N801  (a function that counts its calls)
    """A stand-in for os.urandom: the keys of one substream, one after the other."""

    __slots__ = ("_calls", "_key")

    def __init__(self, key: bytes) -> None:
        self._key, self._calls = key, 0

    def __call__(self, size: int) -> bytes:
        self._calls += 1
        return hmac.digest(self._key, self._calls.to_bytes(8, "big"), sha256)[:size]
