"""Key ranges: which values of a column the conditions of a plan let through, by reasoning on the plan alone.

A condition is read in both directions, as SQL has three truths: where it may be true, and where it may be false. What
is not understood lets everything through, so that a range only ever leaves out what no row can have.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.core.column import Column
from discreet.core.schema import Table
from discreet.plan.expressions import Call, Compare, Expression, Literal, Logic, Name
from discreet.plan.nodes import (
    Datum,
    Derive,
    Filter,
    Join,
    MarkJoin,
    PersonJoin,
    Plan,
    Project,
    added,
    columns_of,
    stored,
)

# Steps or days from the first to the last, each run after the one before; of all else the values; None is everything.
Runs = tuple[tuple[int, int], ...]
Possible = Runs | frozenset[Datum] | None

_EPOCH = dt.date(1970, 1, 1)
Unsaid = frozenset[Fraction]
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def possible(
    plan: Plan, name: str, column: Column, tables: Mapping[str, Table], unsaid: Unsaid = frozenset()
) -> Possible:
    """Return the values that a column of a plan may have in rows that pass its conditions.

    Comparisons with numbers that are `unsaid` are not understood.

    Guarantee: a value that is left out is that of no row, whatever the tables hold; nulls are no values. It is a
    function of the plan and of what was declared.
    """
    match plan:
        case Filter(source, predicate):
            found = _passing(predicate, Name(name), column, True, unsaid)
            return _both(possible(source, name, column, tables, unsaid), found)
        case Derive(source, made, expression) if made == name:
            return _derived(source, expression, column, tables, unsaid)
        case Derive(source):
            return possible(source, name, column, tables, unsaid)
        case Project(source, chosen):
            return possible(source, dict(chosen)[name], column, tables, unsaid)
        case Join(source, joined, on) if name not in {each.name for each in added(joined, on)}:
            return possible(source, name, column, tables, unsaid)
        case PersonJoin(one, other, columns=taken):
            theirs = dict(taken)
            if name in theirs:
                return possible(other, theirs[name], column, tables, unsaid)
            return possible(one, name, column, tables, unsaid)
        case MarkJoin(one, name=made) if made != name:
            return possible(one, name, column, tables, unsaid)
    return None


def passing(values: Sequence[Datum], found: Possible) -> tuple[Datum, ...]:
    """Return the values, as a column keeps them, that are possible, in their order."""
    if found is None:
        return tuple(values)
    if isinstance(found, frozenset):
        return tuple(value for value in values if value in found)
    return tuple(v for v in values if isinstance(v, int) and any(low <= v <= high for low, high in found))


def _derived(
    source: Plan, expression: Expression, column: Column, tables: Mapping[str, Table], unsaid: Unsaid
) -> Possible:
    """Return what is possible for a computed column: as its column's, the years of its days, or as conditions say."""
    match expression:
        case Name(name=name):
            return possible(source, name, column, tables, unsaid)
        case Call(function="year", of=(Name(name=name),)):
            days = possible(source, name, columns_of(source, tables)[name], tables, unsaid)
            if isinstance(days, tuple):
                return _joined([(_year(low), _year(high)) for low, high in days])
    return _said(source, expression, column, unsaid)


def _said(plan: Plan, expression: Expression, column: Column, unsaid: Unsaid) -> Possible:
    """Return what conditions say of an expression that they compute themselves, as in SUBSTRING(phone, 1, 2) IN (...).

    A column keeps its name from where it is made on until a projection renames it; below that nothing is looked at.
    """
    match plan:
        case Filter(source, predicate):
            found = _passing(predicate, expression, column, True, unsaid)
            return _both(_said(source, expression, column, unsaid), found)
        case Derive(source) | Join(source):
            return _said(source, expression, column, unsaid)
        case PersonJoin(one) | MarkJoin(one):
            return _said(one, expression, column, unsaid)
    return None


def _year(days: int) -> int:
    return (_EPOCH + dt.timedelta(days)).year


