"""discreet demo: draw noise, set it beside the exact distribution, and plot both."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from discreet.cli.output import Output

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.cli._sampled import Sampled

_SHOWN = range(-5, 6)


@click.command()
@click.option("--samples", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="How many to draw.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("demo/noise.png"),
    show_default=True,
    help="Where to put the plot.",
)
@click.pass_obj
def command(output: Output, samples: int, out: Path) -> None:
    """Draw noise, set it beside the exact distribution, and plot both."""
    from rich.markup import escape

    from discreet.cli._plot import plot
    from discreet.cli._sampled import sample

    started = perf_counter()
    small = [sample("laplace", 2, samples), sample("gaussian", 2, samples)]
    large = [sample("laplace", 10, samples), sample("gaussian", 10, samples)]
    seconds = perf_counter() - started
    plot([*small, *large], out)
    result = {
        "samples": samples,
        "seconds": round(seconds, 4),
        "plot": str(out),
        "distributions": {
            panel.name: {"scale": panel.scale, "rows": [asdict(row) for row in panel.rows(_SHOWN)]} for panel in small
        },
    }
    output.show(
        result,
        *(_table(panel) for panel in small),
        f"Drew 4 x {samples:,} integers in {seconds:.2f} s.",
        "One value in a million would differ by 4.9 standard errors or more.",
        f"The plot is in [bold]{escape(str(out))}[/bold].",
    )


def _table(panel: Sampled) -> Table:
    from rich.table import Table

    parameter = "scale" if panel.name == "laplace" else "sigma"
    table = Table(title=f"Discrete {panel.name.capitalize()}, {parameter} {panel.scale}", title_justify="left")
    for heading in ("value", "exact probability", "share of samples", "standard errors"):
        table.add_column(heading, justify="right")
    for row in panel.rows(_SHOWN):
        table.add_row(str(row.value), f"{row.probability:.6f}", f"{row.share:.6f}", f"{row.standard_errors:+.2f}")
    return table
