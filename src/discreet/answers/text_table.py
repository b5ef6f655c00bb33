"""Answers as text: an aligned table, with no more digits than the intervals justify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from discreet.answers.digits import DecimalPlaces
from discreet.core.printable import printable
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table
    from rich.text import Text

# An answer; named so because answers import this module.
Shown = Any

MOST_ROWS = 60


def grid(answer: Shown) -> tuple[list[str], list[list[str]]]:
    """Return the header and all cells, as text."""
    header = [printable(name) for name in (*answer.keys, *(column.name for column in answer.columns))]
    keys = [[key_text(value) for value in row] for row in answer.rows]
    columns = []
    for column in answer.columns:
        digits = DecimalPlaces.of(column.cells, column.kind)
        truths = any(isinstance(cell.value, bool) for cell in column.cells)
        cells = [("" if truths else digits.value(cell), digits.cell(cell)) for cell in column.cells]
        columns.append(_aligned(cells))
    return header, [[*row, *(column[at] for column in columns)] for at, row in enumerate(keys)]


def text(answer: Shown) -> str:
    """Write the table with aligned columns: keys to the left, numbers to the right of theirs."""
    header, rows = grid(answer)
    hidden = max(0, len(rows) - MOST_ROWS)
    shown = rows[: MOST_ROWS // 2] + rows[len(rows) - MOST_ROWS // 2 :] if hidden else rows
    widths = [max(len(line[at]) for line in [header, *shown]) for at in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in shown]
    top = "  ".join(cell.ljust(width) for cell, width in zip(header, widths, strict=True)).rstrip()
    if hidden:
        lines.insert(MOST_ROWS // 2, f"... {hidden:,} rows more ...")
    below = ["", cut_words(answer)] if answer.cut is not None else []
    return "\n".join([top, "  ".join("─" * width for width in widths), *lines, *answer.not_held, *below])


def cut_words(answer: Shown) -> str:
    """Say what bounding cut, where that was bought: at least so many rows, of so many people."""
    _, ((people, rows),) = grid(answer.cut)
    return f"bounding cut at least {rows.strip()} rows, of {people.strip()} people"


@dataclass(frozen=True, slots=True)
class Blocks:
    """An answer for a terminal: where it is too wide, columns go on below, beside the keys; no value is cut off."""

    answer: Shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        from rich.text import Text

        header, rows = grid(self.answer)
        keys = len(self.answer.keys)
        block: list[int] = []
        for at in range(keys, len(header)):
            wider = _block(header, rows, keys, [*block, at])
            if block and console.measure(wider, options=options.update(max_width=10_000)).maximum > options.max_width:
                yield _block(header, rows, keys, block)
                block = []
            block.append(at)
        yield _block(header, rows, keys, block)
        for each in self.answer.not_held:
            yield Text(each, style="dim")
        if self.answer.cut is not None:
            yield Text(cut_words(self.answer))


def _block(header: list[str], rows: list[list[str]], keys: int, columns: list[int]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    places = [*range(keys), *columns]
    for at in places:
        table.add_column(Text(header[at]), style="cyan" if at < keys else "", no_wrap=at >= keys)
    for row in rows:
        table.add_row(*(Text(row[at]) for at in places))
    return table


def key_text(value: object) -> str:
    """Write a key's value; a missing one is said to be so, and no character of it steers a terminal."""
    return "(null)" if value is None else printable(str(value))


def _aligned(cells: list[tuple[str, str]]) -> list[str]:
    """Line the values up at their right ends, so errors begin in one column."""
    width = max((len(value) for value, _ in cells), default=0)
    return [" " * (width - len(value)) + cell for value, cell in cells]
