"""From a law's parameters to values of the asked shape: tables for scales in use, rejection for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.noise import cache
from discreet.noise.bits import BitSource, current
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers
from discreet.noise.parameters import Size, shape

# Tables serve scales up to 2**55: there every value that 64 bits of uniform can tell fits an int64. Beyond, values
# that overflow are likely, so the answer is an array of Python integers whatever is drawn.
_TABLED = 1 << 55
_CHUNK = 1 << 17


def draw(
    law: str,
    scale: Ratio,
    size: Size,
    build: Callable[[Ratio], cache.Sampler],
    reject: Callable[[BitSource, Ratio], int],
) -> int | Integers:
    """Draw from a law: one Python integer, or an array."""
    source = current()
    tabled = scale[0] < _TABLED * scale[1]
    if size is None:
        ready = cache.sampler((law, scale), 1, lambda: build(scale), fixed=source.fixed) if tabled else None
        return ready.one(source) if ready is not None else reject(source, scale)
    dimensions = shape(size)
    count = math.prod(dimensions)
    ready = cache.sampler((law, scale), count, lambda: build(scale), fixed=source.fixed) if tabled else None
    if ready is None:
        values = [reject(source, scale) for _ in range(count)]
        return pack(values, tabled).reshape(dimensions)
    return fill(ready, source, count).reshape(dimensions)


def fill(sampler: cache.Sampler, source: BitSource, count: int) -> Integers:
    """Draw many values, a cache-sized chunk at a time."""
    out = np.empty(count, dtype=np.int64)
    wide: dict[int, Integers] = {}
    for start in range(0, count, _CHUNK):
        part = sampler.draw(source, out[start : start + _CHUNK])
        if part.dtype == object:
            wide[start] = part
    if not wide:
        return out
    values = out.astype(object)
    for start, part in wide.items():
        values[start : start + len(part)] = part
    return values


def pack(values: list[int], narrow: bool) -> Integers:
    """Put Python integers into an int64 array if `narrow` allows and all of them fit, else into an object array."""
    if narrow and all(-(1 << 63) <= value < 1 << 63 for value in values):
        return np.array(values, dtype=np.int64)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
