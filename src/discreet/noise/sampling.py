"""From a law's parameters to values of the asked shape: tables for scales in use, rejection for the rest."""

from __future__ import annotations

import math
import operator
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from typing import Protocol

from discreet.core.errors import BadParameter
from discreet.noise.arrays import NDArray, np
from discreet.noise.bits import BitSource, current
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers

Number = int | float | Fraction
_MOST = 1 << 40

Size = int | tuple[int, ...] | None


def exact(name: str, value: Number) -> Ratio:
    """Return the rational a number is, as (numerator, denominator) in lowest terms; a float is the one it stores."""
    kind = type(value)
    if kind is int or kind is Fraction:
        return value.as_integer_ratio()
    if isinstance(value, bool) or not isinstance(value, (float, Rational)):
        raise BadParameter(
            name, value, why=f"{name} must be a number, not {kind.__name__}", fix="pass an int, a Fraction or a float"
        )
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadParameter(name, value, why=f"{name} must be finite", fix="pass a finite number")
        return value.as_integer_ratio()
    return int(value.numerator), int(value.denominator)


def positive(name: str, value: Number) -> Ratio:
    """Return a number above zero as an exact ratio."""
    ratio = exact(name, value)
    if ratio[0] <= 0:
        raise BadParameter(
            name, value, why="noise needs a positive scale", fix="use sensitivity / epsilon, which is above 0"
        )
    return ratio


def whole(name: str, value: int, least: int) -> int:
    """Return an integer of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        kind = type(value).__name__
        raise BadParameter(name, value, why=f"{name} must be an integer, not {kind}", fix="pass an int")
    if number < least:
        raise BadParameter(name, value, why=f"{name} must be at least {least}", fix=f"pass {least} or more")
    return number


def shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of an array of that size."""
    dimensions = tuple(whole("size", n, 0) for n in (size if isinstance(size, tuple) else (size,)))
    if math.prod(dimensions) > _MOST:
        raise BadParameter("size", size, why=f"no more than {_MOST} values fit one array", fix="draw in parts")
    return dimensions


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


# Tables serve scales up to 2**55: there every value that 64 bits of uniform can tell fits an int64. Beyond, values
# that overflow are likely, so the answer is an array of Python integers whatever is drawn.
_TABLED = 1 << 55
_CHUNK = 1 << 17


def draw(
    law: str,
    scale: Ratio,
    size: Size,
    build: Callable[[Ratio], Sampler],
    reject: Callable[[BitSource, Ratio], int],
) -> int | Integers:
    """Draw from a law: one Python integer, or an array."""
    source = current()
    tabled = scale[0] < _TABLED * scale[1]
    if size is None:
        ready = sampler((law, scale), 1, lambda: build(scale), fixed=source.fixed) if tabled else None
        return ready.one(source) if ready is not None else reject(source, scale)
    dimensions = shape(size)
    count = math.prod(dimensions)
    ready = sampler((law, scale), count, lambda: build(scale), fixed=source.fixed) if tabled else None
    if ready is None:
        values = [reject(source, scale) for _ in range(count)]
        return pack(values, tabled).reshape(dimensions)
    return fill(ready, source, count).reshape(dimensions)


def fill(sampler: Sampler, source: BitSource, count: int) -> Integers:
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