def _passing(predicate: Expression, of: Expression, column: Column, truth: bool, unsaid: Unsaid) -> Possible:
    """Return the values of a column, or of an expression, for which a condition may have a truth."""
    match predicate:
        case Logic(word="not", of=(inner,)):
            return _passing(inner, of, column, not truth, unsaid)
        case Logic(word=word, of=(one, other)):
            first, second = (_passing(each, of, column, truth, unsaid) for each in (one, other))
            return _both(first, second) if (word == "and") == truth else _either(first, second)
        case Compare(left=left, right=right) if _is_unsaid(left, unsaid) or _is_unsaid(right, unsaid):
            return None
        case Compare(order=order, left=found, right=Literal() as constant) if of.same_as(found):
            return _compared(order if truth else _OPPOSITE[order], constant, column)
        case Compare(order=order, left=Literal() as constant, right=found) if of.same_as(found):
            turned = _TURNED[order]
            return _compared(turned if truth else _OPPOSITE[turned], constant, column)
        case Call(function="is_in", of=(found, *listed)) if of.same_as(found):
            if any(_is_unsaid(each, unsaid) for each in listed):
                return None
            return _listed(listed, column, truth)
        case Call(function="is_null", of=(found,)) if truth and of.same_as(found):
            return _none(column)
        case Literal(value=bool() as value):
            return None if value == truth else _none(column)
        case Name() if column.kind == "flag" and of.same_as(predicate):
            return frozenset({truth})
    return None


def _is_unsaid(expression: Expression, unsaid: Unsaid) -> bool:
    return isinstance(expression, Literal) and isinstance(expression.value, Fraction) and expression.value in unsaid


def _listed(listed: Sequence[Expression], column: Column, truth: bool) -> Possible:
    parts = [_compared("==" if truth else "!=", each, column) for each in listed if isinstance(each, Literal)]
    if len(parts) < len(listed):
        return None
    found = parts[0]
    for part in parts[1:]:
        found = _either(found, part) if truth else _both(found, part)
    return found


def _compared(order: str, constant: Literal, column: Column) -> Possible:
    """Return the values of a column that compare so with a constant."""
    if column.kind in ("number", "date"):
        return _beside(order, constant, column)
    value = constant.value
    whole = value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
    same = frozenset({whole} if isinstance(whole, int | str) else ())  # what is no key is equal to none
    if order == "==":
        return same
    known: Sequence[Datum] | None = (False, True) if column.kind == "flag" else column.keys
    return None if order != "!=" or known is None else frozenset(known) - same


def _beside(order: str, constant: Literal, column: Column) -> Possible:
    low, high = column.steps
    if column.kind == "number":
        if not isinstance(constant.value, Fraction):
            return None
        exact = constant.value / (column.step or 1)
    else:
        day = stored(Column(None, "date", bounds=column.bounds), constant.value)
        if not isinstance(day, int):
            return None
        exact = Fraction(day)
    below, above = math.ceil(exact) - 1, math.floor(exact) + 1
    match order:
        case "==":
            return _within([(below + 1, above - 1)], low, high)
        case "!=":
            return _within([(low, below), (above, high)], low, high)
        case "<":
            return _within([(low, below)], low, high)
        case "<=":
            return _within([(low, above - 1)], low, high)
        case ">":
            return _within([(above, high)], low, high)
    return _within([(below + 1, high)], low, high)


def _within(runs: Sequence[tuple[int, int]], low: int, high: int) -> Runs:
    return _joined([(max(first, low), min(last, high)) for first, last in runs])


def _joined(runs: Sequence[tuple[int, int]]) -> Runs:
    """Return runs in order, those that meet as one, those that hold nothing left out."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(run for run in runs if run[0] <= run[1]):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)


def _both(one: Possible, other: Possible) -> Possible:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, frozenset) or isinstance(other, frozenset):
        assert isinstance(one, frozenset)
        assert isinstance(other, frozenset)
        return one & other
    return _joined([(max(a, c), min(b, d)) for a, b in one for c, d in other])


def _either(one: Possible, other: Possible) -> Possible:
    if one is None or other is None:
        return None
    if isinstance(one, frozenset) or isinstance(other, frozenset):
        assert isinstance(one, frozenset)
        assert isinstance(other, frozenset)
        return one | other
    return _joined([*one, *other])


def _none(column: Column) -> Possible:
    return () if column.kind in ("number", "date") else frozenset()
