r"""Patterns: what identifiers look like, in a few characters, and all the texts that look so.

`9` stands for a digit, `A` for a capital letter, `a` for a small one and `[...]` for any of the characters inside (with
`-` for a run of them); `|` separates alternatives, `\` takes the next character as it is, and so are all others taken.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter

_CLASSES = {"9": string.digits, "A": string.ascii_uppercase, "a": string.ascii_lowercase}
_SPECIAL = {*_CLASSES, "|", "\\", "[", "]"}

# Patterns by name: New York's taxi medallions, a social security number, a telephone number, a day of birth.
NAMED = {
    "medallion": "9A99|AA999|AAA999",
    "ssn": "999-99-9999",
    "phone": "[2-9]99-999-9999",
    "birthdate": "[12][09]99-[01]9-[0-3]9",
}
# Texts are made and hashed so many at a time: enough to keep NumPy busy, few enough for a processor's cache.
_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class Shape:
    """One alternative: the characters that each place may have."""

    places: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many texts it has."""
        return math.prod(len(place) for place in self.places)

    def cut(self) -> tuple[Iterator[bytes], NDArray[np.uint8]]:
        """Cut all its texts in two: every way to begin, and every way to go on (a row for each), which fit a block."""
        place = len(self.places)
        while place and math.prod(len(each) for each in self.places[place - 1 :]) <= _BLOCK:
            place -= 1
        return ("".join(head).encode() for head in product(*self.places[:place])), _every(self.places[place:])


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as it was written, and its alternatives."""

    text: str
    shapes: tuple[Shape, ...]

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read a pattern, or the name of one."""
        return cls(text, tuple(Shape(tuple(places)) for places in _alternatives(NAMED.get(text, text))))

    @classmethod
    def of(cls, values: Iterable[object]) -> Pattern:
        """Return the pattern of values: each digit and letter stands for all of its kind, the rest for itself."""
        shapes = {"".join(map(_kind, str(value))): None for value in values if value is not None and str(value)}
        return cls.parse("|".join(shapes))

    @property
    def size(self) -> int:
        """How many texts it has; those of two alternatives count twice."""
        return sum(shape.size for shape in self.shapes)


def _kind(character: str) -> str:
    for word, members in _CLASSES.items():
        if character in members:
            return word
    return "\\" + character if character in _SPECIAL else character


def _alternatives(text: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    rest = iter(text)
    for character in rest:
        if character == "|":
            found.append([])
        elif character == "[":
            found[-1].append(_inside(text, rest))
        elif character == "\\":
            found[-1].append(_next(text, rest))
        else:
            found[-1].append(_CLASSES.get(character, character))
    if not all(found) or not text.isascii():
        why = "each of its alternatives has at least one character, and all are plain (ASCII)"
        raise BadParameter("pattern", text, why=why, fix="write 9 for a digit and A for a letter: 9A99|AA999")
    return found


def _inside(text: str, rest: Iterator[str]) -> str:
    """Return what stands between brackets, with runs such as 0-3 written out."""
    listed: list[str] = []
    while (character := _next(text, rest)) != "]":
        if character == "-" and listed:
            last = _next(text, rest)
            listed += map(chr, range(ord(listed[-1]) + 1, ord(last) + 1)) if last != "]" else ["-"]
            if last == "]":
                break
        else:
            listed.append(_next(text, rest) if character == "\\" else character)
    if not listed:
        raise BadParameter("pattern", text, why="its brackets are empty", fix="put characters inside: [01]")
    return "".join(dict.fromkeys(listed))


def _next(text: str, rest: Iterator[str]) -> str:
    character = next(rest, None)
    if character is None:
        why = "it ends where a character has to follow"
        raise BadParameter("pattern", text, why=why, fix="close every [ with ], and write \\\\ for \\")
    return character


def _every(places: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return all texts of the places, a row for each."""
    found = np.zeros((1, 0), np.uint8)
    for place in places:
        letters = np.frombuffer(place.encode(), np.uint8)
        before = np.repeat(found, len(letters), axis=0)
        found = np.column_stack([before, np.tile(letters, len(found))])
    return np.ascontiguousarray(found)
