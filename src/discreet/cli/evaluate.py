"""discreet evaluate: what a reviewer must see of a vault, as text, JSON or a page."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.files import NEW_FILE, write_text
from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet evaluate
discreet evaluate --html review.html
"""


@click.command(epilog=_EXAMPLE)
@click.option("--html", type=NEW_FILE, help="Write it as a page.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, html: Path | None) -> None:
    """Show what the vault promises to whom, how that is kept, and what was looked at when.

    It is made of declarations and of the ledger: no row is read. Names of tables, columns that identify people, and
    accounts are in it; names of analysts, paths and questions are not.
    """
    with opened(vault) as curator:
        found = curator.evaluate()
    if html is not None:
        write_text(html, found.html())
    lines = [f"The evaluation is in {html}."] if html is not None else str(found).split("\n")
    output.plain({**found.record(), "html": html and str(html)}, lines)
