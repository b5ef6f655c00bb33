"""discreet refresh: take a table's changed source as its next version, on the same budget."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option
from discreet.core.errors import BadParameter


@click.command()
@click.argument("table")
@click.argument("source", required=False)
@click.option("--people", type=click.Choice(["distinct"]), help="Declare that its people are not in any other account.")
@vault_option
@click.pass_obj
def command(
    output: Output, vault: Path | str, table: str, source: str | None, people: Literal["distinct"] | None
) -> None:
    """Accept the changed source of TABLE, or a new SOURCE, as its next version.

    The budget stays as it is: people who are in both versions keep their accumulated loss. A public table has none.
    """
    from rich.text import Text

    with opened(vault) as curator:
        if table in curator.public_tables():
            if people is not None:
                raise BadParameter("people", people, why="a public table has none", fix="leave it out")
            version = curator.refresh_public(table, source).version
            said = Text.assemble("Public table ", (table, "bold"), f" is at version {version}.")
            output.show({"name": table, "version": version, "public": True}, said)
            return
        registered = curator.refresh(table, source, people=people)
    result = {"name": table, "version": registered.version, "account": registered.account}
    output.show(
        result,
        Text.assemble("Table ", (table, "bold"), f" is at version {registered.version}; its budget stays as it was."),
    )
