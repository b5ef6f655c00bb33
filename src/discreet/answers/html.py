"""Answers and previews as HTML: one self-contained table, in light or dark; of an answer, with its intervals drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.answers.digits import DecimalPlaces
from discreet.answers.text_table import MOST_ROWS, key_text
from discreet.core.printable import markup as escape

if TYPE_CHECKING:
    from discreet.answers.column import AnswerColumn, Cell

# An answer; named so because answers import this module.
Shown = Any

_WIDTH, _HEIGHT, _MARGIN = 120, 16, 4

# A blue that is seen on white and on black; all else is the page's own colour, so light and dark look right
# however the page chooses between them.
STYLE = """
.discreet-answer { --bar: #3b82f6; --soft: rgba(128, 140, 160, .3); color: inherit; display: inline-block;
  font-family: system-ui, sans-serif; font-size: 14px; line-height: 1.4; overflow-x: auto; max-width: 100%; }
.discreet-answer table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.discreet-answer th, .discreet-answer td { color: inherit; padding: 4px 14px 4px 0; text-align: left;
  white-space: nowrap; border: 0; background: none; vertical-align: middle; }
.discreet-answer thead th { border-bottom: 1px solid var(--soft); font-weight: 600; }
.discreet-answer tbody th { font-weight: 500; }
.discreet-answer tbody tr + tr > * { border-top: 1px solid var(--soft); }
.discreet-answer .number { text-align: right; padding-right: 6px; }
.discreet-answer .error, .discreet-answer p, .discreet-answer small { opacity: .72; }
.discreet-answer thead small { display: block; font-weight: 400; }
.discreet-answer p { margin: 8px 0 0; font-size: 12px; }
.discreet-answer p + p { margin-top: 2px; }
.discreet-answer pre { margin: 10px 0 0; font-size: 12px; opacity: .85; }
.discreet-answer svg { display: block; }
"""


def html(answer: Shown) -> str:
    """Return the table; keys and names are escaped, and nothing is fetched from elsewhere."""
    rows = len(answer.rows)
    shown = [*range(MOST_ROWS // 2), None, *range(rows - MOST_ROWS // 2, rows)] if rows > MOST_ROWS else [*range(rows)]
    drawn = [_Column(column) for column in answer.columns]
    head = "".join(f'<th scope="col">{escape(key)}</th>' for key in answer.keys)
    head += "".join(f'<th scope="col" colspan="3">{column.title}</th>' for column in drawn)
    body = "".join(_line(answer, drawn, at, rows) for at in shown)
    return (
        f'<div class="discreet-answer"><style>{STYLE}</style><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{_footer(answer)}</div>"
    )


def listing(headings: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str], code: Sequence[str]) -> str:
    """Return a table of words in the same style: lines below it, and statements as they are."""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in headings)
    body = "".join(_words(row) for row in rows)
    notes = "".join(f"<p>{escape(each)}</p>" for each in below)
    statements = "".join(f"<pre>{escape(each)}</pre>" for each in code)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="discreet-answer"><style>{STYLE}</style>{table}{notes}{statements}</div>'


def _words(row: Sequence[str]) -> str:
    first, *others = row
    cells = "".join(f"<td>{escape(each)}</td>" for each in others)
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'


class _Column:
    """A column with its digits and one scale for all of its bars."""

    def __init__(self, column: AnswerColumn) -> None:
        self.cells, self.digits = column.cells, DecimalPlaces.of(column.cells, column.kind)
        self.title = escape(column.name) + (f"<small>{escape(column.words)}</small>" if column.words else "")
        ends = [float(end) for cell in self.cells for end in _ends(cell) if math.isfinite(end)]
        low, high = min(ends, default=0.0), max(ends, default=0.0)
        self.low, self.high = min(low, 0.0), max(high, 0.0)  # a bar that does not begin at zero misleads

    def cell(self, at: int) -> str:
        """Return three cells: the value, its error, and both as a drawing."""
        cell = self.cells[at]
        whole = self.digits.cell(cell)
        value = self.digits.value(cell)
        error = whole.removeprefix(value).strip()
        return (
            f'<td class="number">{escape(value)}</td><td class="error">{escape(error)}</td><td>{self._bar(cell)}</td>'
        )

    def _bar(self, cell: Cell) -> str:
        ends = _ends(cell)
        if self.high <= self.low or not ends:
            return ""
        first, middle, last = (self._place(end) for end in ends)
        y, zero = _HEIGHT // 2, self._place(0.0)
        words = [self.digits.number(each) for each in (cell.value, cell.low, cell.high)]
        label = escape("{}, between {} and {}".format(*words))
        box = f'x="{min(zero, middle):.1f}" y="3" width="{abs(middle - zero):.1f}" height="{_HEIGHT - 6}"'
        ends_drawn = "".join(f"M{x:.1f} {y - 4}V{y + 4}" for x in (first, last))
        return (
            f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{label}">'
            f'<rect {box} fill="var(--soft)"/>'
            f'<path d="M{first:.1f} {y}H{last:.1f}{ends_drawn}" stroke="var(--bar)" stroke-width="1.5" fill="none"/>'
            f'<circle cx="{middle:.1f}" cy="{y}" r="2.5" fill="var(--bar)"/></svg>'
        )

    def _place(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return _MARGIN + share * (_WIDTH - 2 * _MARGIN)


def _line(answer: Shown, columns: list[_Column], at: int | None, rows: int) -> str:
    if at is None:
        span = len(answer.keys) + 3 * len(columns)
        return f'<tr><td class="error" colspan="{span}">{rows - MOST_ROWS:,} rows more</td></tr>'
    keys = "".join(f'<th scope="row">{escape(key_text(value))}</th>' for value in answer.rows[at])
    return f"<tr>{keys}{''.join(column.cell(at) for column in columns)}</tr>"


def _footer(answer: Shown) -> str:
    from discreet.answers.explain import summary

    words = (*answer.not_held, summary(answer))
    return "".join(f"<p>{escape(each)}</p>" for each in words if each)


def _ends(cell: Cell) -> tuple[float, float, float] | tuple[()]:
    values = cell.low, cell.value, cell.high
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in values):
        return ()
    first, middle, last = (float(each) for each in values if isinstance(each, int | float))
    return (first, middle, last) if math.isfinite(middle) else ()
