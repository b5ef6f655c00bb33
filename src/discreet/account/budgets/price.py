"""Price: what a question may cost, in epsilon, in epsilon and delta, or in rho."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.account.budgets.conversion import zcdp_budget
from discreet.account.budgets.sums import RenyiSum
from discreet.account.budgets.union import UnionFilter
from discreet.account.numeric.rounding import up
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written, typed
from discreet.core.value import dataclass, fields

# Below, the squares of noise are wider than floats tell, and no figure of an answer could be written.
_LEAST = Fraction(1, 10**100)
# Above, noise is narrower than floats tell; it has long been no noise at all.
_MOST = Fraction(10**100)
_FIX = "use epsilon=0.5, or epsilon=0.5 with delta=1e-9, or rho=0.01"


@dataclass(frozen=True, slots=True)
class Price:
    """What one question may cost.

    `epsilon` alone buys Laplace noise, `rho` Gaussian noise, `epsilon` and `delta` the better of the two. A `delta` is
    also what selects keys that were not declared.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None

    @classmethod
    def of(cls, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Price:
        """Read a price as a person wrote it: 0.1 is one tenth."""
        if (epsilon is None) == (rho is None):
            name, given = ("epsilon", None) if epsilon is None else ("epsilon, rho", (typed(epsilon), typed(rho)))
            why = "a question is paid in epsilon or in rho, in exactly one of them"
            raise BadParameter(name, given, why=why, fix=_FIX)
        slack = Fraction(0) if delta is None else _written("delta", delta)
        if not 0 <= slack < 1:
            why, fix = "it is the probability of failure", "use one far below one over the number of people"
            raise BadParameter("delta", typed(delta), why=why, fix=fix)
        name, paid = ("epsilon", epsilon) if epsilon is not None else ("rho", rho)
        amount = _written(name, paid)
        if amount <= 0:
            raise BadParameter(name, typed(amount), why="a free answer would be all noise", fix=_FIX)
        if amount < _LEAST:
            raise BadParameter(name, typed(amount), why="an answer for less than 1e-100 would be all noise", fix=_FIX)
        if amount > _MOST:
            raise BadParameter(name, typed(amount), why="an answer for more than 1e100 would have no noise", fix=_FIX)
        return cls(amount, slack, None) if epsilon is not None else cls(None, slack, amount)

    def share(self, part: Fraction) -> Price:
        """Return a part of the price; delta is not split here, since few aggregates use any."""
        return Price(_times(self.epsilon, part), self.delta, _times(self.rho, part))

    def concentrated(self) -> Price:
        """Return the rho that stays within epsilon and delta (Canonne, Kamath, Steinke 2020): Gaussian noise."""
        assert self.epsilon is not None
        return Price(None, Fraction(0), Fraction(zcdp_budget(self.epsilon, self.delta)))

    def outright(self) -> Price:
        """Return the rho that an account of just this epsilon and delta holds, so it can be spent in one go.

        An account keeps a part of its delta for parts that need one, and so holds a little less than `concentrated`.
        """
        assert self.epsilon is not None
        orders = [each for each in UnionFilter.of(self.epsilon, self.delta).sums if isinstance(each, RenyiSum)]
        return Price(None, Fraction(0), Fraction(-up(-max(each.room / Fraction(each.alpha) for each in orders))))

    @property
    def selecting(self) -> Fraction:
        """The epsilon a mechanism that chooses may use: rho buys sqrt(8 rho), by bounded range."""
        if self.epsilon is not None:
            return self.epsilon
        assert self.rho is not None
        return root_below(8 * self.rho)

    def noise(self) -> dict[str, Any]:
        """Return the price as the parameter of a mechanism that adds noise."""
        return {"epsilon": self.epsilon} if self.epsilon is not None else {"rho": self.rho}

    def __str__(self) -> str:
        amount = f"epsilon {_short(self.epsilon)}" if self.epsilon is not None else f"rho {_short(self.rho)}"
        return f"{amount}, delta {_short(self.delta)}" if self.delta else amount

    def record(self) -> dict[str, Any]:
        """Return the price as plain JSON values, exact."""
        return {name: None if (value := getattr(self, name)) is None else str(value) for name in _FIELDS}

    @classmethod
    def from_record(cls, record: object) -> Price:
        """Read what `record` returned."""
        found = records.fields("price", record, _FIELDS)
        epsilon, delta, rho = (None if found[name] is None else Fraction(found[name]) for name in _FIELDS)
        return cls(epsilon, delta or Fraction(0), rho)


_FIELDS = tuple(field.name for field in fields(Price))


def root_below(square: Fraction) -> Fraction:
    """Return a rational just below the square root: whole multiples of 2**-40, rounded down."""
    return Fraction(math.isqrt((square.numerator << 80) // square.denominator), 1 << 40)


def _written(name: str, given: Number | None) -> Fraction:
    """Return an amount exactly as it was written; an infinite one promises nothing."""
    if isinstance(given, float) and not math.isfinite(given):
        raise BadParameter(name, given, why="a price is a finite number", fix=_FIX)
    return as_written(name, given)


def _times(amount: Fraction | None, part: Fraction) -> Fraction | None:
    return None if amount is None else amount * part


def _short(amount: Fraction | None) -> str:
    return f"{float(amount):.6g}" if amount is not None else ""
