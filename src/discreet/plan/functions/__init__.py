"""Functions of expressions: the name of each, the rule that types and writes it, and what it takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass
from discreet.plan.expressions import Call
from discreet.plan.functions import choices, dates, logic, numbers, texts
from discreet.plan.typed_expression import Made


@dataclass(frozen=True, slots=True)
class FunctionRule:
    """A rule, how many arguments it takes (None: as many as there are), and of which types its parameters are."""

    rule: Callable[..., Made]
    least: int = 1
    most: int | None = 1
    parameters: tuple[type, ...] = ()

    def check(self, node: Call) -> None:
        """Refuse a call with the wrong number of arguments or the wrong parameters, as a forged record may have."""
        given, most = len(node.of), self.most or len(node.of)
        if not self.least <= given <= most:
            why = f"it takes {self.least}" if self.least == self.most else f"it takes at least {self.least}"
            raise BadParameter(f"arguments of {node.function}", given, why=why, fix="call the method of the column")
        right = len(node.parameters) == len(self.parameters) and all(
            isinstance(value, kind) for value, kind in zip(node.parameters, self.parameters, strict=True)
        )
        if not right or any(isinstance(value, Fraction) and value <= 0 for value in node.parameters[: self._positive]):
            why = f"{node.function} takes {len(self.parameters)}, each of its own kind"
            raise BadParameter("parameters", node.parameters, why=why, fix="call the method of the column")

    @property
    def _positive(self) -> int:
        return 1 if self.rule is numbers.rounded else 0


FUNCTIONS: dict[str, FunctionRule] = {
    "abs": FunctionRule(numbers.absolute),
    "as_number": FunctionRule(numbers.as_number),
    "clip": FunctionRule(numbers.clipped, parameters=(object, object)),
    "day": FunctionRule(dates.date_part),
    "fill_null": FunctionRule(choices.fill_null, 2, 2),
    "greatest": FunctionRule(numbers.extreme, 2, None),
    "is_in": FunctionRule(logic.is_in, 2, None),
    "is_null": FunctionRule(choices.is_null),
    "least": FunctionRule(numbers.extreme, 2, None),
    "length": FunctionRule(texts.length),
    "month": FunctionRule(dates.date_part),
    "round": FunctionRule(numbers.rounded, parameters=(Fraction,)),
    "starts_with": FunctionRule(texts.starts_with, parameters=(str,)),
    "weekday": FunctionRule(dates.weekday),
    "year": FunctionRule(dates.date_part),
}


def function(node: Call) -> FunctionRule:
    """Return what a call calls, or the nearest names."""
    found = FUNCTIONS.get(node.function)
    if found is None:
        raise UnknownName("function", node.function, FUNCTIONS)
    found.check(node)
    return found
