"""Coins: a fast generator for attackers and made-up tables, on which no privacy hangs."""

from __future__ import annotations

from numpy.random import Generator as Coins  # noqa: TID251  (nothing that it draws protects anyone)
from numpy.random import default_rng  # noqa: TID251  (the same)

from discreet.noise.uniform import uniform

__all__ = ["Coins", "coins"]


def coins() -> Coins:
    """Return a generator whose seed comes from `discreet.noise`, so seeded tests repeat."""
    return default_rng(uniform(1 << 62))
