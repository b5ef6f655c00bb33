"""discreet preview: show what a question in SQL would cost and how far its answer would be off, for free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from discreet.cli.shared.option_words import in_words, options_of
from discreet.cli.shared.output import Output
from discreet.cli.shared.question_options import keys_of, price_of, question_options, rows_of, session_of, text_of


@click.command()
@question_options
@click.option("--rows", type=click.IntRange(min=1), help="The assumed number of rows in each group.")
@click.option("--sql", is_flag=True, help="Also show the SQL that the engine would run.")
@click.pass_obj
def command(
    output: Output,
    question: str | None,
    file: Path | None,
    keys: tuple[str, ...],
    max_rows: str | None,
    cut: bool,
    token: str | None,
    vault: Path,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    rows: int | None,
    sql: bool,
) -> None:
    """Show what QUESTION, a SELECT, would cost; - reads it from standard input. Nothing is paid, no data is read."""
    text, price = text_of(question, file), price_of(epsilon, delta, rho)
    with session_of(vault, token) as session:
        found = session.preview_sql(
            text, *price, max_rows=rows_of(max_rows), rows=rows, keys=keys_of(keys), sql=sql, cut=cut
        )
    # Only a fresh question is worked on again where one has failed: an option of `discreet ask`.
    options = {"fresh": "--fresh", **options_of(click.get_current_context().command, "")}
    found = replace(found, notes=tuple(in_words(note, options) for note in found.notes))
    output.show(found.record(), found)
