"""discreet fit: pay for a model that predicts a column of a table from others, and save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import NEW_FILE, written
from discreet.cli.shared.output import Output
from discreet.cli.shared.question_options import price_of, session_of
from discreet.cli.shared.vault_options import budget_options, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.learn.linear_model import LinearModel

_SHOWN = 12


@click.command()
@click.argument("table")
@click.option("--target", required=True, help="The column to learn.")
@click.option("--model", default="logistic", show_default=True, help="logistic, hinge (a linear SVM) or squared.")
@click.option("--column", "columns", multiple=True, help="A column to learn from; default: all but free text.")
@click.option("--bins", type=int, default=16, show_default=True, help="The most bins for a number or a date.")
@click.option("--scale", is_flag=True, help="Scale numbers between their bounds instead of putting them into bins.")
@click.option("--out", type=NEW_FILE, help="Save the model: a JSON file that discreet predict and learn.load read.")
@click.option("--preview", is_flag=True, help="Show the price and what to expect, for free, and stop.")
@click.option("--fresh", is_flag=True, help="Pay again for a new model instead of a replay.")
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="What the custodian gave you.")
@vault_option
@budget_options("What the model may cost")
@click.pass_obj
def command(
    output: Output,
    table: str,
    target: str,
    model: str,
    columns: tuple[str, ...],
    bins: int,
    scale: bool,
    out: Path | None,
    preview: bool,
    fresh: bool,
    token: str | None,
    vault: Path,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
) -> None:
    """Train a linear model of TABLE that predicts a column from others.

    The same request on the same version of the data is replayed for free.
    """
    from discreet.account.budgets.price import Price
    from discreet.ask.request import DeskRequest, TrainingTerms

    if out is not None and not out.parent.is_dir():
        raise BadParameter("out", str(out), why="there is no such folder", fix="make the folder first")
    price = Price.of(*price_of(epsilon, delta, rho))
    with session_of(vault, token) as session:
        terms = TrainingTerms(model, target, columns or None, None if scale else bins)
        request = DeskRequest("fit", session.table(table), terms, price)
        if preview:
            shown = session.desk.preview(request)
            output.show(shown.record(), str(shown))
            return
        released = session.desk.run(request, fresh=fresh)
        if out is not None:
            with written(out) as place:
                released.answer.save(place)
        found: dict[str, Any] = {
            "table": table,
            "target": target,
            "words": [*released.answer.words],
            "coefficients": {label: [*each] for label, each in released.answer.coefficients().items()},
            "file": None if out is None else str(out),
            "receipt": dict(released.receipt),
            "remaining": released.remaining,
        }
        paid = "replayed, free" if released.receipt["replayed"] else "paid"
        last = f"{paid}; {released.remaining} remains" + (f"; out: {out}" if out is not None else "")
        output.show(found, "\n".join([*_lines(released.answer), *released.answer.words, last]))


def _lines(model: LinearModel) -> list[str]:
    """Write the entries that weigh most, one a line."""
    named = sorted(model.coefficients().items(), key=lambda each: -max(map(abs, each[1])))
    lines = [f"{label:<40} {'  '.join(f'{weight:+.3f}' for weight in row)}" for label, row in named[:_SHOWN]]
    return [*lines, f"and {len(named) - _SHOWN} more"] if len(named) > _SHOWN else lines
