"""discreet grant: let an analyst ask about tables, up to a cap, until a day."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli._vault import budget_of, budget_options, opened, vault_option
from discreet.cli.output import Output


@click.command()
@click.argument("analyst")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@budget_options("The most this analyst may spend in a month", "monthly-")
@budget_options("The most this analyst may ever spend")
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
    **amounts: str | None,
) -> None:
    """Let ANALYST ask about TABLE..., and print the token, which is shown this once.

    Caps only restrict: the budget of the tables holds for all analysts together. They apply to each account.
    """
    cap = budget_of(*(amounts[name] for name in ("epsilon", "delta", "rho")))
    monthly = budget_of(*(amounts[f"monthly_{name}"] for name in ("epsilon", "delta", "rho")))
    with opened(vault) as curator:
        token = curator.grant(analyst, tables, budget=cap, monthly=monthly, expires=expires)
    result = {"analyst": analyst, "tables": list(tables), "token": token, "grant": token.partition("_")[0]}
    output.plain(
        result,
        [
            f"{analyst} may ask about {', '.join(tables)}, with this token:",
            token,
            f"It is shown this once. Its grant is {result['grant']}, by which it can be revoked.",
        ],
    )
