"""discreet erase: take a person's rows out of the copies and caches that a vault keeps."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet erase visits
discreet erase visits --person 4711
"""


@click.command(epilog=_EXAMPLE)
@click.argument("table")
@click.option("--person", prompt="Identifier of the person", help="Whose rows; asked for, unless it is given.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, table: str, person: str) -> None:
    """Take a person's rows out of all that the vault keeps of TABLE, and of the tables that share its budget.

    Copies of data frames become new versions without them, and caches of kept rows are removed. Rows in your files and
    databases are yours to delete; afterwards run discreet refresh. What was answered stays: it was charged for, and
    does not tell whether the person was there. The ledger notes that something was erased, and nobody's name.
    """
    with opened(vault) as curator:
        found = curator.erase(table, person)
    lines = [f"{name}: {rows} rows erased from the copy in the vault" for name, rows in found.rows.items()]
    lines.append(f"files of kept rows, and copies left over, that were removed: {found.files}")
    lines += [f"{name}: delete them where they are, then run discreet refresh {name}" for name in found.elsewhere]
    result = {"rows": dict(found.rows), "files": found.files, "elsewhere": [*found.elsewhere]}
    output.plain(result, lines)
