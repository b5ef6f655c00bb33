"""discreet attack differencing: ask about everyone, then about everyone but one person, and subtract."""

from __future__ import annotations

from pathlib import Path

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
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter


@click.command()
@table_options
@target_option("exact", "suppressed:10", "rounded:5", "laplace:0.5")
@click.option(
    "--person",
    "known",
    multiple=True,
    metavar="ID or COLUMN=VALUE",
    help="The person to attack: an identifier, a row number, or known attributes. Default: a random person.",
)
@click.option("--secret", metavar="COLUMN", help="The column to learn.")
@click.option("--value", help="The value to test for; default: the most common.")
@click.option("--describe", multiple=True, metavar="COLUMN", help="Exclude the person by this column. Repeatable.")
@click.option(
    "--pairs", type=int, help="Crowds to ask about, with and without the person; default: enough for the target."
)
@click.option("--runs", type=int, help="Tries with the bit 0, and as many with the bit 1.")
@click.option("--amount", is_flag=True, help="Learn amounts of many people from sums instead of one person's bit.")
@click.option("--rollup", "cells", type=int, metavar="LEAST", help="Recover cells suppressed below this, from totals.")
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    words: tuple[str, ...],
    known: tuple[str, ...],
    secret: str | None,
    value: str | None,
    describe: tuple[str, ...],
    pairs: int | None,
    runs: int | None,
    amount: bool,
    cells: int | None,
    plot: Path | None,
) -> None:
    """Learn one person's bit, an amount, or a suppressed cell, by subtracting answers that look harmless.

    Without --table it runs on the shipped RAND table.
    """
    from discreet.lab import attacker_choice
    from discreet.lab.attacks.differencing import amounts, differencing, pictured, rollup
    from discreet.noise.uniform import uniform

    people, defences = opened(table, identifier).people(), targets(words)
    if cells is not None:
        show(output, rollup(people, cells), plot)
        return
    column = secret or (attacker_choice.amount(people) if amount else attacker_choice.secret(people))
    if column is None or not people.rows:
        raise BadParameter("secret", secret, why="no column of the table is suitable", fix="name one with --secret")
    with progress(output, len(defences)) as say:
        if amount:
            learned = []
            for defence in defences:
                say(f"{column}: {defence.name}")
                learned.append(amounts(people, column, defence, tries=runs).outcome)
        else:
            someone = uniform(people.rows)
            anyone = people.column(people.identifier)[someone] if people.identifier else someone
            results = []
            for defence in defences:
                say(f"{column}: {defence.name}")
                results.append(
                    differencing(
                        people,
                        _person(known) if known else anyone,
                        column,
                        defence,
                        value=value,
                        describe=describe or None,
                        pairs=pairs,
                        runs=runs,
                    )
                )
            learned = pictured(results)
    show(output, learned, plot)


def _person(known: tuple[str, ...]) -> object:
    """Read a name, or what is known as COLUMN=VALUE."""
    if len(known) == 1 and "=" not in known[0]:
        return known[0]
    parts = [each.partition("=") for each in known]
    if not all(name and sign for name, sign, _ in parts):
        fix = "write --person 125024, or --person age=42 --person site=3"
        raise BadParameter("person", list(known), why="a person is one identifier, or columns with values", fix=fix)
    return {name: value for name, _, value in parts}
