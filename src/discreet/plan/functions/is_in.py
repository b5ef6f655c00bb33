"""Whether a value is one of a list of constants."""

from __future__ import annotations

from discreet.core.errors import show
from discreet.plan.expressions import Call, Compare
from discreet.plan.function import Function
from discreet.plan.refusals import IllTyped
from discreet.plan.rules.logic import beside, check_pair, threshold
from discreet.plan.typed_expression import Made, Typed, flag, in_common


def is_in(node: Call, value: Typed, *listed: Typed) -> Made:
    """Type and write membership in a list of constants."""
    value, *others = in_common((value, *listed))
    for other in others:
        if other.literal is None:
            why = f"{show(other.expression)} is not a constant"
            raise IllTyped(node, why=why, fix="compare columns with ==, joined by |")
        check_pair(Compare("==", value.expression, other.expression), value, other)
    if value.kind in ("number", "date"):
        whole = value.whole
        thresholds = [threshold(value, other) for other in others]
        steps = {int(each) for each in thresholds if each.denominator == 1 and whole.low <= each <= whole.high}
        found = [beside(whole, each) for each in sorted(steps)] or [beside(whole, whole.high + 1)]
    else:
        found = list(dict.fromkeys(other.sql for other in others))
    return flag(f"({value.sql} IN ({', '.join(found)}))", nullable=value.nullable)


FUNCTION = Function(is_in, least=2, most=None)
