"""Microsoft's telemetry: means from one bit and histograms from a few bits, remembered so that they can be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.local.grid import ONE, asked, lie
from discreet.local.parts.numeric import declared
from discreet.local.parts.oracle import parameters
from discreet.local.protocol import Protocol
from discreet.local.protocols.bit_flip import DBitFlip as DBitFlip
from discreet.local.protocols.one_bit import OneBitMean as OneBitMean


def one_bit_mean(
    low: Number, high: Number, epsilon: Number, *, step: Number | None = None, gamma: Number = 0
) -> OneBitMean:
    """Return the 1-bit mean of numbers from low to high; epsilon is that of an answer, and of one report if gamma is 0.

    Guarantee: see `OneBitMean`; its epsilon is at most the one asked for.
    """
    exact = asked(epsilon)
    return OneBitMean(*declared(low, high, step), exact, lie(exact), _fresh(gamma))


def d_bit_flip(k: int, epsilon: Number, *, d: int | None = None, gamma: Number = 0) -> DBitFlip:
    """Return dBitFlip over k buckets with d bits a client (all buckets, at most 16, unless given).

    Guarantee: see `DBitFlip`; its epsilon is at most the one asked for.
    """
    size, exact = parameters(k, epsilon)
    bits = min(size, 16) if d is None else whole("d", d)
    return DBitFlip(size, bits, exact, lie(exact if bits == 1 else exact / 2), _fresh(gamma))


def _fresh(gamma: Number) -> Fraction:
    """Return the probability of a fresh turn, raised to the grid."""
    chance = as_written("gamma", gamma)
    if not 0 <= chance < Fraction(1, 2):
        raise BadParameter("gamma", gamma, why="a report that is mostly turned over says nothing", fix="use below 1/2")
    return Fraction(ceil(chance * ONE), ONE)


def examples() -> Iterator[Protocol]:
    """Yield small instances, on which every promise is tried."""
    yield one_bit_mean(0, 24, 1, step=1)
    yield one_bit_mean(-1, 1, Fraction(1, 2), step=Fraction(1, 8), gamma=Fraction(1, 5))
    yield d_bit_flip(k=6, epsilon=1, d=2)
    yield d_bit_flip(k=4, epsilon=1, d=4, gamma=Fraction(1, 10))
    yield d_bit_flip(k=9, epsilon=2, d=1)
