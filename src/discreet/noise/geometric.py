"""Geometric noise: the size of discrete Laplace noise, on the integers from 0."""

from __future__ import annotations

from typing import overload

from discreet.noise import rejection
from discreet.noise.digits import GeometricDigits
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers
from discreet.noise.sampling import Number, Size, draw, positive


@overload
def geometric(scale: Number, size: None = None) -> int: ...
@overload
def geometric(scale: Number, size: int | tuple[int, ...]) -> Integers: ...
def geometric(scale: Number, size: Size = None) -> int | Integers:
    """Draw integers k >= 0 with probability proportional to exp(-k / scale).

    Guarantee: the distribution is exact. One-sided noise alone is not differentially private.
    """
    return draw("geometric", positive("scale", scale), size, _tables, rejection.geometric)


def _tables(scale: Ratio) -> GeometricDigits:
    return GeometricDigits(scale, signed=False)
