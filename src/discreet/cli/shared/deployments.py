"""discreet account deployments: published epsilons, converted to one scale."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.files import NEW_FILE, written_anywhere
from discreet.cli.shared.output import Output, console
from discreet.core.rational import parse_written

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.account.deployments import Deployment

_ROOMY = 110
_NOTE = """[dim]epsilon, and how often the best attacker guesses a fair bit, are for what is protected; delta {delta:g}.
A month and a year are upper bounds, by composition, of what one person may lose if the guarantee is renewed.
A dash: the publication does not say, or not at this delta. A wider screen shows what was published.[/dim]"""


@click.command()
@click.option("--delta", default="1e-6", show_default=True, metavar="NUMBER", help="The delta of the one scale.")
@click.option("--plot", type=NEW_FILE, help="Draw it (.png, .svg or .pdf).")
@click.pass_obj
def deployments(output: Output, delta: str, plot: Path | None) -> None:
    """Compare published privacy guarantees of products on one scale."""
    from discreet.account.deployments import compared
    from discreet.account.numeric.checks import failure

    slack = Fraction(failure("delta", parse_written("delta", delta)))
    found = compared(slack)
    if plot is not None:
        with written_anywhere(plot) as place:
            _draw(found, slack, place)
    record = {
        "delta": float(slack),
        "deployments": [each.record(slack) for each in found],
        "plot": str(plot) if plot else None,
    }
    where = [f"The plot is in [bold]{plot}[/bold]."] if plot else []
    output.show(record, _table(found, slack), _NOTE.format(delta=float(slack)), *where)


def _table(found: list[Deployment], delta: Fraction) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    roomy = console().width >= _ROOMY
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("who, and what", ratio=3 if roomy else None)
    if roomy:
        table.add_column("published", ratio=2)
    table.add_column("protects")
    for heading in ("epsilon", "guess", "a month", "a year"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found:
        month, year = each.over(delta)
        figures = _figure(each.epsilon(delta)), _percent(each.guess(delta)), _figure(month), _figure(year)
        local = " [dim](local)[/dim]" if each.model == "local" else ""
        name = f"[bold]{each.organisation}[/bold] {each.year}, {each.product}{local}"
        table.add_row(name, *([f"[dim]{each.published}[/dim]"] if roomy else []), each.protects, *figures)
    return table


def _draw(found: list[Deployment], delta: Fraction, path: Path) -> None:
    """Draw a bar for each that has a place on the scale: by the model, and with what it protects in its name."""
    from discreet.lab.picture import Bars, save

    placed = [(each, epsilon) for each in found if (epsilon := each.epsilon(delta)) is not None]
    bars = Bars(
        "Published epsilons (orange: local)",
        [f"{each.organisation}: {each.product}\nfor {each.protects}" for each, _ in placed],
        [epsilon for _, epsilon in placed],
        f"epsilon at delta {float(delta):g}",
        ["bad" if each.model == "local" else "good" for each, _ in placed],
    )
    save(bars, path)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    # What rounds to certainty is told as what it stays below.
    return "> 99.99%" if value > 0.9999 else f"{value:.2%}"
