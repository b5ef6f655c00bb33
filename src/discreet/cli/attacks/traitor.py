"""discreet attack traitor: find out whose keys are in a decoder, by asking it about encrypted bits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.attack_options import plot_option, progress, show, target_option, targets
from discreet.cli.shared.output import Output

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.lab.defence import Defence


@click.command()
@click.option("--users", type=click.IntRange(2, 60), default=20, show_default=True, help="How many users have a key.")
@click.option("--coalition", type=click.IntRange(min=1), help="How many built the decoder; default: half of them.")
@click.option("--repetitions", type=click.IntRange(min=1), help="Repetitions of each stage; default: users^2.")
@click.option("--runs", type=click.IntRange(min=1), default=12, show_default=True, help="Decoders of each kind.")
@target_option("exact", "rounded:5")
@plot_option
@click.pass_obj
def command(
    output: Output,
    users: int,
    coalition: int | None,
    repetitions: int | None,
    runs: int,
    words: tuple[str, ...],
    plot: Path | None,
) -> None:
    """Broadcast a staircase under real keys, and accuse the user at whose step a decoder jumps.

    Two more decoders are always tried: noise of epsilon 1 for each question, and Discreet with epsilon 1 and delta
    1/(10 users) for all of them.
    """
    from discreet.lab.attacks import traitor
    from discreet.lab.attacks.tracing.private_answers import Forgetful, least_noise

    times = repetitions or users**2
    questions = times * (users + 1)
    answering: list[Defence] = [
        *targets(words),
        Forgetful(1, questions),
        least_noise(questions, 1, 1 / (10 * users)),
    ]
    found = []
    with progress(output, len(answering) * runs) as say:
        for each in answering:
            decoders = []
            for number in range(runs):
                say(f"{each.name}, decoder {number + 1}")
                decoders.append(traitor.traitor(users, coalition, each, repetitions=times))
            found.append(decoders)
    picture = traitor.stages([decoders[0] for decoders in found])
    outcomes = [traitor.summary(decoders, picture) for decoders in found]
    show(output, outcomes, plot, _counts(), counts=traitor.counts())


def _counts() -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from discreet.lab.attacks.traitor import counts

    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, title="questions that trace a traitor")
    for heading in ("users n", "n^2 repetitions", "staircase, n^3", "fingerprints, n^2 log n"):
        table.add_column(heading, justify="right")
    for each in counts():
        table.add_row(*(f"{number:,}" for number in each.values()))
    return table
