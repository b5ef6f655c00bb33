"""discreet rotate: sign certificates and anchors with a new key from now on."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet rotate
"""


@click.command(epilog=_EXAMPLE)
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str) -> None:
    """Give the vault a new key to sign with, and print its public half: publish it beside the old one.

    The old key signs nothing of later entries, whoever has it. Certificates that it signed stay valid, and are checked
    with the old public key, or with the vault. Grants, budgets and answers stay as they are.
    """
    with opened(vault) as curator:
        before, after = curator.ledger.public_key, curator.rotate()
    lines = ["The vault signs with a new key. Its public half:", after, "Until now it was:", before]
    output.plain({"public_key": after, "former": before}, lines)
