"""Coins of an exact bias: a rational, or exp(-x)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import overload

from discreet.core.errors import BadParameter
from discreet.noise import enclosure, rejection
from discreet.noise.arrays import NDArray, np
from discreet.noise.bits import BitSource, current
from discreet.noise.enclosure import Enclosure
from discreet.noise.sampling import Number, Size, exact, shape

_WORD = 16
_STEP = 64


@overload
def bernoulli(p: Number, size: None = None) -> int: ...
@overload
def bernoulli(p: Number, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...
def bernoulli(p: Number, size: Size = None) -> int | NDArray[np.int64]:
    """Draw 1 with probability exactly p, else 0."""
    top, bottom = exact("p", p)
    if not 0 <= top <= bottom:
        raise BadParameter("p", p, why="a probability lies between 0 and 1", fix="pass a number in [0, 1]")
    if size is None:
        return int(rejection.bernoulli(current(), (top, bottom)))
    return _coins(current(), shape(size), lambda bits: ((top << bits) // bottom, -((-top << bits) // bottom)))


@overload
def bernoulli_exp(x: Number, size: None = None) -> int: ...
@overload
def bernoulli_exp(x: Number, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...
def bernoulli_exp(x: Number, size: Size = None) -> int | NDArray[np.int64]:
    """Draw 1 with probability exactly exp(-x), else 0."""
    rate = exact("x", x)
    if rate[0] < 0:
        raise BadParameter("x", x, why="exp(-x) is a probability only for x >= 0", fix="pass 0 or more")
    if size is None:
        return int(rejection.bernoulli_exp(current(), rate))
    return _coins(current(), shape(size), lambda bits: enclosure.exp(rate, bits))


def _coins(
    source: BitSource,
    dimensions: tuple[int, ...],
    bias: Callable[[int], Enclosure],
    word: int = _WORD,
    step: int = _STEP,
) -> NDArray[np.int64]:
    """Compare uniform numbers with a bias known by enclosures, reading on where a word does not decide."""
    low, high = bias(word)
    words = source.words(math.prod(dimensions), word)
    out = (words < low).astype(np.int64)
    for place in np.flatnonzero((words >= low) & (words < high)):
        out[place] = _settle(source, int(words[place]), bias, word, step)
    return out.reshape(dimensions)


def _settle(source: BitSource, cell: int, bias: Callable[[int], Enclosure], bits: int, step: int) -> bool:
    while True:
        cell = cell << step | source.bits(step)
        bits += step
        low, high = bias(bits)
        if cell < low:
            return True
        if cell >= high:
            return False
