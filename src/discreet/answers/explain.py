"""Answers in plain words: what was protected, at what price, what the bounds did, how wide and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.answers.digits import DecimalPlaces, half_width
from discreet.answers.text_table import cut_words

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.answers.column import AnswerColumn

# An answer; named so because answers import this module.
Shown = Any


SAMPLING = "intervals contain the value of the population with probability 95% over sampling and noise"


def summary(answer: Shown) -> str:
    """Return one line: the level, the price, the receipt and what remains."""
    parts = [SAMPLING if answer.sampling else "intervals contain the exact value with probability at least 95%"]
    if answer.asked:
        parts.append("paid " + _asked(answer))
    if answer.receipt and "sequence" in answer.receipt:
        parts.append(f"receipt {answer.receipt['sequence']}")
    if answer.cut is not None:
        parts.append(cut_words(answer))
    if answer.remaining:
        parts.append(f"left: {answer.remaining}")
    return "; ".join(parts)


def explain(answer: Shown) -> str:
    """Return the explanation, paragraph by paragraph."""
    parts = [
        _protected(answer),
        _price(answer),
        _bounds(answer),
        *(_width(column, sampling=answer.sampling) for column in answer.columns),
        _free(answer),
    ]
    return "\n\n".join(part for part in parts if part)


def _protected(answer: Shown) -> str:
    unit = answer.unit or "one unit of the table"
    return (
        f"Protected: {unit}. Whatever is done with these numbers, they would have come out nearly as likely "
        "had that one been otherwise."
    )


def _price(answer: Shown) -> str:
    if not answer.asked and answer.loss is None:
        return "Price: free; this was computed from paid answers."
    lines = [f"Price: {_asked(answer) or 'as the receipt says'}."]
    epsilon = answer.asked.get("epsilon")
    factor = None if epsilon is None else _factor(epsilon)
    if factor is not None:
        but = ", except with probability delta." if "delta" in answer.asked else "."
        lines.append(
            f"An epsilon of {_number(epsilon)} means that no outcome is more than {factor:.3g} times as likely with "
            f"any one of them as without{but}"
        )
    if answer.loss is not None:
        lines.append(f"What happened: {_happened(answer.loss)}.")
    if answer.remaining:
        lines.append(f"Left: {answer.remaining}.")
    if answer.receipt:
        lines.append(_receipt(answer.receipt))
    return " ".join(lines)


def _bounds(answer: Shown) -> str:
    notes = [*answer.notes, *([cut_words(answer)] if answer.cut is not None else ())]
    return f"What the bounds did: {'; '.join(notes)}." if notes else ""


def _width(column: AnswerColumn, *, sampling: bool) -> str:
    words = column.words or column.name
    how = ", ".join(part for part in (column.mechanism, column.noise, column.price) if part)
    lines = [f"{column.name} ({words}{': ' + how if how else ''})."]
    widths = [half for cell in column.cells if (half := half_width(cell)) is not None]
    finite = [width for width in widths if math.isfinite(width)]
    if finite:
        digits = DecimalPlaces.of(column.cells, column.kind)
        narrow, wide = (digits.number(end, math.ceil) for end in (min(finite), max(finite)))
        reach = narrow if narrow == wide else f"{narrow} to {wide}"
        what = "95% the value of the population" if sampling else "at least 95% the exact value"
        lines.append(f"With probability {what} lies within {reach} of the middle of its interval.")
    if len(finite) < len(widths):
        lines.append("If the noise may hide whether a group is empty, the interval is unbounded.")
    if any(cell.value is None and cell.low is not None for cell in column.cells):
        lines.append("Where the noise leaves everything possible, there is no value: it is shown as a question mark.")
    lines.append(_sampled(widths) if sampling else _why(column))
    return " ".join(line for line in lines if line)


def _sampled(widths: list[float]) -> str:
    return "The width comes from sampling and from noise." if widths else "No interval of sampling can be told of it."


def _why(column: AnswerColumn) -> str:
    match column.kind:
        case "count" | "sum" | "histogram" | "people" | "cdf":
            return "The width comes from the noise only: it is the same for small and large groups."
        case "mean" | "variance" | "std" | "covariance" | "correlation":
            return "The noise is divided by the size of the group, so small groups have wide intervals."
        case "quantile" | "median" | "min" | "max":
            return "The interval was paid for with the value: it is narrow where many values are close together."
        case "derived":
            return "It was computed from noisy numbers; noise that several of them share is counted once."
    return ""


def _free(answer: Shown) -> str:
    first = f"answer[{answer.columns[0].name!r}]"
    adds = answer.columns[0].kind in ("count", "sum", "histogram", "people")
    share = f"{first} / {first}.total()" if answer.keys and adds else f"{first} * 2"
    return (
        f"Free from here on: adding, dividing, comparing, rounding and clipping ({share}), export and drawing; "
        "the intervals are carried along. Asking the very same question again is free too: the same answer is returned."
    )


def _asked(answer: Shown) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in answer.asked.items())


def _number(text: str) -> str:
    """Write an exact number, such as 3/2 or 1/1000000000, as people do."""
    try:
        value = float(Fraction(text))
        return f"{value:,.0f}" if value == int(value) else f"{value:.6g}"
    except (ValueError, OverflowError, ZeroDivisionError):
        return text


def _happened(loss: PrivacyLoss) -> str:
    """Write the parts of a loss: 2 times DiscreteLaplace, scale 10, sensitivity 3."""
    texts = []
    for part, times in loss.parts:
        given = {name: value for name, value in part.parameters().items() if name != "relation"}
        shown = ", ".join(f"{name} {_number(str(value))}" for name, value in given.items() if name != "among")
        often = f"{times} times " if times > 1 else ""
        texts.append(f"{often}{type(part).__name__}" + (f" ({shown})" if shown else ""))
    return ", ".join(texts)


def _receipt(receipt: Mapping[str, Any]) -> str:
    """Say which entry of the ledger paid, and whether it was this time."""
    known = {name: value for name, value in receipt.items() if name not in ("key", "replayed", "attested")}
    text = "Receipt: " + ", ".join(f"{name} {value}" for name, value in known.items()) + "."
    return f"{text} This time it was replayed for free." if receipt.get("replayed") else text


def _factor(epsilon: str) -> float | None:
    try:
        return math.exp(float(Fraction(epsilon)))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
