"""discreet account: what privacy losses cost together, by every method side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from discreet.cli.shared.deployments import deployments
from discreet.cli.shared.files import NEW_FILE, written_anywhere
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter
from discreet.core.rational import parse_written
from discreet.core.unit import Relation

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.table import Table

    from discreet.cli.shared.accounting_methods import MethodOutcome

_EVENTS = """\b
laplace:10*1000              a thousand Laplace mechanisms of scale 10
laplace:epsilon=0.1x1000     the same, given by epsilon (x needs no quotes)
gaussian:1.1@0.01*10000      Poisson samples at rate 0.01, ten thousand steps
approx:0.1,1e-9 pure:0.5     one after the other
"""

_CONVERSIONS = """\b
--rho R --delta D          epsilon of R-zCDP, by three formulas
--rho R --epsilon E        delta of R-zCDP, by the same
--mu M --delta D           epsilon of Gaussian privacy
--epsilon E --delta D      the rho, mu and sigma that suffice for (E, D)
--epsilon E                the rho of pure E
"""


def _exact(_: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
    """Read a number exactly as written."""
    return None if text is None else parse_written(option.name or "number", text)


_number = partial(click.option, metavar="NUMBER", callback=_exact)
_DELTA = _number("--delta", default="1e-6", show_default=True, help="Probability of failure.")
_RELATION = click.option(
    "--relation", type=click.Choice(get_args(Relation)), default="add_remove", show_default=True, help="Neighbours."
)


@click.group()
def command() -> None:
    """Privacy accounting: compose and convert losses, calibrate noise, plot."""


command.add_command(deployments)


@command.command(epilog=_EVENTS)
@click.argument("events", nargs=-1, required=True)
@_DELTA
@_RELATION
@click.pass_obj
def compose(output: Output, events: tuple[str, ...], delta: Fraction, relation: Relation) -> None:
    """Show the epsilon of the composition of EVENTS, by every method."""
    from discreet.cli.shared.accounting_methods import compare
    from discreet.cli.shared.loss_expression import join, parse

    text = join(events)
    outcomes = compare(parse(text, relation=relation), delta)
    result = {
        "events": text,
        "relation": relation,
        "delta": float(delta),
        "methods": {row.method: _method(row) for row in outcomes},
    }
    output.show(result, _comparison(text, delta, outcomes))


@command.command(epilog=_CONVERSIONS)
@_number("--rho", help="Concentrated privacy.")
@_number("--mu", help="Gaussian privacy.")
@_number("--epsilon", help="Epsilon, given or to be found.")
@_number("--delta", help="Probability of failure, given or to be found.")
@click.pass_obj
def convert(
    output: Output, rho: Fraction | None, mu: Fraction | None, epsilon: Fraction | None, delta: Fraction | None
) -> None:
    """Convert between rho, mu, epsilon and delta."""
    from discreet.cli.shared.conversions import converted

    lines = converted(rho=rho, mu=mu, epsilon=epsilon, delta=delta)
    table = _table(lines.title, "formula", lines.quantity, "where from")
    for line in lines.lines:
        table.add_row(line.name, f"{line.value:.4g}", line.note)
    result = {line.name: {lines.quantity: line.value, "note": line.note} for line in lines.lines}
    output.show({"given": lines.given, "converted": result}, table, *([lines.remark] if lines.remark else []))


@command.command()
@click.argument("mechanism", type=click.Choice(["gaussian", "laplace", "noise-multiplier"]))
@_number("--epsilon", required=True, help="The epsilon to reach.")
@_number("--delta", help="Probability of failure (not for laplace).")
@_number("--rate", help="Sampling rate of each step (noise-multiplier).")
@click.option("--steps", type=int, help="How many steps (noise-multiplier).")
@click.pass_obj
def calibrate(
    output: Output, mechanism: str, epsilon: Fraction, delta: Fraction | None, rate: Fraction | None, steps: int | None
) -> None:
    """Find the least noise, per unit of sensitivity, that reaches an epsilon.

    The figure is rounded to the safe side: the result is at most EPSILON.
    """
    import discreet.account.budgets.calibrate as search

    given = {"epsilon": epsilon, "delta": delta, "rate": rate, "steps": steps}
    wanted = {
        "laplace": ("epsilon",),
        "gaussian": ("epsilon", "delta"),
        "noise-multiplier": ("epsilon", "delta", "rate", "steps"),
    }[mechanism]
    for name, value in given.items():
        if (value is None) == (name in wanted):
            fix = f"give {' and '.join('--' + each for each in wanted)}"
            why = f"{mechanism} {'needs it' if value is None else 'does not take it'}"
            raise BadParameter(name, value, why=why, fix=fix)
    used = {name: value for name, value in given.items() if name in wanted}
    figure = float(getattr(search, mechanism.replace("-", "_"))(**used))
    parameter = "scale" if mechanism == "laplace" else "sigma"
    shown = {name: steps if name == "steps" else float(value) for name, value in used.items() if value is not None}
    said = ", ".join(f"{name} {_figure(float(value))}" for name, value in shown.items() if value is not None)
    output.show({"mechanism": mechanism, **shown, parameter: figure}, f"{parameter} [bold]{figure!r}[/bold] for {said}")


@command.command(epilog=_EVENTS)
@click.argument("events", nargs=-1, required=True)
@_DELTA
@click.option("--most", type=click.IntRange(min=2), default=1000, show_default=True, help="Largest k of the plot.")
@click.option("--tradeoff", is_flag=True, help="Draw the trade-off curve of a tester's errors instead.")
@click.option(
    "--out",
    type=NEW_FILE,
    default=Path("account.png"),
    show_default=True,
    help="Where to put the plot (.png, .svg or .pdf).",
)
@_RELATION
@click.pass_obj
def plot(
    output: Output, events: tuple[str, ...], delta: Fraction, most: int, tradeoff: bool, out: Path, relation: Relation
) -> None:
    """Plot the epsilon of k times EVENTS against k, or the trade-off curve of EVENTS."""
    from discreet.cli.shared.account_plot import plot_epsilon, plot_tradeoff
    from discreet.cli.shared.loss_expression import join, parse

    text = join(events)
    loss = parse(text, relation=relation)
    with written_anywhere(out) as place:
        curves = plot_tradeoff(loss, text, place) if tradeoff else plot_epsilon(loss, text, delta, most, place)
    what = "the trade-off curve" if tradeoff else f"epsilon against k up to {most:,}"
    result = {"events": text, "relation": relation, "plot": str(out), "curves": curves}
    output.show(result, f"The plot of {what} is in [bold]{out}[/bold].")


def _comparison(text: str, delta: Fraction, outcomes: list[MethodOutcome]) -> Table:
    from rich.markup import escape

    table = _table(f"{escape(text)} at delta {_figure(float(delta))}", "method", "epsilon", "what it is, or why not")
    tightest = min((row.epsilon for row in outcomes if row.epsilon is not None), default=None)
    for row in outcomes:
        best = row.epsilon is not None and row.epsilon == tightest
        shown = "not applicable" if row.epsilon is None else _figure(row.epsilon)
        style = "bold green" if best else "dim" if row.epsilon is None else ""
        table.add_row(row.method, shown, escape(row.note), style=style)
    return table


def _method(row: MethodOutcome) -> dict[str, object]:
    return {"epsilon": row.epsilon, "note": row.note}


def _table(title: str, *headings: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place == 1 else "left")
    return table


def _figure(value: float) -> str:
    """Write a figure with six digits, whole where it is whole."""
    return f"{value:.6g}"
