"""Raw values of any kind: which are null, and which integers of a declared grid the others become."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, TypeAlias

from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.schema import between
from discreet.core.value import dataclass
from discreet.noise.arrays import NDArray, np

Steps: TypeAlias = "NDArray[np.int64]"
Mask: TypeAlias = "NDArray[np.bool_]"

# Floats tell neighbouring steps apart up to here, and sums of two such numbers fit 64 bits.
_MOST_STEPS = 1 << 53

# Below, x * k, its quotient and that plus a half are exact, or too near to the truth to round otherwise.
_SAME_AS_FLOATS = 1 << 51

_CHUNK = 1 << 14  # values that fit a processor's cache


def column(values: Iterable[Any]) -> tuple[NDArray[Any], Mask]:
    """Return values as a one-dimensional array, and which of them are not null (None, NaN, not-a-time, masked).

    Lists become arrays of objects, so that no value decides how another is read. An array is read as its type says,
    which the caller vouches for: pandas makes floats of whole numbers where one is missing, and merges those beyond
    2**53 thereby. Such columns, identifiers above all, come as lists or as a nullable type.
    """
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    array = np.asarray(values) if hasattr(values, "__array__") else _objects(values)
    if array.ndim != 1:
        raise BadParameter(
            "values", array.shape, why="a column has one dimension", fix="pass a list or a one-dimensional array"
        )
    present = _present(array)
    return array, present if masked is None else present & ~masked


def tables(values: Iterable[Any], width: int) -> list[tuple[NDArray[Any], Mask]]:
    """Return the columns of a two-dimensional array of that width, or of a list of columns."""
    if hasattr(values, "__array__"):
        array = np.ma.asarray(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if array.ndim != 2 or array.shape[1] != width:
            why = f"there are {width} declared columns"
            raise BadParameter("values", array.shape, why=why, fix=f"pass an array of shape (rows, {width})")
        return [column(array[:, place]) for place in range(width)]
    found = [column(each) for each in values]
    if len(found) != width or len({len(array) for array, _ in found}) != 1:
        shapes = [len(array) for array, _ in found]
        why = f"there are {width} declared columns, and all have one value per row"
        raise BadParameter("values", shapes, why=why, fix="pass one list per column, all of one length")
    return found


def numbers(values: Iterable[Any]) -> NDArray[np.float64]:
    """Return all numbers that are not null, each as the nearest float; too large ones as infinities."""
    array, present = column(values)
    match array.dtype.kind:
        case "b" | "i" | "u" | "f":
            with np.errstate(all="ignore"):
                return array[present].astype(np.float64)
        case "O":
            found = [as_number(value) for value in array[present]]
            return np.array([number for number in found if number is not None], dtype=np.float64)
    return np.zeros(0)


def _objects(values: Iterable[Any]) -> NDArray[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise BadParameter("values", type(values).__name__, why="it is not a column", fix="pass a list or an array")
    kept = list(values)
    array = np.empty(len(kept), dtype=object)
    for place, value in enumerate(kept):
        array[place] = value
    return array


def _present(array: NDArray[Any]) -> Mask:
    match array.dtype.kind:
        case "f" | "c":
            return np.asarray(~np.isnan(array), dtype=bool)
        case "m" | "M":
            return np.asarray(~np.isnat(array), dtype=bool)
        case "O":
            return np.fromiter((_is_present(value) for value in array), dtype=bool, count=len(array))
    return np.broadcast_to(np.True_, len(array))  # of a type that has no nulls: `_taken` knows it by its stride


def _taken(array: NDArray[Any], present: Mask) -> NDArray[Any]:
    """Return the values that are not null; the array itself where its type, and so not a record, says that none is."""
    return array if present.strides == (0,) else array[present]


def _is_present(value: object) -> bool:
    if value is None:
        return False
    try:
        return bool(value == value)  # NaN alone differs from itself
    except Exception:  # a value that cannot be compared with itself is a null of some library
        return False


@dataclass(frozen=True, slots=True)
class Grid:
    """Whole numbers of steps from low to high; every raw value becomes one of them, or null.

    NaN to null, clamp, round to the step by floor(x * k + 0.5), clamp again: rounding is monotone, so that the second
    clamp does the work of both. What is no number is null; infinities and numbers too large for a float are clamped
    like any other.
    """

    low: int
    high: int
    step: Fraction

    @classmethod
    def between(cls, low: Number, high: Number, step: Number | None = None) -> Grid:
        """Declare a grid; bounds are snapped inwards to multiples of the step."""
        declared = between(low, high, step=step)
        assert declared.step is not None
        first, last = declared.steps
        if first == last:
            raise BadParameter(
                "high", high, why="a single value carries no information", fix="use wider bounds or a finer step"
            )
        if max(abs(first), abs(last)) > _MOST_STEPS or declared.step.denominator.bit_length() > 1000:
            why = f"bounds lie at most {_MOST_STEPS} steps from zero, beyond which floats skip steps"
            raise BadParameter("step", step, why=why, fix="use a coarser step or narrower bounds")
        return cls(first, last, declared.step)

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, low: Number, high: Number, step: Number | None) -> Grid:
        """Return the grid of bounds that were snapped to the step before: mechanisms ask for theirs time and again."""
        assert step is not None
        exact = Fraction(step)
        first, last = Fraction(low) / exact, Fraction(high) / exact
        assert first.denominator == last.denominator == 1
        return cls(first.numerator, last.numerator, exact)

    @property
    def width(self) -> int:
        """The distance of the bounds, in steps."""
        return self.high - self.low

    def read(self, values: Iterable[Any]) -> tuple[Steps, Mask]:
        """Return the steps of all values that are not null, and which those are."""
        return self.place(*column(values))

    def integers(self, values: Iterable[Any]) -> Steps:
        """Return the steps of all values that are not null."""
        return self.read(values)[0]

    def place(self, array: NDArray[Any], present: Mask) -> tuple[Steps, Mask]:
        """Do the same for a column that was taken apart before."""
        match array.dtype.kind:
            case "b" | "i" | "u":
                return self._whole(_taken(array, present)), present
            case "f":
                return self._rounded(array[present]), present
            case "O":
                found = [self._one(value) if there else None for value, there in zip(array, present, strict=True)]
                known = np.array([step is not None for step in found], dtype=bool)
                return np.array([step for step in found if step is not None], dtype=np.int64), known
        return np.zeros(0, dtype=np.int64), np.zeros(len(array), dtype=bool)

    def real(self, steps: Fraction | int) -> float:
        """Return so many steps as a float; what no float can hold becomes the largest one."""
        return as_float(steps * self.step)

    def _rounded(self, array: NDArray[Any]) -> Steps:
        """Round floats that are no NaN; infinities, and what overflows on the way, are clamped at the end."""
        out = np.empty(len(array), dtype=np.int64)
        top, bottom = as_float(self.step.denominator), as_float(self.step.numerator)
        with np.errstate(all="ignore"):
            for start in range(0, len(array), _CHUNK):
                floats = array[start : start + _CHUNK].astype(np.float64)
                if top != 1:
                    floats *= top
                if bottom != 1:
                    floats /= bottom
                floats += 0.5
                np.floor(floats, out=floats)
                np.clip(floats, self.low, self.high, out=floats)
                out[start : start + _CHUNK] = floats
        return out

    def _whole(self, array: NDArray[Any]) -> Steps:
        """Round whole numbers without any float: clamp to whole numbers around the bounds, then divide.

        But where floats would round others: pandas makes floats of a column where one value is missing, and that one
        must not decide how the rest are read.
        """
        first, last = math.floor(self.low * self.step), math.ceil(self.high * self.step)
        if max(abs(first), abs(last)) * self.step.denominator >= _SAME_AS_FLOATS:
            return self._rounded(array)
        if array.dtype.kind == "b":
            array = array.astype(np.int64)
        kind = np.iinfo(array.dtype)
        # A bound beyond what the array's type can hold clamps nothing; one on the wrong side of it clamps everything.
        low, high = min(max(first, kind.min), kind.max), min(max(last, kind.min), kind.max)
        if self.step == 1 and (low, high) == (self.low, self.high):  # nothing is left to round or to clamp
            bounded: Steps = np.clip(array, low, high).astype(np.int64, copy=False)
            return bounded
        top, bottom = 2 * self.step.denominator, self.step.numerator
        reach = max(abs(first), abs(last)) * top + bottom
        clamped = np.clip(array, low, high).astype(np.int64 if reach < 1 << 62 else object)
        steps: Steps = np.clip((clamped * top + bottom) // (2 * bottom), self.low, self.high).astype(np.int64)
        return steps

    def _one(self, value: object) -> int | None:
        if isinstance(value, bool | np.bool_ | Integral):
            steps = math.floor(Fraction(int(value)) / self.step + Fraction(1, 2))
            return min(max(steps, self.low), self.high)
        number = as_number(value)
        return None if number is None else int(self._rounded(np.array([number]))[0])


def as_number(value: object) -> float | None:
    """Return a number as a float, too large ones as infinities; what is no number, or none that works, is null."""
    if not isinstance(value, np.bool_ | Real | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        number = math.copysign(math.inf, -1 if value < 0 else 1)
    except Exception:
        return None
    return None if math.isnan(number) else number


def as_float(value: Fraction | int) -> float:
    """Return the nearest float, or the largest one where there is none."""
    try:
        return float(value)
    except OverflowError:
        return 1.7976931348623157e308 if value > 0 else -1.7976931348623157e308


def whole_sum(steps: Steps) -> int:
    """Add integers below 2**62: the low 32 bits and the rest apart, each sum exact for up to 2**31 values."""
    return (int((steps >> 32).sum(dtype=np.int64)) << 32) + int((steps & 0xFFFFFFFF).sum(dtype=np.int64))
