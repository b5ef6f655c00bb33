"""discreet attack averaging: ask the same question again and again, until the noise is averaged away."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.attack_options import opened, plot_option, progress, show, table_options
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter
from discreet.core.rational import parse_written


@click.command()
@table_options
@click.option("--secret", metavar="COLUMN", help="The column to count.")
@click.option("--value", help="The value to count; default: the most common.")
@click.option("--epsilon", default="1/2", show_default=True, help="Epsilon of each answer that no account tracks.")
@click.option("--times", type=int, default=400, show_default=True, help="How many times to ask.")
@click.option("--total", default="1", show_default=True, help="The budget of the vault; each answer costs a tenth.")
@click.option(
    "--survey", type=int, default=21, show_default=True, metavar="TIMES", help="How many times a survey asks."
)
@plot_option
@click.pass_obj
def command(
    output: Output,
    table: Path | None,
    identifier: str | None,
    secret: str | None,
    value: str | None,
    epsilon: str,
    times: int,
    total: str,
    survey: int,
    plot: Path | None,
) -> None:
    """Average the noise of a count away: without an account, at a vault, and in a survey that asks again.

    Without --table it runs on the shipped RAND table.
    """
    from discreet.lab import attacker_choice
    from discreet.lab.attacks.averaging import averaging, ledgered, surveyed

    people = attacker_choice.crowd(opened(table, identifier))
    column = secret or attacker_choice.secret(people)
    if column is None or not people.rows:
        raise BadParameter("secret", secret, why="no column of the table is suitable", fix="name one with --secret")
    budget = parse_written("total", total)
    with progress(output, 4) as say:
        say("fresh noise for every call")
        outcomes = [averaging(people, column, parse_written("epsilon", epsilon), times, value=value).outcome]
        say("a vault that keeps an account")
        outcomes.append(ledgered(people, column, budget / 10, budget, value=value).outcome)
        for memo in (False, True):
            say("a survey, with remembered answers" if memo else "a survey, with fresh coins")
            outcomes.append(surveyed(people, column, times=survey, value=value, memo=memo).outcome)
    show(output, outcomes, plot)
