"""Drawn columns: values for codes, as arrays that other libraries take over without going through them one by one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.column import Column
from discreet.noise.uniform import uniform

Codes = NDArray[np.int64]
Kind = Literal["whole", "number", "date", "flag", "key"]

_EPOCH = dt.date(1970, 1, 1)
# Integers beyond this are given as floating-point ones: no column of another library would hold them exactly.
_WIDE = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class SampledColumn:
    """One column of a sample. Dates are days since 1970-01-01, and keys are places among `keys`."""

    kind: Kind
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    keys: tuple[str | int, ...] = ()

    def listed(self) -> list[Any]:
        """Return the column as Python's own values, None where it is null."""
        plain: list[Any]
        match self.kind:
            case "key":
                plain = [self.keys[place] for place in self.values.tolist()]
            case "date":
                plain = [_EPOCH + dt.timedelta(day) for day in self.values.tolist()]
            case _:
                plain = self.values.tolist()
        if self.missing is None:
            return plain
        return [None if gone else value for value, gone in zip(plain, self.missing.tolist(), strict=True)]


def decoded(column: Column, starts: Sequence[int] | None, codes: Codes) -> SampledColumn:
    """Return values for the codes of a column; `starts` are the first steps of its bins, where it has bins."""
    missing = None
    if column.nullable:
        values = len(starts) if starts is not None else 2 if column.kind == "flag" else len(column.keys or ())
        missing = codes == values
        codes = np.where(missing, 0, codes)
    if column.kind == "flag":
        return SampledColumn("flag", codes == 1, missing)
    if starts is None:
        keys = column.keys or ()
        if all(isinstance(key, int) and abs(key) < _WIDE for key in keys):
            return SampledColumn("whole", np.array(keys, np.int64)[codes], missing)
        return SampledColumn("key", codes, missing, keys)
    steps = _within(starts, column.steps[1] + 1, codes)
    if column.kind == "date":
        return SampledColumn("date", steps, missing)
    step = column.step or Fraction(1)
    if step.denominator == 1 and steps.dtype != object and max(map(abs, column.steps)) * step < _WIDE:
        return SampledColumn("whole", steps * step.numerator, missing)
    # One division rounds once, so three tenths are 0.3 and not a little more.
    return SampledColumn("number", (steps.astype(np.float64) * step.numerator) / step.denominator, missing)


def _within(starts: Sequence[int], end: int, codes: Codes) -> NDArray[Any]:
    """Draw a step of each code's bin, every one of them with the same probability."""
    kind = np.int64 if max(abs(starts[0]), abs(end)) < _WIDE else object
    first = np.array(starts, kind)
    width = np.array([*starts[1:], end], kind) - first
    found: NDArray[Any] = first[codes]
    wide = width[codes]
    for each in sorted({*width.tolist()}):
        here = np.flatnonzero(wide == each)
        if each > 1 and len(here):
            found[here] += np.asarray(uniform(int(each), len(here)), kind)
    return found
