"""Tables in words: whom they protect, what their columns may hold, what a question has done to them; all declared."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.curator.words import unit_words
from discreet.plan.expressions import Arithmetic, Compare, Expression, Logic
from discreet.plan.nodes import Derive, Filter, Join, PersonJoin, Plan, Project, Scan, Union, tables_of

if TYPE_CHECKING:
    from discreet.core.schema import Table
    from discreet.curator.subject import Subject
    from discreet.plan.keys import Keys

HEADINGS = ("column", "kind", "declared")

# Enough to recognise a list of keys by, and few enough for one line of a terminal; a step is cut where it is long.
_MOST_KEYS, _MOST_LETTERS, _LONG_STEP = 8, 40, 160


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


def table_words(table: Table) -> list[str]:
    """Say of a table its name, its declared size if it has one, and whom it protects."""
    name = table.name if table.rows is None else f"{table.name}, {_many(table.rows, 'row')} declared"
    return [name, f"protects {unit_words(table.unit)}"]


def grid(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Write lines of columns below their headings, aligned."""
    lines = [HEADINGS, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEADINGS))]
    lines.insert(1, tuple("─" * width for width in widths))
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def text(query: Subject) -> str:
    """Write a question in the making: its tables, its columns as they are now, and the steps that led here."""
    lines = [words for table in query.tables.values() for words in table_words(table)]
    lines += ["", *grid(column_rows(_named(query)))]
    steps = step_words(query.plan, query.keys)
    return "\n".join([*lines, "", *steps] if steps else lines)


def html(query: Subject) -> str:
    """Write the same as one self-contained table, in the style of answers; names and keys are escaped."""
    from discreet.curator._html import _STYLE

    head = "".join(f'<th scope="col">{heading}</th>' for heading in HEADINGS)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{kind}</td><td>{escape(words)}</td></tr>'
        for name, kind, words in column_rows(_named(query))
    )
    above = "".join(
        f"<div><b>{escape(name)}</b> <small>{escape(protects)}</small></div>"
        for name, protects in map(table_words, query.tables.values())
    )
    below = "".join(f"<p>{escape(step)}</p>" for step in step_words(query.plan, query.keys))
    return (
        f'<div class="discreet-answer"><style>{_STYLE}</style>{above}<table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}</div>"
    )


def step_words(plan: Plan, keys: Keys | None = None) -> list[str]:
    """Say what a question does to the rows of its table, step by step, in the order in which it was written."""
    steps = [*_steps(plan)]
    if keys is not None:
        selected = [key.name for key in keys.columns if key.values is None] if keys.selected else []
        found = f" (keys of {', '.join(selected)} by private selection)" if selected else ""
        steps.append(f"group by {', '.join(keys.names)}{found}")
    return [step if len(step) <= _LONG_STEP else f"{step[:_LONG_STEP]}..." for step in steps]


def _steps(plan: Plan) -> Iterator[str]:
    match plan:
        case Scan():
            return
        case Filter(source, predicate):
            yield from _steps(source)
            yield f"keep rows where {_bare(predicate)}"
        case Derive(source, name, expression):
            yield from _steps(source)
            yield f"derive {name} = {_bare(expression)}"
        case Project(source, columns):
            yield from _steps(source)
            yield f"select {_renamed(columns)}"
        case Join(source, public, on):
            yield from _steps(source)
            yield f"join the public table {public.name} on {_pairs(on)}"
        case Union(one, other):
            yield from _steps(one)
            yield f"add the rows of {_whole(other)}"
        case PersonJoin(one, other, on, most):
            yield from _steps(one)
            matched = f" with equal {_pairs(on)}" if on else ""
            bounded = "" if most is None else f", at most {most:,} for each row"
            yield f"join {_whole(other)} on the person{matched}{bounded}"


def _whole(plan: Plan) -> str:
    """Write the other side of a join or a union in one line."""
    names, steps = " and ".join(tables_of(plan)), [*_steps(plan)]
    return f"{names} ({'; '.join(steps)})" if steps else names


def _named(query: Subject) -> list[Column]:
    return [column.named(name) for name, column in query.columns.items()]


def _bare(expression: Expression) -> str:
    """Write an expression without the parentheses around all of it."""
    words = repr(expression)
    around = isinstance(expression, Compare | Arithmetic | Logic) and words.startswith("(") and words.endswith(")")
    return words[1:-1] if around and not getattr(expression, "step", None) else words


def _pairs(on: Iterable[tuple[str, str]]) -> str:
    return ", ".join(ours if ours == theirs else f"{ours} = {theirs}" for ours, theirs in on)


def _renamed(columns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(new if new == old else f"{old} as {new}" for new, old in columns)


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


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
