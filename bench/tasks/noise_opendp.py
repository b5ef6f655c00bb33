"""Tasks of noise for OpenDP: its exact discrete Laplace and Gaussian on integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")

# i64, the width of our arrays; OpenDP's `int` would be 32 bits.
INTEGER = dp.atom_domain(T="i64")
# Per distribution: the constructor, and the metric OpenDP measures a vector's sensitivity in.
MAKERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "laplace": (dp.m.make_laplace, dp.l1_distance(T="i64")),
    "gaussian": (dp.m.make_gaussian, dp.l2_distance(T="i64")),
}


def vector(distribution: str, scale: int, size: int) -> Callable[[], object]:
    """Noise on a vector of zeros: `scale` is that of the discrete distribution itself, as it is in ours."""
    make, metric = MAKERS[distribution]
    measurement = make(dp.vector_domain(INTEGER), metric, scale=float(scale))
    return partial(measurement, [0] * size)


def scalar(distribution: str, scale: int) -> Callable[[], object]:
    """Noise on one zero."""
    make, _ = MAKERS[distribution]
    return partial(make(INTEGER, dp.absolute_distance(T="i64"), scale=float(scale)), 0)
