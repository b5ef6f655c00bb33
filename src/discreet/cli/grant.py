"""discreet grant: let an analyst ask about tables, up to a cap, until a day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli._vault import budget_of, budget_options, opened, vault_option
from discreet.cli.output import Output

if TYPE_CHECKING:
    from discreet.ledger.cap import Existing
    from discreet.ledger.standing import Standing


@click.command()
@click.argument("analyst")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@budget_options("The most this analyst may spend in a month", "monthly-")
@budget_options("The most this analyst may ever spend")
@click.option("--replace", "existing", flag_value="replace", help="Put these caps in the place of the analyst's own.")
@click.option("--add", "existing", flag_value="add", help="Add these caps to those the analyst has.")
@click.option("--expires", metavar="WHEN", help="30d, 12h, 8w or 2027-01-31; never, when left out.")
@vault_option
@click.pass_obj
def command(
    output: Output,
    /,
    vault: Path | str,
    analyst: str,
    tables: tuple[str, ...],
    expires: str | None,
    existing: Existing | None,
    **amounts: str | None,
) -> None:
    """Let ANALYST ask about TABLE..., and print the token, which is shown this once.

    Caps only restrict: the budget of the tables holds for all analysts together. They apply to each account, and to
    one analyst over all grants: a second amount needs --replace or --add, and what was spent before counts.
    """
    cap = budget_of(*(amounts[name] for name in ("epsilon", "delta", "rho")))
    monthly = budget_of(*(amounts[f"monthly_{name}"] for name in ("epsilon", "delta", "rho")))
    with opened(vault) as curator:
        accounts = {curator.table(name).account for name in tables}
        token = curator.grant(analyst, tables, budget=cap, monthly=monthly, expires=expires, existing=existing)
        caps = [each for each in curator.ledger.standing(analyst) if each.account in accounts]
    words = [_words(each) for each in caps]
    result = {"analyst": analyst, "tables": list(tables), "token": token, "grant": token.partition("_")[0]}
    output.plain(
        {**result, "caps": words},
        [
            f"{analyst} may ask about {', '.join(tables)}, with this token:",
            token,
            f"It is shown this once. Its grant is {result['grant']}, by which it can be revoked.",
            *(f"Over all grants of {analyst} together: {each}." for each in words),
        ],
    )


def _words(cap: Standing) -> str:
    from discreet.curator.remaining import declared, percent, share_left

    span = f" in {cap.window}" if cap.window else ""
    return f"{declared(cap.filter)} of {cap.account}{span}, of which {percent(share_left(cap.filter))} are left"
