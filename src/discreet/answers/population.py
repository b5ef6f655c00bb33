"""Populations: an answer with the intervals of what the rows were drawn from, and notes of what these do not hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from discreet.answers.column import AnswerColumn
from discreet.answers.interval import LEVEL
from discreet.answers.point import point_of
from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    Plain,
    PublicValue,
    Quantity,
    RatioQuantity,
    is_whole,
)
from discreet.answers.sampling_interval import sampled
from discreet.core.value import replace

# An answer; named so because answers import this module.
Shown = Any

_HOLDS = (
    "intervals are those of a population from which rows, or people with all of their rows, were drawn independently: "
    "they hold sampling and noise, and nothing of who was never sampled, of rows over a person's limit, of values "
    "clamped to their bounds"
)


def of_population(answer: Shown) -> Shown:
    """Return the answer with intervals of sampling plus noise, which are fixed from here on."""
    columns = tuple(_column(column, answer.columns) for column in answer.columns)
    none = [
        new.name
        for old, new in zip(answer.columns, columns, strict=True)
        if any(_without(one, other) for one, other in zip(old.quantities, new.quantities, strict=True))
    ]
    notes = [*answer.notes, _HOLDS]
    if none:
        notes.append(f"{', '.join(none)}: no interval of sampling can be told (of counts, sums, means and variances)")
    wide = [column.name for column in answer.columns if column.kind == "mean" and not _spreads(column, answer.columns)]
    if wide:
        notes.append(f"{', '.join(wide)}: intervals suppose the widest spread; ask for the variance too to narrow them")
    return replace(answer, columns=columns, notes=tuple(notes), sampling=True)


def _without(one: Quantity, other: Quantity) -> bool:
    return isinstance(other, BracketedValue) and other.low is None and not isinstance(one, PublicValue)


def _column(column: AnswerColumn, others: Sequence[AnswerColumn]) -> AnswerColumn:
    spreads = _spreads(column, others) or [None] * len(column.quantities)
    found = [_bracket(quantity, column, spread) for quantity, spread in zip(column.quantities, spreads, strict=True)]
    return replace(column, quantities=tuple(found))


def _spreads(column: AnswerColumn, others: Sequence[AnswerColumn]) -> list[Quantity | None]:
    """Return the variances of what a column has the means of, if they were asked for in the same question."""
    if column.kind != "mean" or column.sampled is None:
        return []
    about = column.words.removeprefix("mean of ")
    for other in others:
        if (other.kind, other.words) in (("variance", f"variance of {about}"), ("std", f"std of {about}")):
            return [_variance(quantity) for quantity in other.quantities]
    return []


def _variance(quantity: Quantity) -> Quantity | None:
    if isinstance(quantity, FunctionQuantity) and quantity.name == "root":
        return quantity.parts[0]
    return quantity if isinstance(quantity, FunctionQuantity) else None


def _bracket(quantity: Quantity, column: AnswerColumn, spread: Quantity | None) -> Quantity:
    value = point_of(quantity)
    if isinstance(value, str):
        return quantity
    ends = sampled(quantity, column.sampled, LEVEL, spread)
    if ends is None:
        return quantity if isinstance(quantity, PublicValue) else BracketedValue(value, None, None, LEVEL)
    low, high = (_plain(end) for end in ends)
    if is_whole(quantity) and low is not None and high is not None:
        low, high = (turn(end) if math.isfinite(end) else end for turn, end in ((math.floor, low), (math.ceil, high)))
    if value is not None and low is not None and high is not None:
        if isinstance(quantity, RatioQuantity | FunctionQuantity) and _everything(quantity, low, high):
            value = None
        else:
            low, high = min(low, value), max(high, value)
    return BracketedValue(value, low, high, LEVEL)


def _everything(quantity: RatioQuantity | FunctionQuantity, low: Plain, high: Plain) -> bool:
    least = -math.inf if quantity.low is None else float(quantity.low)
    most = math.inf if quantity.high is None else float(quantity.high)
    return low <= least and high >= most


def _plain(end: Plain | str | None) -> Plain | None:
    return end if isinstance(end, int | float) and not math.isnan(end) else None
