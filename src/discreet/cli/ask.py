"""discreet ask: ask a question in SQL, pay for it, and show the answer with its error bars."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.answer_output import check_plot, draw, plain, plot_option, record_of
from discreet.cli.shared.files import NEW_FILE, write_text
from discreet.cli.shared.output import Output
from discreet.cli.shared.question_options import keys_of, price_of, question_options, rows_of, session_of, text_of
from discreet.core.errors import BadParameter
from discreet.core.printable import spreadsheet_cell

if TYPE_CHECKING:
    from discreet.answers.answer import Answer


@click.command()
@question_options
@click.option("--fresh", is_flag=True, help="Pay again for new noise instead of a replay.")
@click.option("--sampling", is_flag=True, help="Intervals of sampling plus noise: for what a population has.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: keys, then value, low and high of every column.")
@click.option("--save", type=NEW_FILE, help="Save the answer for discreet explain.")
@plot_option
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
    fresh: bool,
    sampling: bool,
    as_csv: bool,
    save: Path | None,
    plot: Path | None,
) -> None:
    """Ask QUESTION, a SELECT, and pay for the answer; - reads it from standard input.

    The same question about the same version of the data is replayed for free. `discreet preview` shows the cost.
    """
    text, price = text_of(question, file), price_of(epsilon, delta, rho)
    if save is not None:  # before anything is paid
        _check_save(save)
    check_plot(plot)
    with session_of(vault, token) as session:
        answer = session.sql(text, *price, max_rows=rows_of(max_rows), fresh=fresh, keys=keys_of(keys), cut=cut)
    answer = answer.sampled() if sampling else answer
    _show(output, answer, plot, as_csv=as_csv)
    if save is not None:
        try:
            write_text(save, answer.to_json())
        except BadParameter:
            raise _unsaved(save) from None
    draw(output, answer, plot, silent=as_csv)


def _check_save(save: Path) -> None:
    """Refuse a place that cannot be written to, or a name that promises another format than JSON."""
    if save.suffix.lower() in (".csv", ".tsv", ".parquet", ".xlsx"):
        why, fix = (
            "--save writes the whole answer as JSON",
            "use a name that ends in .json, or --csv > FILE for a table",
        )
        raise BadParameter("save", str(save), why=why, fix=fix)
    if not save.parent.is_dir():
        raise _unsaved(save)


def _unsaved(save: Path) -> BadParameter:
    return BadParameter("save", str(save), why="the file cannot be written", fix="use a folder that you may write to")


def _show(output: Output, answer: Answer, plot: Path | None, *, as_csv: bool) -> None:
    """Print the answer, which is paid for by now: nothing that may fail comes before this."""
    from rich.text import Text

    if as_csv:
        output.plain(record_of(answer, plot), _lines(answer))
        return
    paid = "replayed, free" if (answer.receipt or {}).get("replayed") else "paid"
    left = f"; {answer.remaining} remains" if answer.remaining else ""
    output.show(record_of(answer, plot), answer, Text(f"{paid}{left}", style="dim"))


def _lines(answer: Answer) -> list[str]:
    """Return the answer as lines of CSV, a header first."""
    ends = [f"{column.name}{end}" for column in answer.columns for end in ("", "_low", "_high")]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([spreadsheet_cell(name) for name in (*answer.keys, *ends)])
    writer.writerows([[spreadsheet_cell(plain(value)) for value in row.values()] for row in answer])
    return written.getvalue().splitlines()
