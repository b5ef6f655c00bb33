"""discreet lint: look for trouble in what was declared, against the exact rows; for custodians alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli._vault import opened, vault_option
from discreet.cli._words import in_words
from discreet.cli.exits import Exit
from discreet.cli.output import Output, console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from discreet.curator.lint import Remark

_ROOMY = 100
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, tables: tuple[str, ...]) -> int:
    """Compare what was declared with the exact rows, and say what does not fit.

    The figures are exact and not private: they are for the custodian's eyes. An error ends the command with code 5.
    """
    with opened(vault) as curator:
        chosen = tables or tuple(curator.tables())
        remarks = [_spelled(remark) for name in chosen for remark in curator.lint(name)]
    output.show({"tables": list(chosen), "remarks": [each.record() for each in remarks]}, *_views(remarks, chosen))
    return Exit.REFUSED if any(each.severity == "error" for each in remarks) else Exit.DONE


def _views(remarks: Sequence[Remark], tables: Sequence[str]) -> list[RenderableType]:
    from rich.text import Text

    if not remarks:
        return [Text(f"Nothing to say about {', '.join(tables) or 'an empty vault'}.", style="green")]
    counts = Counter[str](each.severity for each in remarks)
    said = ", ".join(f"{counts[kind]} {kind}{'s' * (counts[kind] > 1)}" for kind in _STYLES if counts[kind])
    last = Text(f"{said}. These figures are exact: keep them to yourself.", style="yellow")
    return [_table(remarks) if console().width >= _ROOMY else _list(remarks), last]


def _table(remarks: Sequence[Remark]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("where", max_width=24)
    for heading in ("what", "why", "fix"):
        table.add_column(heading, ratio=1)
    for each in remarks:
        severity = Text(each.severity, style=_STYLES[each.severity])
        table.add_row(severity, Text(_where(each)), Text(each.what), Text(each.why), Text(each.fix))
    return table


def _list(remarks: Sequence[Remark]) -> Table:
    """Write remarks one below the other, where a table would have a word to a line."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for each in remarks:
        grid.add_row(Text(each.severity, style=_STYLES[each.severity]), Text(f"{_where(each)}: {each.what}"))
        grid.add_row(Text("why", style="dim"), Text(each.why))
        grid.add_row(Text("fix", style="dim"), Text(each.fix))
    return grid


def _spelled(remark: Remark) -> Remark:
    return replace(remark, fix=in_words(remark.fix, {}))


def _where(remark: Remark) -> str:
    return remark.table if remark.column is None else f"{remark.table}.{remark.column}"
