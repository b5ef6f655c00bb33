"""discreet grant: let an analyst ask about tables, up to a cap, until a day."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import budget_of, budget_options, opened, vault_option
from discreet.core.errors import Refusal

if TYPE_CHECKING:
    from discreet.curator.curator import Curator
    from discreet.ledger.cap import Existing
    from discreet.ledger.standing import Standing


@click.command()
@click.argument("analyst")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@budget_options("The most this analyst may spend in a month", "monthly-")
@budget_options("The most this analyst may ever spend")
@click.option(
    "--role",
    type=click.Choice(["analyst", "custodian", "reader"]),
    default="analyst",
    show_default=True,
    help="A reader sees declarations and budgets, and replays answers that others paid for.",
)
@click.option("--replace", is_flag=True, help="Replace the analyst's caps by these amounts; others stay.")
@click.option("--add", is_flag=True, help="Add these amounts to the analyst's caps.")
@click.option("--end-caps", is_flag=True, help="End the analyst's caps, except for the amounts given here.")
@click.option("--expires", metavar="WHEN", help="30d, 12h, 8w or 2027-01-31; default: never.")
@vault_option
@click.pass_obj
def command(
    output: Output,
    /,
    vault: Path | str,
    analyst: str,
    tables: tuple[str, ...],
    expires: str | None,
    role: str,
    replace: bool,
    add: bool,
    end_caps: bool,
    **amounts: str | None,
) -> None:
    """Let ANALYST ask about TABLE..., and print the token, which is shown only once.

    Caps only restrict: the budget of the tables holds for all analysts together. They apply to each account, and to
    one analyst over all grants, ended ones too: a second amount needs --replace or --add, only --end-caps ends a cap,
    and what was spent before counts.
    """
    existing = _existing(replace=replace, add=add, end=end_caps)
    cap = budget_of(*(amounts[name] for name in ("epsilon", "delta", "rho")))
    monthly = budget_of(*(amounts[f"monthly_{name}"] for name in ("epsilon", "delta", "rho")))
    from discreet.ledger.grant import check_role

    with opened(vault) as curator:
        accounts = {curator.table(name).account for name in tables}
        before = _caps(curator, analyst, accounts)
        token = curator.grant(
            analyst, tables, budget=cap, monthly=monthly, expires=expires, existing=existing, role=check_role(role)
        )
        after = _caps(curator, analyst, accounts)
    words = [_words(each) for each in after.values()]
    ended = [_ended(each) for key, each in before.items() if key not in after]
    result = {"analyst": analyst, "tables": list(tables), "token": token, "grant": token.partition("_")[0]}
    output.plain(
        {**result, "caps": words, "ended": ended},
        [
            f"{analyst} may ask about {', '.join(tables)}, with this token:",
            token,
            f"It is shown only once. Its grant is {result['grant']}, by which it can be revoked.",
            *(f"Over all grants of {analyst} together: {each}." for each in words),
            *(f"The cap of {analyst} has ended: {each}." for each in ended),
        ],
    )


def _existing(*, replace: bool, add: bool, end: bool) -> Existing | None:
    """Return the one flag that says what becomes of caps there are; two say two things."""
    words = [word for word, said in (("--replace", replace), ("--add", add), ("--end-caps", end)) if said]
    if len(words) > 1:
        why = "they contradict each other"
        raise Refusal(" ".join(words), why=why, fix="give one of them", value=words)
    return "replace" if replace else "add" if add else "end" if end else None


def _caps(curator: Curator, analyst: str, accounts: Collection[str]) -> dict[tuple[str, str], Standing]:
    """Return the analyst's caps on these accounts, by account and scope."""
    found = curator.ledger.standing(analyst)
    return {(each.account, each.scope): each for each in found if each.account in accounts}


def _ended(cap: Standing) -> str:
    from discreet.ask.remaining import declared

    return f"{declared(cap.filter)} of {cap.account}{' a month' if cap.window else ''}"


def _words(cap: Standing) -> str:
    from discreet.ask.remaining import declared, percent, share_left

    span = f" in {cap.window}" if cap.window else ""
    return f"{declared(cap.filter)} of {cap.account}{span}, of which {percent(share_left(cap.filter))} are left"
