"""discreet bill: charge tables for work that is done elsewhere, such as training on a cluster or a survey."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.curator.curator import Curator

_EXAMPLE = """\b
discreet bill visits --loss "gaussian:1.1@0.01*10000" --label "training, March" --key training-7
discreet bill people --collection survey --label "survey of start pages"
"""


@click.command(epilog=_EXAMPLE)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("--loss", metavar="EVENTS", help="What happened, as `discreet account compose` has it.")
@click.option(
    "--collection",
    type=click.Path(path_type=Path, exists=True),
    help="Bill a local collection instead, for one report of a person in each of its epochs.",
)
@click.option("--label", required=True, help="What it was for, in a few words.")
@click.option("--key", help="A name of your own for this bill: a retry under it charges nothing.")
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="Bill as the analyst who holds this token.")
@vault_option
@click.pass_obj
def command(
    output: Output,
    vault: Path | str,
    tables: tuple[str, ...],
    loss: str | None,
    collection: Path | None,
    label: str,
    key: str | None,
    token: str | None,
) -> None:
    """Charge TABLE... for work on their people that is done elsewhere. Bill it before that work begins.

    The loss is that of one person, under the relation of the tables. Every bill is charged by itself, also one that
    was charged before in the same words, unless --key says that it is the same.
    """
    if (loss is None) == (collection is None):
        why = "a bill states one loss: in events, or that of a collection"
        raise BadParameter("loss", loss, why=why, fix="give one of --loss and --collection")
    with opened(vault) as curator:
        stated = _collected(collection) if collection is not None else _written(curator, tables, loss or "")
        payer = curator if token is None else curator.session(token)
        receipt = payer.bill(tables, stated, label, key=key)
        left = {account: dict(amounts) for account, amounts in receipt.remaining.items()}
    result = {**receipt.record(), "label": label, "tables": [*tables]}
    accounts = ", ".join(left)
    said = (
        f"was billed before, as entry {receipt.sequence}: nothing is charged"
        if receipt.replayed
        else (f"is charged to {accounts}, as entry {receipt.sequence}")
    )
    output.plain(result, [f"{label!r} {said}.", "The head of the ledger after it, to keep elsewhere:", receipt.head])


def _written(curator: Curator, tables: tuple[str, ...], events: str) -> PrivacyLoss:
    """Read a loss, under the relation of the first table; the bill refuses a table that has another."""
    from discreet.cli.shared.loss_expression import parse

    return parse(events, relation=curator.table(tables[0]).table.unit.relation)


def _collected(place: Path) -> PrivacyLoss:
    from discreet.cli.shared.collection_options import signed_text
    from discreet.local.collection import read

    return read(signed_text(place)).loss
