"""discreet attack hardness: make up rows out of signed ones, and verify their signatures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from discreet.cli.shared.attack_options import plot_option, progress, show
from discreet.cli.shared.output import Output
from discreet.core.rational import parse_written


@click.command()
@click.option(
    "--rows", type=click.IntRange(min=2), default=200, show_default=True, help="How many messages are signed."
)
@click.option("--epsilon", default="1", show_default=True, help="What Discreet's synthesizers may spend.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("copy", "shuffle", "independent", "mst"),
    show_default=True,
    help="Which method makes synthetic rows. Repeatable.",
)
@plot_option
@click.pass_obj
def command(output: Output, rows: int, epsilon: str, methods: tuple[str, ...], plot: Path | None) -> None:
    """Sign messages with Ed25519, make synthetic rows by each method, and count valid and leaked ones."""
    from discreet.lab.attacks.hardness import SignedMessages, bars, judged

    spent, signed, results = parse_written("epsilon", epsilon), SignedMessages.make(rows), []
    with progress(output, len(methods)) as say:
        for method in methods:
            say(method)
            results.append(judged(signed, method, spent))
    picture = bars(results)
    show(output, [replace(each.outcome, picture=picture) for each in results], plot)
