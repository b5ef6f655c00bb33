"""discreet approve: list the questions that wait for approval, and let one be released."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ledger.oversight.approval import ApprovalRequest

# Where a loss has no pure epsilon.
_DELTA = 1e-6

_EXAMPLE = """\b
discreet approve
discreet approve 3f9a01c2
"""


@click.command(epilog=_EXAMPLE)
@click.argument("request", required=False)
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, request: str | None) -> None:
    """Approve REQUEST, named by the first eight of its characters at least; without it, list what waits.

    An approval is good for one charge of that question, at that price, about those versions of the tables, by that
    analyst, and for nothing else. The policy says what waits: [approval] tables = ["visits"], or ["*"].
    """
    with opened(vault) as curator:
        if request is None:
            waiting = curator.pending()
            lines = request_lines(waiting) or ["Nothing waits for approval."]
            output.plain({"pending": [request_record(each) for each in waiting]}, lines)
            return
        decided = curator.approve(request)
    said = f"{decided.analyst} may ask this once: {decided.label}."
    output.plain({"request": request_record(decided)}, [said, *request_lines([decided])])


def request_record(request: ApprovalRequest) -> dict[str, Any]:
    """Return a request as plain JSON values."""
    return {"request": request.name, "at": request.at, **request.record()}


def request_lines(requests: Sequence[ApprovalRequest]) -> list[str]:
    """Tell of requests: who asks what, at what loss, about which versions, word by word."""
    lines = []
    for each in requests:
        tables = ", ".join(f"{name} (version {version})" for name, version in each.tables.items())
        losses = "; ".join(f"{account}: {_cost(loss)}, {loss}" for account, loss in each.losses.items())
        reason = f": {each.reason}" if each.reason else ""
        lines += [
            each.name,
            f"  {each.state}{reason}, since {each.at}",
            f"  {each.analyst} asks about {tables}: {each.label}",
            f"  loss: {losses}",
            f"  question: {each.question}",
        ]
    return lines


def _cost(loss: PrivacyLoss) -> str:
    """Say what a loss is in epsilon, by which a custodian decides: pure where it is, else at one delta."""
    pure = loss.epsilon(0)
    return f"epsilon {pure:.6g}" if isfinite(pure) else f"epsilon {loss.epsilon(_DELTA):.6g} at delta {_DELTA:g}"
