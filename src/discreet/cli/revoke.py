"""discreet revoke: end a grant, or all grants of an analyst."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option


@click.command()
@click.argument("who", metavar="ANALYST|GRANT")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, who: str) -> None:
    """End all grants of an analyst, or the one grant of that identifier.

    Answers already given stay given, what was spent stays spent, and caps stay for any later grant.
    """
    from rich.text import Text

    with opened(vault) as curator:
        ended = curator.revoke(who)
    said = f"Ended: {', '.join(ended)}." if ended else "There was nothing left to end."
    output.show({"who": who, "ended": list(ended)}, Text(said))
