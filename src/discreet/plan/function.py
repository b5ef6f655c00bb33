"""Functions of expressions: a folder of rules, one file for each, with the words that mean it in SQL."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.plan.expressions import FUNCTIONS as FUNCTIONS
from discreet.plan.expressions import Call, lift

if TYPE_CHECKING:
    from discreet.plan.typed_expression import Made


@dataclass(frozen=True, slots=True)
class Function:
    """How a function is typed and written, what it takes, and how it is called.

    `rule` derives the type and the SQL of a call. It takes `least` to `most` expressions (None: as many as there are)
    and parameters that are fixed for all rows, of these types. `words` are its names in SQL, with the same arguments in
    the same order; `parts` what EXTRACT calls it.

    Guarantee: what a rule writes raises for no row, and is null or within the bounds and on the step of its type.
    """

    rule: Callable[..., Made]
    least: int = 1
    most: int | None = 1
    parameters: tuple[type, ...] = ()
    words: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    positive: bool = False

    def check(self, node: Call) -> None:
        """Refuse a call with the wrong number of arguments or the wrong parameters, as a forged record may have."""
        given, most = len(node.of), self.most or len(node.of)
        if not self.least <= given <= most:
            why = f"it takes {self.least}" if self.least == self.most else f"it takes at least {self.least}"
            raise BadParameter(f"arguments of {node.function}", given, why=why, fix="call the method of the column")
        right = len(node.parameters) == len(self.parameters) and all(
            isinstance(value, kind) for value, kind in zip(node.parameters, self.parameters, strict=True)
        )
        if not right or (self.positive and any(isinstance(each, Fraction) and each <= 0 for each in node.parameters)):
            why = f"{node.function} takes {len(self.parameters)}, each of its own kind"
            raise BadParameter("parameters", node.parameters, why=why, fix="call the method of the column")

    def call(self, name: str, given: tuple[Any, ...]) -> Call:
        """Call it with expressions and constants; what comes last are its parameters."""
        split = len(given) - len(self.parameters)
        # A constant settles as it does in a column's schema; what is none is refused by `check`.
        fixed = tuple(getattr(lift(each), "value", None) for each in given[split:]) if split > 0 else ()
        made = Call(name, tuple(lift(each) for each in given[:split] or given), fixed)
        self.check(made)
        return made


@cache
def function(name: str) -> Function:
    """Return the function of that name, or refuse it with the nearest names."""
    found = FUNCTIONS[name]
    assert isinstance(found, Function)
    return found
