"""discreet attack intersection: two k-anonymous releases, and what both together leave possible."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.attack_options import opened, plot_option, progress, show, table_options
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter
from discreet.core.rational import parse_written


@click.command()
@table_options
@click.option(
    "--releases",
    nargs=2,
    type=click.Path(path_type=Path),
    help='Two of your own generalized tables; cells such as "30-39", "[30, 40)", "65+", "4790*", "a|b" or "*".',
)
@click.option("--quasi", multiple=True, metavar="COLUMN", help="A column that the attacker knows. Repeatable.")
@click.option("--sensitive", metavar="COLUMN", help="The sensitive column.")
@click.option("--k", default=5, show_default=True, help="The k of k-anonymity of the two releases.")
@click.option(
    "--diversity", default=1, show_default=True, help="The l of l-diversity: the least sensitive values of a class."
)
@click.option("--epsilon", default="1/2", show_default=True, help="Epsilon of each private release, for comparison.")
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    releases: tuple[Path, Path] | None,
    quasi: tuple[str, ...],
    sensitive: str | None,
    k: int,
    diversity: int,
    epsilon: str,
    plot: Path | None,
) -> None:
    """Intersect what two releases say of people who are in both.

    With --releases, your own two files are compared: those who may be in both, and with --table (exact values of people
    whom the attacker knows) these people. Else a table is cut into two hospitals that share a third of their patients.
    """
    from discreet.lab import attacker_choice
    from discreet.lab.attacks.intersection import hospitals, intersection, noisy, release_of
    from discreet.lab.table_copy import TableCopy

    if releases is not None:
        if not quasi or sensitive is None:
            why = "only you know which columns were generalized, and which one is sensitive"
            raise BadParameter(
                "releases", [str(each) for each in releases], why=why, fix="give --quasi and --sensitive"
            )
        first, second = (release_of(TableCopy.read(path), quasi, sensitive) for path in releases)
        people = None
        if table is not None:
            known = opened(table, identifier)
            people = list(zip(*(attacker_choice.plain(known.column(name)) for name in quasi), strict=True))
        show(output, [intersection(first, second, people).outcome], plot)
        return
    copied = attacker_choice.crowd(opened(table, identifier))
    secret = sensitive or attacker_choice.sensitive(copied)
    columns = list(quasi) or (attacker_choice.known(copied, secret) if secret else [])
    if secret is None or not columns:
        fix = "name them with --quasi and --sensitive"
        raise BadParameter("sensitive", sensitive, why="the table has no suitable columns", fix=fix)
    with progress(output, 2) as say:
        say(f"{secret}: two k-anonymous releases")
        outcomes = [hospitals(copied, columns, secret, k, diversity=diversity).outcome]
        say(f"{secret}: two releases with noise")
        smallest = min(columns, key=lambda name: int(copied.codes([name]).max()))
        outcomes.append(noisy(copied, smallest, secret, parse_written("epsilon", epsilon)))
    show(output, outcomes, plot)
