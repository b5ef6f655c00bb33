"""Tallies: the exact integers a question needs, each a sum over rows of a small non-negative integer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.expressions import Expression
from discreet.plan.keys import Keys
from discreet.plan.nodes import Plan
from discreet.plan.types import type_of

Kind = Literal["rows", "people", "present", "sum", "product"]

_EXPRESSIONS: dict[str, tuple[int, ...]] = {
    "rows": (0,),
    "people": (0,),
    "present": (1, 2),
    "sum": (1,),
    "product": (2,),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """One sum over the rows of a group, of a value v from 0 to `most`; rows where an expression is null add nothing.

    With u = x - low, in steps, w = high - low and y = 2u - w:

    - rows: v = 1;
    - people: each person counts 1 (each row, where rows are protected);
    - present: v = 1 where no expression is null;
    - sum: v = u;
    - product: v = y1 * y2 + w1 * w2, for two expressions or the same one twice.
    """

    kind: Kind
    of: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownName("kind of tally", str(self.kind), get_args(Kind))
        if len(self.of) not in _EXPRESSIONS[self.kind]:
            why = f"it takes {' or '.join(map(str, _EXPRESSIONS[self.kind]))} expressions"
            raise BadParameter(self.kind, len(self.of), why=why, fix="pass as many")

    def same_as(self, other: Tally) -> bool:
        """Say whether two tallies are written alike."""
        pairs = zip(self.of, other.of, strict=False)
        alike = self.kind == other.kind and len(self.of) == len(other.of)
        return alike and all(one.same_as(two) for one, two in pairs)

    def most(self, columns: Mapping[str, Column]) -> int:
        """Return the most that one row adds."""
        widths = [width(each, columns) for each in self.of]
        match self.kind:
            case "sum":
                return widths[0]
            case "product":
                return 2 * widths[0] * widths[1]
        return 1


@dataclass(frozen=True, slots=True, eq=False)
class TallyQuery:
    """Which tallies are wanted for each group of a plan's rows."""

    source: Plan
    keys: Keys
    tallies: tuple[Tally, ...]

    def __post_init__(self) -> None:
        if not self.tallies:
            raise BadParameter("tallies", (), why="nothing is asked", fix="ask at least for Tally('rows')")


def width(expression: Expression, columns: Mapping[str, Column]) -> int:
    """Return how many steps lie between the bounds of an expression; 0 where only its presence can matter."""
    column = type_of(expression, columns)
    if column.kind in ("text", "category"):
        return 0
    low, high = column.steps
    return high - low
