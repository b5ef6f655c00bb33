"""discreet tables: what there is to ask about: tables, who is protected, their columns, and what remains."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.public_registration import public_record
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.core.column import Column
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
        public = _public(curator, token, table)
        found = [] if public and table is not None else _found(curator, token, table)
    views = _list(found, public) if table is None else _detail(*found[0]) if found else _public_detail(public[0])
    records = {"tables": [_record(*each) for each in found], "public": [public_record(each) for each in public]}
    output.show(records, *views)


def _public(curator: Curator, token: str | None, table: str | None) -> list[PublicTable]:
    """Return the public tables, or the one of that name: every grant may join them."""
    if token is not None:
        curator.session(token).public_tables()  # refuses a grant that has ended
    return [curator.public_table(name) for name in curator.public_tables() if table in (None, name)]


def _found(curator: Curator, token: str | None, table: str | None) -> Found:
    """Return the tables that may be seen; for an analyst one outside the grant is as unknown as one that is not."""
    if token is None:
        names = curator.tables() if table is None else [table]
        tables, grant = [curator.table(name) for name in names], None
    else:
        session, grant = curator.session(token), curator.ledger.authenticate(token)
        tables = [session.desk.registered(name) for name in (session.tables() if table is None else [table])]
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


def _list(found: Found, public: Sequence[PublicTable]) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from discreet.ask.remaining import percent

    if not found and not public:
        return [Text("There are no tables yet: register one with discreet register.")]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("table", "protects", "columns"):
        table.add_column(heading, overflow="fold")
    table.add_column("left", justify="right", no_wrap=True)
    for registered, limits in found:
        columns, left = ", ".join(registered.table), percent(_left(limits))
        table.add_row(Text(registered.name, style="bold"), Text(_whom(registered)), Text(columns), Text(left))
    for each in public:
        names = ", ".join(each.dimension.names)
        table.add_row(Text(each.name, style="bold"), Text("nobody: public"), Text(names), Text(""))
    first = found[0][0].name if found else public[0].name
    last = Text.assemble("See what a column may contain with ", (f"discreet tables {first}", "bold"), ".")
    return [table, last]


def _whom(registered: Registered) -> str:
    unit = registered.table.unit
    return "single rows" if unit.is_row else f"people ({unit.whom})"


def _detail(registered: Registered, limits: Sequence[Standing]) -> list[RenderableType]:
    from rich.text import Text

    from discreet.ask.registered import table_words
    from discreet.ask.remaining import declared, limit_words, percent

    name, protects = table_words(registered.table)
    views: list[RenderableType] = [Text(name, style="bold"), Text(protects)]
    views += [Text(f"{percent(_left([each]))} left of {limit_words(each)}, {declared(each.filter)}") for each in limits]
    return [*views, _columns(registered.table.columns)]


def _public_detail(public: PublicTable) -> list[RenderableType]:
    from rich.text import Text

    from discreet.ask.public_table import reuse_words

    said = f"public, version {public.version}, {reuse_words(public.dimension)}"
    return [Text(public.name, style="bold"), Text(said), _columns(public.dimension.columns)]


def _columns(columns: Sequence[Column]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from discreet.ask.declaration import HEADINGS, column_rows

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for name, kind, words in column_rows(columns):
        table.add_row(Text(name, style="cyan"), Text(kind), Text(words))
    return table
