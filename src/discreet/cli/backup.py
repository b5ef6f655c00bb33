"""discreet backup: copy a vault into a new folder, while it is in use."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

_EXAMPLE = """\b
discreet backup /mnt/backups/visits-2026-11-19
discreet restore /mnt/backups/visits-2026-11-19 --vault restored.discreet
"""


@click.command(epilog=_EXAMPLE)
@click.argument("folder", type=click.Path(path_type=Path))
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, folder: Path) -> None:
    """Copy the vault, its published files and its copies of rows into FOLDER, which must not exist.

    The copy is one state of the vault, verified, whoever asks meanwhile; one of a vault in PostgreSQL is a file as
    well. It has the vault's keys and, of tables that were registered from data frames, the rows: keep it as safe as the
    vault. It has no key by which a question that waits for its answer could be drawn.
    """
    with opened(vault) as curator:
        made = curator.backup(folder)
    lines = [
        f"The vault is backed up in {folder}, up to entry {made.entries:,}.",
        *(f"  a published file is not on this machine, and not in the backup: {name}" for name in made.missing),
        "The head of the ledger in it, to keep elsewhere:",
        made.head,
    ]
    output.plain({**made.record(), "folder": str(folder)}, lines)
