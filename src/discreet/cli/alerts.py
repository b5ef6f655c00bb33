"""discreet alerts: budgets that have fallen below a share at which their custodian wants to be told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from discreet.ledger.oversight.alert import BudgetAlert

_EXAMPLE = """\b
discreet alerts
discreet alerts --at 0.2 --at 0.05
"""


@click.command(epilog=_EXAMPLE)
@click.option("--at", "shares", multiple=True, metavar="SHARE", help="Be told from now on at this share that is left.")
@click.option("--none", "none", is_flag=True, help="Be told no more.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, shares: tuple[str, ...], none: bool) -> None:
    """List the charges that left less of a budget than a share of the policy; set the shares with --at.

    Alerts follow from charges alone, and tell nothing of a row. Each is an entry of the ledger, and a line of the log
    that names no budget.
    """
    from discreet.core.rational import parse_written

    with opened(vault) as curator:
        if shares or none:
            curator.charging(alerts=[] if none else [parse_written("at", each) for each in shares])
        policy, alerts = curator.charging(), curator.alerts()
    told = [f"{float(share):.4g}" for share in policy.alerts]
    lines = [
        f"{each.at}  {each.limit}: less than {float(each.below):.4g} left, by entry {each.charge}" for each in alerts
    ]
    lines = lines or ["No budget has fallen below a share of the policy."]
    lines.append(f"Alerts at {', '.join(told)} of a budget." if told else "Nothing alerts: set a share with --at 0.2.")
    output.plain({"at": [float(share) for share in policy.alerts], "alerts": [_plain(each) for each in alerts]}, lines)


def _plain(alert: BudgetAlert) -> dict[str, object]:
    return {"at": alert.at, **alert.record(), "below": float(alert.below)}
