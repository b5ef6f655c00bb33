"""Discrete Gaussian noise."""

from __future__ import annotations

from typing import overload

from discreet.noise import rejection
from discreet.noise.bins import Bins
from discreet.noise.inversion import Integers
from discreet.noise.sampling import Number, Size, draw, positive


@overload
def gaussian(sigma: Number, size: None = None) -> int: ...
@overload
def gaussian(sigma: Number, size: int | tuple[int, ...]) -> Integers: ...
def gaussian(sigma: Number, size: Size = None) -> int | Integers:
    """Draw integers k with probability proportional to exp(-k**2 / (2 sigma**2)).

    Guarantee: exact. Added to an integer of sensitivity d it is d**2 / (2 sigma**2)-zCDP (Canonne, Kamath,
    Steinke 2020, theorem 14).
    """
    return draw("gaussian", positive("sigma", sigma), size, Bins, rejection.gaussian)
