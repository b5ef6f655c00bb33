"""discreet attack danger: the danger meter, for a release that is planned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.attack_options import plot_option
from discreet.cli.shared.output import Output
from discreet.core.rational import parse_written

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.lab.danger import Danger

_STYLES = {"bounded": "green", "not shown": "dim", "succeeds": "bold red"}


@click.command()
@click.option("--rows", type=int, required=True, help="How many people the table has.")
@click.option("--questions", type=int, required=True, help="How many counts will be published.")
@click.option("--error", help="Each count is off by up to this many people; 0 if exact.")
@click.option("--rounded", type=int, help="Counts are rounded to multiples of this.")
@click.option("--laplace", help="Laplace noise with this total epsilon.")
@click.option("--gaussian", help="Gaussian noise with this total rho.")
@plot_option
@click.pass_obj
def command(
    output: Output,
    rows: int,
    questions: int,
    error: str | None,
    rounded: int | None,
    laplace: str | None,
    gaussian: str | None,
    plot: Path | None,
) -> None:
    """Say how much of a table a planned release would reveal; no table is needed.

    Overly accurate answers to too many questions reveal everyone, by least squares.
    """
    from rich.text import Text

    from discreet.lab.danger import danger
    from discreet.lab.picture import save

    given = {"error": error, "laplace": laplace, "gaussian": gaussian}
    read = {name: parse_written(name, text) for name, text in given.items() if text is not None}
    meter = danger(rows, questions, rounded=rounded, **read)
    if plot is not None:
        save(meter.picture, plot)
    last = [Text(f"The picture is in {plot}.", style="dim")] if plot else []
    record = {**meter.record(), "sentence": meter.sentence, "plot": str(plot) if plot else None}
    output.show(record, _table(meter), Text(meter.sentence), *last)


def _table(meter: Danger) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    table.add_row("verdict", Text(meter.verdict, style=_STYLES[meter.verdict]))
    table.add_row("bits recovered by least squares", f"{meter.share:.1%}")
    table.add_row("error of an answer, in people", f"{meter.deviation:,.4g}")
    table.add_row("... divided by the square root of the number of people", f"{meter.position:.3g}")
    table.add_row("... at which 60% of the bits are recovered", f"{meter.needed:,.4g}")
    table.add_row("total epsilon, if it were Laplace noise", f"{meter.laplace:,.4g}")
    table.add_row(f"total epsilon, if it were Gaussian (delta {meter.record()['delta']:g})", f"{meter.gaussian:,.4g}")
    table.add_row("questions with this accuracy for epsilon 1", f"{meter.affordable:,}")
    return table
