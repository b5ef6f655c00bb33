"""discreet tables: what there is to ask about: tables, who is protected, their columns, and what remains."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from discreet.ask.registered import Registered
    from discreet.curator.curator import Curator
    from discreet.ledger.standing import Standing

# What a question has to fit, limit by limit.
Found = list[tuple["Registered", "list[Standing]"]]


@click.command()
@click.argument("table", required=False)
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="Show what the holder of this token may see.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, token: str | None, table: str | None) -> None:
    """List the tables, or show TABLE with the declaration of each column.

    All of it was declared, so it is free. With an analyst's token these are the tables of the grant.
    """
    with opened(vault) as curator:
        found = _found(curator, token, table)
    views = _list(found) if table is None else _detail(*found[0])
    output.show({"tables": [_record(*each) for each in found]}, *views)


def _found(curator: Curator, token: str | None, table: str | None) -> Found:
    """Return the tables that may be seen; for an analyst one outside the grant is as unknown as one that is not."""
    if token is None:
        names = curator.tables() if table is None else [table]
        tables, grant = [curator.table(name) for name in names], None
    else:
        session, grant = curator.session(token), curator.ledger.authenticate(token)
        tables = [session.registered(name) for name in (session.tables() if table is None else [table])]
    # What others were capped to is told to custodians, by discreet budget.
    limits = [
        each for each in curator.budgets(grant) if each.analyst in (None, None if grant is None else grant.analyst)
    ]
    return [(each, [limit for limit in limits if limit.account == each.account]) for each in tables]


def _record(registered: Registered, limits: Sequence[Standing]) -> dict[str, Any]:
    declared = registered.table.record()
    return {
        "name": registered.name,
        "version": registered.version,
        "account": registered.account,
        "unit": declared["unit"],
        "rows": declared["rows"],
        "columns": declared["columns"],
        "left": float(_left(limits)),
        "limits": [
            {"scope": each.scope, "own": each.analyst is not None, "window": each.window, "left": float(_left([each]))}
            for each in limits
        ],
    }


def _left(limits: Sequence[Standing]) -> Fraction:
    """Return which share is left of the limit that has the least left."""
    from discreet.ask.remaining import share_left

    return min((share_left(each.filter) for each in limits), default=Fraction(0))


def _list(found: Found) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from discreet.ask.remaining import percent

    if not found:
        return [Text("There are no tables yet: register one with discreet register.")]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("table", "protects", "columns"):
        table.add_column(heading, overflow="fold")
    table.add_column("left", justify="right", no_wrap=True)
    for registered, limits in found:
        columns, left = ", ".join(registered.table), percent(_left(limits))
        table.add_row(Text(registered.name, style="bold"), Text(_whom(registered)), Text(columns), Text(left))
    last = Text.assemble("See what a column may contain with ", (f"discreet tables {found[0][0].name}", "bold"), ".")
    return [table, last]


def _whom(registered: Registered) -> str:
    unit = registered.table.unit
    return "single rows" if unit.is_row else f"people ({unit.identifier})"


def _detail(registered: Registered, limits: Sequence[Standing]) -> list[RenderableType]:
    from rich.text import Text

    from discreet.ask.registered import table_words
    from discreet.ask.remaining import declared, limit_words, percent

    name, protects = table_words(registered.table)
    views: list[RenderableType] = [Text(name, style="bold"), Text(protects)]
    views += [Text(f"{percent(_left([each]))} left of {limit_words(each)}, {declared(each.filter)}") for each in limits]
    return [*views, _columns(registered)]


def _columns(registered: Registered) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from discreet.ask.registered import HEADINGS, column_rows

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for name, kind, words in column_rows(registered.table.columns):
        table.add_row(Text(name, style="cyan"), Text(kind), Text(words))
    return table
