"""discreet attack tracing: tell from published averages who is among those who were averaged."""

from __future__ import annotations

from dataclasses import replace
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


@click.command()
@table_options
@target_option("exact", "rounded:5", "laplace:1", "gaussian:0.02")
@click.option(
    "--made",
    type=click.IntRange(min=1),
    metavar="ATTRIBUTES",
    help="Use made-up people with this many attributes instead of a table; the plot also shows fewer.",
)
@click.option(
    "--people", type=click.IntRange(min=2), default=100, show_default=True, help="How many people are averaged."
)
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    words: tuple[str, ...],
    made: int | None,
    people: int,
    plot: Path | None,
) -> None:
    """Average the attributes of some people, and tell members from outsiders.

    On a table, the attributes are the values of its columns, cuts of its numbers and cells of its cross tables.
    """
    from discreet.lab.attacks import tracing

    answering = targets(words)
    with progress(output, len(answering)) as say:
        if made is None:
            results = tracing.traced(opened(table, identifier), answering, members=people, say=say)
            outcomes = tracing.together(results) if results else []
        else:
            outcomes = []
            for each in answering:
                say(each.name)
                outcomes.append(tracing.made(each, members=people, attributes=made).outcome)
            if plot is not None:
                picture = tracing.climb(answering, _sizes(made), members=people)
                outcomes = [replace(each, picture=picture) for each in outcomes]
    show(output, outcomes, plot)


def _sizes(most: int) -> list[int]:
    """Return powers of ten up to a number of attributes, and the number itself."""
    return sorted({*(10**power for power in range(1, len(str(most))) if 10**power < most), most})
