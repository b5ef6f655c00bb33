"""discreet clock: the vault's time beside the machine's, and its correction after a clock was wrong."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option


@click.command()
@click.option("--correct", is_flag=True, help="Reset a vault time that ran ahead to this machine's clock.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, correct: bool) -> None:
    """Show the vault's time, which is never before its last entry, and this machine's.

    If a clock ran ahead, grants ended too early. First correct the machine's clock; --correct then resets the vault's
    time to it. The correction is an entry. What was spent stays spent, in windows too.
    """
    from discreet.ledger.clock import wall_clock, written

    with opened(vault) as curator:
        corrected = curator.correct_clock() if correct else None
        now, machine = written(curator.ledger.now()), written(wall_clock())
    result = {"vault": now, "machine": machine, "corrected": written(corrected[0]) if corrected else None}
    lines = [f"vault:   {now}", f"machine: {machine}"]
    if corrected:
        lines.insert(0, f"Corrected: the vault's time was {written(corrected[0])}.")
    elif now > machine:
        lines.append("The vault's time is ahead. If this machine's clock is right, run discreet clock --correct.")
    elif correct:
        lines.insert(0, "There was nothing to correct.")
    output.plain(result, lines)
