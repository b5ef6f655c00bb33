"""discreet deny: refuse a question that waits for approval."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.approve import request_lines, request_record
from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet deny 3f9a01c2 --reason "ask by month, not by day"
"""


@click.command(epilog=_EXAMPLE)
@click.argument("request")
@click.option("--reason", default="", help="A line that the analyst reads.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, request: str, reason: str) -> None:
    """Deny REQUEST, named by the first eight of its characters at least. It has cost nothing, and nothing was drawn.

    A denial stands until you approve the request; an approval that was used for a charge can no longer be denied.
    """
    with opened(vault) as curator:
        decided = curator.deny(request, reason)
    said = f"{decided.analyst} may not ask this: {decided.label}."
    output.plain({"request": request_record(decided)}, [said, *request_lines([decided])])
