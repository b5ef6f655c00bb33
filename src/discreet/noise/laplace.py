"""Discrete Laplace noise."""

from __future__ import annotations

from typing import overload

from discreet.noise import rejection
from discreet.noise.digits import GeometricDigits
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers
from discreet.noise.sampling import Number, Size, draw, positive


@overload
def laplace(scale: Number, size: None = None) -> int: ...
@overload
def laplace(scale: Number, size: int | tuple[int, ...]) -> Integers: ...
def laplace(scale: Number, size: Size = None) -> int | Integers:
    """Draw integers k with probability proportional to exp(-|k| / scale).

    Guarantee: exact. Added to an integer of sensitivity d it is (d / scale)-differentially private.
    """
    return draw("laplace", positive("scale", scale), size, _tables, rejection.laplace)


def _tables(scale: Ratio) -> GeometricDigits:
    return GeometricDigits(scale, signed=True)
