"""discreet lint: look for trouble in what was declared, against the exact rows; for custodians alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.declaration_options import (
    column_of_words,
    column_option,
    source_of,
    unit_of_terms,
    unit_options,
)
from discreet.cli.shared.exits import Exit
from discreet.cli.shared.option_words import in_words
from discreet.cli.shared.output import Output, console
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from discreet.curator.lint import Remark

_ROOMY = 100
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--source", metavar="SOURCE", help="Check this source before it is registered; no vault is needed.")
@unit_options
@column_option
@click.option("--delimiter", metavar="CHARACTER", help="The delimiter of a CSV file.")
@click.option(
    "--from",
    "policy",
    type=click.Path(path_type=Path),
    help="Check the tables of this policy, registered or not; no vault is needed.",
)
@vault_option
@click.pass_obj
def command(
    output: Output,
    /,
    vault: Path | str,
    tables: tuple[str, ...],
    source: str | None,
    policy: Path | None,
    **terms: Any,  # noqa: ANN401  (options of many types)
) -> int:
    """Compare the declarations with the exact rows, and report problems.

    It can run before a table is registered: with --source and what would be declared of it, or with a policy. The
    figures are exact and not private: they are for the custodian's eyes. An error ends the command with code 5.
    """
    if source is not None:
        found = _of_source(tables, source, terms)
    elif policy is not None:
        found = _of_policy(tables, policy)
    else:
        with opened(vault) as curator:
            found = {name: curator.lint(name) for name in tables or tuple(curator.tables())}
    chosen, remarks = tuple(found), [_spelled(remark) for each in found.values() for remark in each]
    output.show({"tables": list(chosen), "remarks": [each.record() for each in remarks]}, *_views(remarks, chosen))
    return Exit.REFUSED if any(each.severity == "error" for each in remarks) else Exit.DONE


def _of_source(tables: tuple[str, ...], source: str, terms: dict[str, Any]) -> dict[str, list[Remark]]:
    from discreet.core.schema import Table
    from discreet.curator.lint import lint_source

    name = tables[0] if tables else Path(source).name.partition(".")[0] or "table"
    table = Table(name, unit_of_terms(terms), dict(map(column_of_words, terms["columns"])))
    return {name: lint_source(table, source_of(source, terms["delimiter"]))}


def _of_policy(tables: tuple[str, ...], path: Path) -> dict[str, list[Remark]]:
    from discreet.core.schema import Table
    from discreet.curator.lint import lint_source
    from discreet.curator.policy import read

    policy = read(path)
    wanted = [policy.table(name) for name in tables] if tables else policy.tables
    return {
        each.name: lint_source(Table(each.name, each.unit, each.columns, each.rows), each.source, each.budget)
        for each in wanted
    }


def _views(remarks: Sequence[Remark], tables: Sequence[str]) -> list[RenderableType]:
    from rich.text import Text

    if not remarks:
        return [Text(f"No findings for {', '.join(tables) or 'an empty vault'}.", style="green")]
    counts = Counter[str](each.severity for each in remarks)
    said = ", ".join(f"{counts[kind]} {kind}{'s' * (counts[kind] > 1)}" for kind in _STYLES if counts[kind])
    last = Text(f"{said}. These figures are exact and not private: do not share them.", style="yellow")
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
