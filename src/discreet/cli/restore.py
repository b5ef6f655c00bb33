"""discreet restore: put a backup back, show receipts to a vault, go on with one that has lost entries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ledger.recovery.forfeit import Forfeited

_EXAMPLE = """\b
discreet restore /mnt/backups/visits-2026-11-19
discreet restore --receipt newest-answer.json
discreet restore --receipt newest-answer.json --forfeit
"""


@click.command(epilog=_EXAMPLE)
@click.argument("backup", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A receipt, or an answer as ask --save wrote it; you say that the newest one there is is among them.",
)
@click.option("--forfeit", is_flag=True, help="Spend everything but what the newest receipt shows left, and go on.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, backup: Path | None, receipts: tuple[Path, ...], forfeit: bool) -> None:
    """Put BACKUP back where there is no vault; show receipts to a vault; or forfeit what a lost copy may have spent.

    A vault that is older than a head that it is shown, by an anchor or a receipt, is frozen: it previews and replays.
    The newest copy is not. If that is lost, --forfeit spends all that it may have spent, in an entry, and the vault
    answers from what is left. A backup that answers takes the place of the vault that it was made of: where they share
    an anchor, the other one is frozen from then on.
    """
    if backup is None and not receipts and not forfeit:
        why, fix = "there is nothing to be done", "give a backup, --receipt FILE or --forfeit"
        raise BadParameter("backup", None, why=why, fix=fix)
    shown = [_receipt(path) for path in receipts]
    if backup is not None:
        from discreet.ledger.recovery.restore import restore

        restore(backup, vault)
    given_up: Forfeited | None = None
    with opened(vault) as curator:
        frozen = curator.vouch(*shown) if shown else curator.frozen
        if forfeit:
            given_up, frozen = curator.forfeit(*shown), None
        entries, head = curator.ledger.head
    result: dict[str, Any] = {"entries": entries, "head": head, "frozen": frozen, "restored": backup and str(backup)}
    result["forfeited"] = given_up and {
        "sequence": given_up.sequence,
        "upto": given_up.upto,
        "left": {account: dict(amounts) for account, amounts in given_up.left.items()},
        "failed": given_up.failed,
    }
    output.plain(result, _lines(vault, entries, head, frozen, given_up, restored=backup is not None))


def _lines(
    vault: Path | str, entries: int, head: str, frozen: str | None, given_up: Forfeited | None, *, restored: bool
) -> Iterator[str]:
    from discreet.ledger.integrity.freeze import remedy

    if given_up is not None:
        yield f"What entries up to {given_up.upto:,} may have spent is forfeited, in entry {given_up.sequence:,}."
        for account, amounts in given_up.left.items():
            yield f"  left of {account}: {amounts['loss']} {amounts['currency']}, delta {amounts['delta']}"
        yield f"  questions that waited for their answers, and have failed: {given_up.failed:,}"
        yield "  caps of analysts and windows are full: grant what is meant anew, and revoke what was revoked since"
    if frozen is None:
        yield f"The vault {vault} answers, from entry {entries:,} on."
        if restored:
            yield "  it takes the place of every other copy that shares an anchor with it: those are frozen"
    else:
        yield f"The vault {vault} is frozen: {frozen}. It previews and replays."
        yield f"  {remedy(frozen)}"
    yield "The head of the ledger:"
    yield head


def _receipt(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        why, fix = "it is no JSON", "give a file that discreet ask --save wrote"
        raise BadParameter("receipt", str(path), why=why, fix=fix) from None
