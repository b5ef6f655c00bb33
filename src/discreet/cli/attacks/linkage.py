"""discreet attack linkage: who is alone in a table, and what a list with names teaches of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.lab.attacks.linkage import Sparse, Uniqueness
    from discreet.lab.table_copy import TableCopy


@click.command()
@table_options
@click.option("--quasi", metavar="A,B,C", help="Columns that others know; default: guessed from their names.")
@click.option("--search", is_flag=True, help="Search for the most identifying columns.")
@click.option("--secret", metavar="COLUMN", help="The column that the attacker wants to learn.")
@click.option("--with", "other", type=click.Path(path_type=Path), help="A second table with names, to join with.")
@click.option(
    "--with-identifier", metavar="COLUMN", help="Its identifier column; used as the truth if both tables have one."
)
@click.option("--on", metavar="A,B,C", help="The columns to join on; default: those of --quasi.")
@click.option("--fuzzy", "blurred", is_flag=True, help="Identify people by a few inexact facts.")
@click.option("--item", metavar="COLUMN", help="With --fuzzy: the column that says what a row is about.")
@click.option("--rating", metavar="COLUMN", help="With --item: a column of numbers.")
@click.option("--day", metavar="COLUMN", help="With --item: a column of dates.")
@target_option("exact", "rounded:5", "sampled:0.5", "suppressed:5", "laplace:1")
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    quasi: str | None,
    search: bool,
    secret: str | None,
    other: Path | None,
    with_identifier: str | None,
    on: str | None,
    blurred: bool,
    item: str | None,
    rating: str | None,
    day: str | None,
    words: tuple[str, ...],
    plot: Path | None,
) -> None:
    """Identify people in a table without names.

    Says who is alone by what others know of them; then publishes half of the table behind each target and joins a list
    of everyone to it. With --with it joins the two files, and with --fuzzy it scores inexact facts: on made-up film
    ratings if no --table is given.
    """
    from discreet.lab.attacks.linkage import linkage, uniqueness

    if blurred:
        _fuzzy(output, None if table is None else opened(table, identifier), item, rating, day, plot)
        return
    copied = opened(table, identifier)
    if other is not None:
        from discreet.lab.table_copy import TableCopy

        listed = TableCopy.read(other, identifier=with_identifier)
        joined = linkage(copied, listed, _split(on or quasi) or [])
        show(output, [joined.outcome], plot)
        return
    columns = None if search else _split(quasi) or _known(copied)
    found = uniqueness(copied, columns)
    outcomes = [found.outcome]
    if not search:
        outcomes += _published(output, copied, list(found.whole.columns), secret, words)
    show(output, outcomes, plot, _steps(found))


def _published(
    output: Output, copied: TableCopy, on: list[str], secret: str | None, words: tuple[str, ...]
) -> list[Any]:
    from discreet.lab.attacks.linkage import kept, learned

    wanted = secret or kept(copied.people(), on)
    if wanted is None:
        return []
    defences = targets(words)
    outcomes = []
    with progress(output, len(defences)) as advance:
        for defence in defences:
            advance(f"a list joined to {defence.name}")
            outcomes.append(learned(copied, on, wanted, defence).outcome)
    return outcomes


def _fuzzy(
    output: Output, copied: TableCopy | None, item: str | None, rating: str | None, day: str | None, plot: Path | None
) -> None:
    from discreet.lab.attacks.linkage import fuzzy

    with progress(output) as advance:
        advance("reading")
        facts, name, dated = _facts(copied, item, rating, day)
        advance("identifying people by a few facts")
        levels = [many for many in (2, 3, 4, 6, 8) if many <= facts.most]
        if not levels:
            why = "nobody has two facts in the table"
            raise BadParameter("table", name, why=why, fix="give a table with several columns, or rows for each person")
        found = fuzzy(facts, levels, days=(3, 14) if dated else (0,), name=name)
    show(output, [replace(found, made=copied is None).outcome], plot)


def _facts(copied: TableCopy | None, item: str | None, rating: str | None, day: str | None) -> tuple[Sparse, str, bool]:
    from discreet.lab.attacks.linkage import Sparse, ratings

    if copied is None:
        return ratings(), "made-up ratings", True
    if item is None:
        return Sparse.facts(copied), copied.name, False
    return Sparse.read(copied, item, rating, day), copied.name, day is not None


def _known(copied: TableCopy) -> list[str]:
    from discreet.lab.attacks.linkage import known

    return [*known(copied)]


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _steps(found: Uniqueness) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("known")
    for heading in ("alone", "share", "among fewer than 5", "smallest class"):
        table.add_column(heading, justify="right", no_wrap=True)
    for place, step in enumerate(found.steps):
        name = f"{'+ ' if place else ''}{step.columns[-1]}"
        table.add_row(name, f"{step.unique:,}", f"{step.share:.1%}", f"{step.few:,}", f"{step.smallest:,}")
    return table
