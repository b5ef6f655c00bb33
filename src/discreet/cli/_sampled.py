"""Samples beside the exact distribution they were drawn from: what the demonstration tabulates and plots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.noise.gaussian import gaussian as draw_gaussian
from discreet.noise.laplace import laplace as draw_laplace

Law = Callable[[int, int], float]


def laplace(k: int, scale: int) -> float:
    """Return P(k) of the discrete Laplace: its weights exp(-|k|/scale) sum to 1 / tanh(1 / (2 scale))."""
    return math.tanh(1 / (2 * scale)) * math.exp(-abs(k) / scale)


def gaussian(k: int, sigma: int) -> float:
    """Return P(k) of the discrete Gaussian, whose weights have no closed sum; beyond 39 sigma they are zero floats."""
    weights = (math.exp(-j * j / (2 * sigma * sigma)) for j in range(-39 * sigma, 39 * sigma + 1))
    return math.exp(-k * k / (2 * sigma * sigma)) / math.fsum(weights)


@dataclass(frozen=True, slots=True)
class Row:
    """One value: its exact probability, its share of the samples, and their difference in standard errors."""

    value: int
    probability: float
    share: float
    standard_errors: float


@dataclass(frozen=True, slots=True)
class Sampled:
    """Samples of one distribution at one scale."""

    name: str
    scale: int
    law: Law
    counts: dict[int, int]
    size: int

    def rows(self, values: Iterable[int]) -> list[Row]:
        """Compare the samples with the truth at the given values."""
        return [self._row(value) for value in values]

    def _row(self, value: int) -> Row:
        probability, share = self.law(value, self.scale), self.counts.get(value, 0) / self.size
        error = math.sqrt(probability * (1 - probability) / self.size)
        return Row(value, probability, share, (share - probability) / error)


def sample(name: Literal["laplace", "gaussian"], scale: int, size: int) -> Sampled:
    """Draw `size` samples of the Laplace or Gaussian and count them."""
    drawn = draw_laplace(scale, size) if name == "laplace" else draw_gaussian(scale, size)
    values, counts = np.unique(drawn, return_counts=True)
    law = laplace if name == "laplace" else gaussian
    return Sampled(name, scale, law, dict(zip(values.tolist(), counts.tolist(), strict=True)), size)
