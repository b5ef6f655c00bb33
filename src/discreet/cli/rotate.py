"""discreet rotate: sign with a new key from now on, or put a new secret in the place of the vault's."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet rotate
discreet rotate --secret
"""


@click.command(epilog=_EXAMPLE)
@vault_option
@click.option("--secret", is_flag=True, help="exchange the random secret that seals rows and puts them in order")
@click.pass_obj
def command(output: Output, vault: Path | str, *, secret: bool) -> None:
    """Give the vault a new key to sign with, and print its public half: publish it beside the old one.

    The old key signs nothing of later entries, whoever has it. Certificates that it signed stay valid, and are checked
    with the old public key, or with the vault. Grants, budgets and answers stay as they are.

    With --secret, exchange the vault's random secret, after a backup or a disk with it was lost. Every row is verified
    and sealed anew, which takes as long as discreet verify. It is refused while a question is being worked on; what
    died unanswered is settled as failed.
    """
    with opened(vault) as curator:
        if secret:
            ended = curator.rotate_secret()
            found = {"questions": ended.questions, "parts": ended.parts, "counters": len(ended.counters)}
            lines = ["The vault has a new secret, and every row is sealed with it."]
            if ended.questions or ended.parts:
                died = f"{ended.questions:,} unanswered questions and {ended.parts:,} parts of running releases"
                lines.append(f"Settled as failed, since nobody worked on them: {died}.")
            if ended.counters:
                lines.append(f"Ended, since they need one order of rows: {len(ended.counters):,} running counters.")
            output.plain({"secret": "exchanged", "failed": found}, lines)
            return
        before, after = curator.ledger.public_key, curator.rotate()
    lines = ["The vault signs with a new key. Its public half:", after, "Until now it was:", before]
    output.plain({"public_key": after, "former": before}, lines)
