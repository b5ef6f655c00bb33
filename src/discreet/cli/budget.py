"""discreet budget: how much of every budget, cap and window is spent, and what is left."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.output import Output, console
from discreet.cli.shared.vault_options import opened, vault_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from discreet.ledger.standing import Standing

_ROOMY, _WIDTH = 76, 20
_FULL, _EMPTY = "█", "░"


@click.command()
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="Show what the holder of this token may see.")
@vault_option
@click.pass_obj
def command(output: Output, vault: Path | str, token: str | None) -> None:
    """Show what is spent and what is left: of lifetime budgets, caps and monthly windows.

    With an analyst's token only that analyst's own limits are shown, and what the tables have left for everyone.
    """
    with opened(vault) as curator:
        grant = None if token is None else curator.ledger.authenticate(token)
        standings = curator.budgets(grant)
        names = curator.tables() if grant is None else [name for name in curator.tables() if grant.covers(name)]
        tables = {name: curator.table(name).account for name in names}
    analyst = grant.analyst if grant is not None and grant.role == "analyst" else None
    result = {"analyst": analyst, "limits": [_record(each, tables) for each in standings]}
    output.show(result, *_views(standings, tables))


def _record(standing: Standing, tables: dict[str, str]) -> dict[str, Any]:
    from discreet.ask.registered import budget_record
    from discreet.ask.remaining import percent, share_left
    from discreet.curator.accounts import budget_of_filter

    limit, figures = standing.filter, standing.filter.figures
    return {
        "scope": standing.scope,
        "account": standing.account,
        "tables": [name for name, account in tables.items() if account == standing.account],
        "analyst": standing.analyst,
        "window": standing.window,
        "budget": budget_record(budget_of_filter(limit)),
        "currency": figures.currency,
        "spent": dict(zip(("loss", "delta"), figures.spent.texts(), strict=True)),
        "remaining": dict(zip(("loss", "delta"), figures.remaining.texts(), strict=True)),
        "share": float(1 - share_left(limit)),
        "left": percent(share_left(limit)),
    }


def _views(standings: Sequence[Standing], tables: dict[str, str]) -> list[RenderableType]:
    from rich.text import Text

    if not standings:
        return [Text("There are no budgets yet: register a table first.")]
    views: list[RenderableType] = []
    for account in sorted({each.account for each in standings}):
        names = [name for name, paying in tables.items() if paying == account]
        title = Text(account, style="bold")
        if names and names != [account]:
            title.append(f"  pays for {', '.join(names)}", style="not bold")
        own = _sorted([each for each in standings if each.account == account])
        views += [title, _table(own), *_counted(own)]
    return views


def _sorted(standings: Sequence[Standing]) -> list[Standing]:
    order = {"account": 0, "grant": 1, "window": 2}
    return sorted(standings, key=lambda each: (each.analyst or "", order[each.scope]))


def _counted(standings: Sequence[Standing]) -> Iterator[RenderableType]:
    """Yield the exact figures of limits that are counted in another currency than they were declared in."""
    from rich.padding import Padding
    from rich.text import Text

    from discreet.ask.remaining import counted

    for each in standings:
        if words := counted(each.filter):
            yield Padding(Text(f"{_label(each)}: {words}", style="dim"), (0, 0, 0, 2), expand=False)


def _table(standings: Sequence[Standing]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from discreet.ask.remaining import declared, share_left

    roomy = console().width >= _ROOMY
    table = Table.grid(padding=(0, 1, 0, 0))
    for each in standings:
        label, of, spent = f"  {_label(each)}", f"of {declared(each.filter)}", 1 - share_left(each.filter)
        if roomy:
            table.add_row(Text(label), _bar(spent, _WIDTH), Text(_left(each), justify="right"), Text(of))
        else:  # the bar below its name
            table.add_row(Text(f"{label} {of}"))
            table.add_row(Text("  ").append(_bar(spent, _WIDTH // 2)).append(f" {_left(each)}"))
    return table


def _label(standing: Standing) -> str:
    when = standing.window or "lifetime"
    return f"{standing.analyst}, {when}" if standing.analyst else when


def _bar(share: Fraction, width: int) -> Text:
    from math import ceil

    from rich.text import Text

    # Rounded up, so something spent is something seen.
    full = min(width, ceil(share * width))
    style = "red" if share >= Fraction(9, 10) else "yellow" if share >= Fraction(1, 2) else "green"
    return Text.assemble((_FULL * full, style), (_EMPTY * (width - full), "dim"))


def _left(standing: Standing) -> str:
    from discreet.ask.remaining import delta_is_short, percent, share_left

    left = share_left(standing.filter)
    words = f"{percent(left)} left" if left else "nothing left"
    return f"{words} (delta)" if delta_is_short(standing.filter) else words
