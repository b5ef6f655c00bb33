"""Declarations in words: what was declared of each column, for terminals and refusals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from fractions import Fraction

from discreet.core.column import Column

HEADINGS = ("column", "kind", "declared")

# Enough to recognise a list of keys by, and few enough for one line of a terminal.
_MOST_KEYS, _MOST_LETTERS = 8, 40


def column_words(column: Column) -> str:
    """Say what was declared of a column: 0 to 1,000 in steps of 0.01; A, B, C; true or false."""
    match column.bounds:
        case (Fraction() as low, Fraction() as high):
            assert column.step is not None
            span = f"{_number(low)} to {_number(high)} in steps of {_number(column.step)}"
            words = span if low < high else _number(low)
        case (dt.date() as first, dt.date() as last):
            words = f"{first} to {last}"
        case _:
            free = "true or false" if column.kind == "flag" else "any text"
            words = free if column.keys is None else _listed(column.keys)
    return words if column.nullable else f"{words}, no nulls"


def column_rows(columns: Iterable[Column]) -> list[tuple[str, str, str]]:
    """Return a line for each column, under the headings."""
    return [(column.name or "", column.kind, column_words(column)) for column in columns]


def grid(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Write lines of columns below their headings, aligned."""
    lines = [HEADINGS, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEADINGS))]
    lines.insert(1, tuple("─" * width for width in widths))
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _listed(keys: tuple[str | int, ...]) -> str:
    """Write keys as far as they fit a line, and how many there are where they do not."""
    shown: list[str] = []
    for key in map(str, keys[:_MOST_KEYS]):
        if shown and len(", ".join([*shown, key])) > _MOST_LETTERS:
            break
        shown.append(key if len(key) <= _MOST_LETTERS else f"{key[:_MOST_LETTERS]}...")
    listed = ", ".join(shown)
    return listed if len(shown) == len(keys) else f"{listed}, ... ({len(keys):,} keys)"


def _number(value: Fraction) -> str:
    """Write an exact number: with separators where it is whole, as a decimal where it is one, else as a fraction."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    places = next((places for places in range(1, 19) if 10**places % value.denominator == 0), None)
    if places is None:
        return str(value)
    whole, part = divmod(abs(value.numerator) * 10**places // value.denominator, 10**places)
    return f"{'-' if value < 0 else ''}{whole:,}.{part:0{places}d}"
