"""discreet verify: check a vault's whole ledger, against its anchor and a head kept elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from discreet.ask.work_limits import Late
    from discreet.ledger.integrity.verify import Verified


@click.command()
@click.option("--head", metavar="HASH", help="A head you kept elsewhere; it reveals entries that were lost since.")
@click.option("--remove-orphans", "removes", is_flag=True, help="Remove the files that killed writers left.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, head: str | None, removes: bool) -> None:
    """Check every entry of the vault's ledger, all that follows from them, and every published file.

    A vault that was tampered with, truncated or restored from an old copy ends the command with exit code 5.
    """
    with opened(vault) as curator:
        found = curator.verify(head and head.strip().lower())
        late, work = curator.late(), curator.work().changed
        removed = curator.ledger.remove_orphans() if removes else ()
    result = {
        "vault": found.vault,
        "entries": found.entries,
        "head": found.head,
        "anchor": found.anchor,
        "absent": [*found.absent],
        "public_key": found.public_key,
        "files": found.files,
        "missing": [*found.missing],
        "orphans": [*found.orphans],
        "removed": [*removed],
        "against": head,
        "late": [asdict(each) for each in late],
        "work": work,
    }
    output.plain(result, _lines(found, head, late, work))


def _lines(found: Verified, head: str | None, late: list[Late], work: Mapping[str, float]) -> list[str]:
    checked = [
        f"{found.entries:,} entries, each chained to the one before",
        "every budget, debit, grant and table: consistent with the entries",
        "every settled answer: as it was settled",
        _anchor(found),
        "the given head: on the chain" if head else "no head was given: keep the one below elsewhere",
    ]
    checked += [f"an anchor was missing at entry {each}: an older copy was possible there" for each in found.absent]
    checked += [f"{found.files:,} published files: as they were settled"] if found.files else []
    checked += [f"a published file is not on this machine: {each}" for each in found.missing]
    checked += [f"a file was left by a writer that was killed (--remove-orphans): {each}" for each in found.orphans]
    checked += [f"stopped at its deadline, entry {each.sequence}: {each.analyst}, {each.question}" for each in late]
    checked += [f"a limit on work that is not the default: {name} = {value:g}" for name, value in work.items()]
    # What is for copying stands whole on a line of its own, however narrow the screen.
    kept = ["head:", found.head, "public key:", found.public_key]
    return ["The vault is in order.", *(f"  {line}" for line in checked), *kept]


def _anchor(found: Verified) -> str:
    if found.anchor:
        return f"the anchor: signed, and on the chain at entry {found.anchor}"
    return "the anchor: this machine had none and has one from now on; compare with a head kept elsewhere"
