"""Tasks of noise for Discreet: vectors, single draws, first uses, memory and bits."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, cycle
from pathlib import Path
from time import perf_counter

from discreet import noise
from discreet.noise import bits, sampling

SAMPLERS: dict[str, Callable[..., object]] = {"laplace": noise.laplace, "gaussian": noise.gaussian}

# From one to many: below about five hundred draws a new scale is sampled without a table, above it with one.
FEW: tuple[int | None, ...] = (None, 10, 500, 1_000)
TABLED = 1_000
MANY = 1_000_000


def vector(distribution: str, scale: int, size: int) -> Callable[[], object]:
    """An array of draws."""
    return partial(SAMPLERS[distribution], scale, size)


def scalar(distribution: str, scale: int) -> Callable[[], object]:
    """One draw, a Python integer."""
    return partial(SAMPLERS[distribution], scale)


def stream(size: int) -> Callable[[], object]:
    """That many bytes of the bit source, as 64-bit words."""
    return partial(bits.current().words, size // 8, 64)


def first_use(distribution: str, scales: Sequence[float]) -> Callable[[], float]:
    """Seconds lost to the newness of a scale, at worst, over the scales and over few and many draws.

    For few draws it is all the time they take; for many, what the first call takes above a second one. Each call
    shifts every scale by a little, so that none was ever used before.
    """
    draw, shifts = SAMPLERS[distribution], _shifts()

    def call() -> float:
        worst = 0.0
        for scale in scales:
            for size in FEW:
                worst = max(worst, _seconds(draw, scale * next(shifts), size))
            fresh = scale * next(shifts)
            first, second = (_seconds(draw, fresh, MANY) for _ in range(2))
            worst = max(worst, first - second)
        return worst

    return call


def held(scales: int) -> Callable[[], int]:
    """Bytes the cache accounts for after draws from that many scales."""
    return partial(_held, scales)


def grown(scales: int) -> Callable[[], int]:
    """Bytes by which the process grows while it draws from that many scales."""
    for draw in SAMPLERS.values():
        draw(0.5, TABLED)  # what any first draw brings along is no table
    return partial(_grown, scales)


def _held(scales: int) -> int:
    _use_many(scales)
    return sampling.bytes_held()


def _grown(scales: int) -> int:
    before = _resident()
    _use_many(scales)
    return _resident() - before


def _use_many(scales: int) -> None:
    """As many tables as scales: the distributions take turns, so that both kinds are in the account."""
    draws = cycle(SAMPLERS.values())
    for index in range(scales):
        next(draws)(1.0 + index * 0.37, TABLED)


def _resident() -> int:
    """Memory of this process that is in use right now (Linux)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def _shifts() -> Iterator[float]:
    return (1.0 + step * 2.0**-20 for step in count(1))


def _seconds(draw: Callable[..., object], scale: float, size: int | None) -> float:
    start = perf_counter()
    draw(scale, size)
    return perf_counter() - start
