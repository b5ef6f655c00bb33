"""Tasks of noise for numpy: floating-point samplers, neither exact nor secure, the speed people know."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

GENERATOR = np.random.default_rng()  # noqa: TID251  (the peer itself; draws no noise for anyone)
SAMPLERS: dict[str, Callable[..., object]] = {"laplace": GENERATOR.laplace, "gaussian": GENERATOR.normal}


def vector(distribution: str, scale: int, size: int) -> Callable[[], object]:
    """That many float draws around zero."""
    return partial(SAMPLERS[distribution], 0.0, float(scale), size)
