"""discreet attack census: solve published tables of small blocks for the people in them."""

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
from discreet.cli.shared.exits import Exit
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter


@click.command()
@table_options
@target_option("exact", "suppressed:3", "laplace:1")
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="COLUMN",
    help="A column of the tables, the one with most values (age) first; default: chosen automatically.",
)
@click.option("--register", type=int, default=2, show_default=True, help="How many of them a list of names also has.")
@click.option("--block", metavar="COLUMN", help="The column of blocks; default: random blocks.")
@click.option("--size", type=int, default=20, show_default=True, help="How many people a block has.")
@click.option("--blocks", type=int, default=20, show_default=True, help="How many random blocks to make.")
@click.option("--seconds", type=float, default=0.5, show_default=True, help="The time limit for one block.")
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    words: tuple[str, ...],
    attributes: tuple[str, ...],
    register: int,
    block: str | None,
    size: int,
    blocks: int,
    seconds: float,
    plot: Path | None,
) -> int:
    """Solve published tables of small blocks for the people in them.

    Counts by age, sex and more are published for every block, and an integer program finds the records that fit them
    all. A list of names with some of the columns then says whose they are.
    """
    from discreet.lab.attacks.census import blocked, census, chosen, compared
    from discreet.lab.attacks.reconstruction.people import crowd

    people, defences = crowd(opened(table, identifier)), targets(words)
    names = list(attributes) or (chosen(people) if people is not None else [])
    if people is None or not names:
        why = "no column has tens of integer values, as an age does, next to columns with a few values"
        raise BadParameter("attribute", None, why=why, fix="name the columns with --attribute")
    neighbourhoods = people if block else blocked(people, size, blocks)
    results = []
    with progress(output, len(defences)) as advance:
        for defence in defences:
            advance(defence.name)
            results.append(
                census(
                    neighbourhoods,
                    block=block or "block",
                    attributes=names,
                    defence=defence,
                    register=register,
                    seconds=seconds,
                )
            )
    show(output, compared(results), plot, attributes=names)
    return Exit.DONE
