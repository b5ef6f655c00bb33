"""The cache of tables: bounded in bytes, least used dropped first, and none built for a scale that is rarely drawn."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import BitSource
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers

LIMIT = 64_000_000
# Building a table costs about as much as this many draws without one.
_WORTH = 512
_REMEMBERED = 4096

Key = tuple[str, Ratio]


class Sampler(Protocol):
    """What the cache holds: exact draws, one or many, at a known cost in memory."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the sampler holds."""
        ...

    def draw(self, source: BitSource, out: NDArray[np.int64]) -> Integers:
        """Fill `out` and return it, or an array of Python integers should 64 bits not hold a value."""
        ...

    def one(self, source: BitSource) -> int:
        """Draw a single value."""
        ...


_lock = threading.Lock()
_samplers: OrderedDict[Key, Sampler] = OrderedDict()
_seen: OrderedDict[Key, int] = OrderedDict()
_held = 0


def bytes_held() -> int:
    """Return the bytes of all cached tables, at most `LIMIT`."""
    return _held


def clear() -> None:
    """Drop every table; the next draws build them again."""
    global _held
    with _lock:
        _samplers.clear()
        _seen.clear()
        _held = 0


def sampler(key: Key, wanted: int, build: Callable[[], Sampler], *, fixed: bool = False) -> Sampler | None:
    """Return the sampler of that law, building it once enough draws were wanted; None while it is rare.

    The choice depends on parameters and sizes, which are public, and never on what was drawn. For a stream that is
    `fixed` it depends on this call alone: the same bits have to give the same values in every process.
    """
    if fixed and wanted < _WORTH:
        return None
    with _lock:
        found = _samplers.get(key)
        if found is not None:
            _samplers.move_to_end(key)
            return found
        total = _seen.pop(key, 0) + wanted
        if total < _WORTH:
            _seen[key] = total
            if len(_seen) > _REMEMBERED:
                _seen.popitem(last=False)
            return None
    return _keep(key, build())


def _keep(key: Key, built: Sampler) -> Sampler:
    global _held
    with _lock:
        if key not in _samplers:
            _samplers[key] = built
            _held += built.nbytes
            while _held > LIMIT:
                _held -= _samplers.popitem(last=False)[1].nbytes
        return built


def _renew_lock() -> None:
    """Give a forked child a lock of its own: another thread of the parent may have held the old one."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
