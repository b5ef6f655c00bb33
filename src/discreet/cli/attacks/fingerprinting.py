"""discreet attack fingerprinting: mark what users get, and tell from a mixed copy who mixed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.attack_options import plot_option, progress, show, target_option, targets
from discreet.cli.shared.output import Output

if TYPE_CHECKING:
    from discreet.lab.defence import Defence


@click.command()
@click.option(
    "--users", type=click.IntRange(min=1), default=100, show_default=True, help="How many users get a codeword."
)
@click.option(
    "--coalition", type=click.IntRange(min=1), default=10, show_default=True, help="How many of them collude."
)
@click.option(
    "--pirate",
    "pirates",
    multiple=True,
    default=("majority", "minority", "coin", "member", "ones"),
    show_default=True,
    help="How they mix where their codewords differ. Repeatable.",
)
@target_option("exact", "rounded:2", "laplace:1")
@plot_option
@click.pass_obj
def command(
    output: Output, users: int, coalition: int, pirates: tuple[str, ...], words: tuple[str, ...], plot: Path | None
) -> None:
    """Give users codewords of Tardos's code, let a coalition mix a copy, and accuse its members.

    Targets are pirates too: they publish how many of the coalition have a one at each position.
    """
    from discreet.lab.attacks.fingerprinting import fingerprinting

    outcomes = []
    mixing: list[str | Defence] = [*pirates, *targets(words)]
    with progress(output, len(mixing)) as say:
        for each in mixing:
            say(each if isinstance(each, str) else each.name)
            outcomes.append(fingerprinting(users, coalition, each).outcome)
    show(output, outcomes, plot)
