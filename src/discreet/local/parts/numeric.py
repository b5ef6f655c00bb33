"""Numeric protocols: numbers of a declared range and step, of which a sum and a mean are estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.local.estimate import Estimate
from discreet.local.protocol import Protocol

Integers = NDArray[np.int64]
# The finest grid: sums of squares of reports over a billion people still fit 64 bits.
MOST_STEPS = 1 << 16
_LARGEST = Fraction(10**300)


@dataclass(frozen=True, slots=True, eq=False)
class Total(Estimate):
    """The estimated sum of everyone's values; `mean` is the same, over the number of reports."""

    @property
    def mean(self) -> Estimate:
        """The mean with its interval."""
        people = max(1, self.reports)
        plain = Estimate(self.value / people, self.low / people, self.high / people, self.reports, labels=("mean",))
        return replace(plain, rejected=self.rejected, beta=self.beta, protocol=self.protocol, post=self.post)


class Numeric(Protocol):
    """A protocol over the numbers low, low + step, ..., high; others in between are rounded to the nearest of them."""

    __slots__ = ()
    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def steps(self) -> int:
        """How many steps lie between the bounds."""
        return int((self.high - self.low) / self.step)

    def trial_values(self) -> list[Fraction]:
        """Return some values to try: both bounds and some in between."""
        places = sorted({0, 1, self.steps // 3, self.steps // 2, self.steps - 1, self.steps})
        return [self.low + place * self.step for place in places]

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return values as numbers of steps above the low bound; what lies outside the bounds is refused."""
        why = f"a value is a number from {float(self.low):g} to {float(self.high):g}"
        fix = "clamp values to the bounds first, or declare wider ones"
        try:
            found = np.asarray(values)
            if found.dtype == object and all(_number(each) for each in found.reshape(-1)):
                found = found.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise BadParameter("values", type(values).__name__, why=why, fix=fix) from error
        if found.size == 0:
            return np.zeros(0, dtype=np.int64)
        if found.ndim != 1 or found.dtype.kind not in "iuf":
            raise BadParameter("values", f"an array of {found.dtype}", why=why, fix=fix)
        # A value is a secret, and a refusal may be logged: it is not shown. NaN is between no bounds.
        if not bool(((found >= float(self.low)) & (found <= float(self.high))).all()):
            raise BadParameter("values", f"{found.size} values", why=f"{why}, and one of these is not", fix=fix)
        placed = np.rint((found.astype(np.float64) - float(self.low)) / float(self.step))
        return np.clip(placed, 0, self.steps).astype(np.int64)

    def total(self, value: float, spread: float, reports: int, rejected: int, beta: float, post: str | None) -> Total:
        """Return a sum that is given in steps, with bounds so far to either side.

        Any post-processing cuts value and bounds to what n values within the declared bounds can add up to.
        """
        step, base = float(self.step), float(self.low) * reports
        edges = [base + step * each for each in (value, value - spread, value + spread)]
        if post is not None:
            if post not in ("simplex", "norm_sub", "base_cut"):
                why = "sums are cut to their possible range by any of the usual names"
                raise BadParameter("post", post, why=why, fix='use "simplex", or None for raw, unbiased values')
            edges = [float(np.clip(each, base, base + step * self.steps * reports)) for each in edges]
        centre, low, high = (np.array([each]) for each in edges)
        return Total(centre, low, high, reports, rejected, beta, str(self), post, labels=("sum",))

    def placed(self, value: Number) -> int:
        """Return how many steps a value lies above the low bound, refusing one that is no whole number of them."""
        steps = (as_written("value", value) - self.low) / self.step
        if steps.denominator != 1 or not 0 <= steps <= self.steps:
            why = f"values lie on steps of {float(self.step):g} from {float(self.low):g} to {float(self.high):g}"
            raise BadParameter("value", value, why=why, fix="use a value on the grid")
        return int(steps)

    def __str__(self) -> str:
        return f"{self.name}({float(self.low):g} to {float(self.high):g}, epsilon={float(self.epsilon):g})"


def _number(value: object) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def declared(low: Number, high: Number, step: Number | None) -> tuple[Fraction, Fraction, Fraction]:
    """Return bounds and a step, exactly; without a step, the finest that is allowed."""
    least, most = as_written("low", low), as_written("high", high)
    if least >= most:
        raise BadParameter("high", high, why=f"it is not above low={low}", fix="give the smaller bound first")
    each = (most - least) / MOST_STEPS if step is None else as_written("step", step)
    if each <= 0 or ((most - least) / each).denominator != 1 or (most - least) / each > MOST_STEPS:
        why = f"the bounds have to lie a whole number of steps apart, and at most {MOST_STEPS:,}"
        raise BadParameter("step", step, why=why, fix="use a step that divides high - low")
    if max(abs(least), abs(most)) > _LARGEST or each < 1 / _LARGEST:
        why = "values are read as floats, which hold neither so large nor so small numbers"
        raise BadParameter("high", high, why=why, fix="use another unit")
    return least, most, each
