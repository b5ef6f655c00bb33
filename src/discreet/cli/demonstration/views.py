"""The demonstration on a terminal: what each step shows, at eighty columns or more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli.demonstration.bars import block, largest, whisker
from discreet.cli.demonstration.steps import EPSILON, QUESTION, Attacked, DemoAnswer, Stood
from discreet.cli.demonstration.words import SHORT, asked_words, attacked_words, audited_words, short, stood_words

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from discreet.ask.preview import Preview
    from discreet.lab.audits.finding import Finding

_BAR = 32


def asked_views(asked: DemoAnswer) -> list[RenderableType]:
    """Show the question, its preview, and the answer with its error bars."""
    from rich.padding import Padding
    from rich.text import Text

    first, second = asked_words(asked)
    drawn = [
        Padding(view, (above, 0, 0, 2), expand=False)
        for name, title in (("visits", "visits a year"), ("spending", "dollars a year"))
        for above, view in ((1, Text(title, style="bold")), (0, _whiskers(asked, name)))
    ]
    return [
        heading(1, "ASK", "how visits to the doctor and spending go with self-rated health"),
        Padding(Text(QUESTION, style="cyan"), (0, 0, 1, 2), expand=False),
        Padding(_preview(asked.preview), (0, 0, 1, 2), expand=False),
        Text(first),
        Padding(Text(f"answer = report.release(epsilon={EPSILON})", style="cyan"), (1, 0, 0, 2), expand=False),
        *drawn,
        Padding(Text(second), (1, 0, 0, 0), expand=False),
    ]


def attacked_views(attacked: Attacked) -> list[RenderableType]:
    """Show how many people each way to answer gave away."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    before, after = attacked_words(attacked)
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, share in attacked.shares():
        style = "green" if name == "Discreet" else "red"
        table.add_row(Text(name), block(share, _BAR, style, mark=0.5), Text(f"{share:.1%}", justify="right"))
    return [
        heading(2, "ATTACK", "guess a secret about everyone from harmless-looking counts"),
        Text(before),
        Padding(table, (1, 0, 1, 2), expand=False),
        Text(after),
    ]


def audited_views(finding: Finding) -> list[RenderableType]:
    """Show the promise and what was measured of it."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    before, after = audited_words(finding)
    most = 1.25 * max(finding.claimed, finding.lower)
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value, style in (
        ("guaranteed, at most", finding.claimed, "cyan"),
        ("measured, at least", finding.lower, _style(finding)),
    ):
        table.add_row(Text(name), block(value / most, _BAR, style), Text(f"epsilon {value:.3f}"))
    return [
        heading(3, "AUDIT", "try to refute the guarantee of this answer"),
        Text(before),
        Padding(table, (1, 0, 1, 2), expand=False),
        Text(after, style="bold red" if finding.violated else ""),
    ]


def stood_views(stood: Stood) -> list[RenderableType]:
    """Show what is spent, the entry that says so, and that the ledger is in order."""
    from rich.padding import Padding
    from rich.text import Text

    spent = float(stood.spent / stood.budget)
    bar = block(spent, _BAR, "yellow" if spent >= 0.5 else "green")
    entry, after = stood_words(stood)
    return [
        heading(4, "BUDGET", "what is left, and the ledger entry"),
        Padding(bar.append(f"  epsilon {stood.spent} of {stood.budget} spent"), (0, 0, 1, 2), expand=False),
        *(
            Padding(Text(line, style="dim", no_wrap=True, overflow="ellipsis"), (0, 0, 0, 2), expand=False)
            for line in entry
        ),
        Padding(Text(after), (1, 0, 0, 0), expand=False),
    ]


def heading(number: int, word: str, what: str) -> Text:
    """Return the line a step begins with."""
    from rich.text import Text

    return Text.assemble("\n", (f"{number} {word}  ", "bold"), what, "\n")


def _preview(preview: Preview) -> Table:
    """Return what there is room for of the preview."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for name in SHORT:
        table.add_column(name, no_wrap=True)
    for line in preview.lines:
        table.add_row(*short(line))
    return table


def _whiskers(asked: DemoAnswer, name: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    from discreet.answers.text_table import grid

    cells = asked.answer.column(name).cells
    header, rows = grid(asked.answer)
    most, place = largest(cells), header.index(name)
    table = Table.grid(padding=(0, 2, 0, 0))
    for row, cell in zip(rows, cells, strict=True):
        table.add_row(Text(row[0]), whisker(cell, most, _BAR), Text(row[place]))
    return table


def _style(finding: Finding) -> str:
    return "red" if finding.violated else "green"
