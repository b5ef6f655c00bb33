"""discreet attack reconstruction: guess a secret bit of everyone from counts of many groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from discreet.cli.shared.attack_options import (
    opened,
    plot_option,
    progress,
    show,
    table_options,
    target_option,
    targets,
)
from discreet.cli.shared.exits import Exit
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.lab.attacks.reconstruction import Method, Shape

_METHODS = ("auto", "exhaustive", "linear-program", "least-squares", "message-passing")


@click.command()
@table_options
@target_option("exact", "rounded:5", "rounded:10", "suppressed:10", "laplace:1", "gaussian:0.1")
@click.option("--secret", metavar="COLUMN", help="The secret column; default: one that splits people in half.")
@click.option("--value", metavar="VALUE", help="The bit is whether it has this value; default: the most common.")
@click.option(
    "--people", type=int, default=400, show_default=True, help="How many people to attack, half of them with the bit."
)
@click.option("--questions", type=int, help="How many counts to ask for; default: four per person.")
@click.option("--method", type=click.Choice(_METHODS), default="auto", show_default=True, help="How to solve.")
@click.option(
    "--shape",
    type=click.Choice(["random", "sql"]),
    default="random",
    show_default=True,
    help="Random groups, or WHERE clauses over the other columns.",
)
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    words: tuple[str, ...],
    secret: str | None,
    value: str | None,
    people: int,
    questions: int | None,
    method: str,
    shape: Shape,
    plot: Path | None,
) -> int:
    """Guess a secret bit of everyone from counts of many groups.

    People are copied out of the table such that half of them have the bit. Each target answers how many of a group
    have it, and the equations are solved for all bits at once.
    """
    from discreet.lab.attacks.reconstruction import compared, reconstruction
    from discreet.lab.attacks.reconstruction.people import crowd, fair, secret_column
    from discreet.lab.table_copy import TableCopy

    everyone, defences = crowd(opened(table, identifier)), targets(words)
    column = secret or (secret_column(everyone) if everyone is not None else None)
    if everyone is None or column is None:
        why = "no column has a few values that enough people share"
        raise BadParameter("secret", column, why=why, fix="name one with --secret")
    chosen, bits = fair(everyone, everyone.bits(column, value), people)
    public = TableCopy(chosen.name, {name: chosen.column(name) for name in chosen.attributes if name != column})
    solver = cast("Method", method.replace("-", "_"))  # click has checked it
    results = []
    with progress(output, len(defences)) as advance:
        for defence in defences:
            advance(defence.name)
            results.append(
                reconstruction(bits, defence, questions=questions, method=solver, shape=shape, public=public)
            )
    show(output, compared(results), plot, secret=column)
    return Exit.DONE
