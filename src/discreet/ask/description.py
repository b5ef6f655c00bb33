"""Tables in words: whom they protect, what their columns may hold, what a question has done to them; all declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from discreet.ask.declaration import HEADINGS, column_rows, grid
from discreet.ask.registered import table_words
from discreet.core.column import Column
from discreet.plan.expressions import Arithmetic, Compare, Expression, Logic
from discreet.plan.nodes import (
    Derive,
    Filter,
    Join,
    MarkJoin,
    PerPerson,
    PersonJoin,
    Plan,
    Project,
    Scan,
    Union,
    tables_of,
)
from discreet.plan.per_person import own_words

if TYPE_CHECKING:
    from discreet.ask.question import QueryBase
    from discreet.plan.keys import Keys

_LONG_STEP = 160  # letters, beyond which a step is cut


def text(query: QueryBase) -> str:
    """Write a question in the making: its tables, its columns as they are now, and the steps that led here."""
    lines = [words for table in query.tables.values() for words in table_words(table)]
    lines += ["", *grid(column_rows(_named(query)))]
    steps = step_words(query.plan, query.keys)
    return "\n".join([*lines, "", *steps] if steps else lines)


def html(query: QueryBase) -> str:
    """Write the same as one self-contained table, in the style of answers; names and keys are escaped."""
    from discreet.answers.html import STYLE

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
        f'<div class="discreet-answer"><style>{STYLE}</style>{above}<table><thead><tr>{head}</tr></thead>'
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
        case PerPerson(source, values, rows):
            yield from _steps(source)
            made = ", ".join(f"{each.name} = {own_words(each)}" for each in values)
            yield f"one row for each person, of up to {rows:,} rows: {made}"
        case Union(one, other):
            yield from _steps(one)
            yield f"add the rows of {_whole(other)}"
        case PersonJoin(one, other, on, most, outer=outer):
            yield from _steps(one)
            matched = f" with equal {_pairs(on)}" if on else ""
            bounded = "" if most is None else f", at most {most:,} for each row"
            kept = ", and keep rows without" if outer else ""
            yield f"join {_whole(other)} on the person{matched}{bounded}{kept}"
        case MarkJoin(one, other, on, compare, name):
            yield from _steps(one)
            matched = f" with equal {_pairs(on)}" if on else ""
            compared = "" if compare is None else f" {'and' if on else 'with'} {' '.join(compare)}"
            yield f"derive {name} = whether the person has rows of {_whole(other)}{matched}{compared}"


def _whole(plan: Plan) -> str:
    """Write the other side of a join or a union in one line."""
    names, steps = " and ".join(tables_of(plan)), [*_steps(plan)]
    return f"{names} ({'; '.join(steps)})" if steps else names


def _named(query: QueryBase) -> list[Column]:
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
