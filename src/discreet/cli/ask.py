"""discreet ask: ask a question in SQL, pay for it, and show the answer with its error bars."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._ask import keys_of, price_of, question_options, rows_of, session_of, text_of
from discreet.cli.output import Output
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.curator.answer import Answer


@click.command()
@question_options
@click.option("--fresh", is_flag=True, help="Pay again, for new noise, where the question was answered before.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: keys, then value, low and high of every column.")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="Keep the answer for discreet explain.")
@click.pass_obj
def command(
    output: Output,
    question: str | None,
    file: Path | None,
    keys: tuple[str, ...],
    max_rows: str | None,
    token: str | None,
    vault: Path,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    fresh: bool,
    as_csv: bool,
    save: Path | None,
) -> None:
    """Ask QUESTION, a SELECT, and pay for the answer; - reads it from standard input.

    The same question about the same version of the data is answered again for nothing. `discreet preview` shows what
    it would cost.
    """
    text, price = text_of(question, file), price_of(epsilon, delta, rho)
    if save is not None and not save.parent.is_dir():  # before anything is paid
        raise _unsaved(save)
    with session_of(vault, token) as session:
        answer = session.sql(text, *price, max_rows=rows_of(max_rows), fresh=fresh, keys=keys_of(keys))
    _show(output, answer, as_csv=as_csv)
    if save is not None:
        try:
            save.write_text(answer.to_json(), encoding="utf-8")
        except OSError:
            raise _unsaved(save) from None


def _unsaved(save: Path) -> BadParameter:
    return BadParameter("save", str(save), why="the file cannot be written", fix="use a folder that you may write to")


def _show(output: Output, answer: Answer, *, as_csv: bool) -> None:
    """Print the answer, which is paid for by now: nothing that may fail comes before this."""
    from rich.text import Text

    if as_csv:
        output.plain(_record(answer), _lines(answer))
        return
    paid = "answered before, for nothing now" if (answer.receipt or {}).get("replayed") else "paid"
    left = f"; {answer.remaining} remains" if answer.remaining else ""
    output.show(_record(answer), answer, Text(f"{paid}{left}", style="dim"))


def _record(answer: Answer) -> dict[str, Any]:
    return {
        "keys": list(answer.keys),
        "columns": [{"name": column.name, "kind": column.kind, "about": column.words} for column in answer.columns],
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer],
        "asked": dict(answer.asked),
        "unit": answer.unit,
        "notes": list(answer.notes),
        "receipt": None if answer.receipt is None else dict(answer.receipt),
        "remaining": answer.remaining,
    }


def _lines(answer: Answer) -> list[str]:
    """Return the answer as lines of CSV, a header first."""
    ends = [f"{column.name}{end}" for column in answer.columns for end in ("", "_low", "_high")]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([*answer.keys, *ends])
    writer.writerows([[_plain(value) for value in row.values()] for row in answer])
    return written.getvalue().splitlines()


def _plain(value: object) -> object:
    """Return a cell as JSON has it; dates and infinite ends become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    return value.isoformat() if isinstance(value, dt.date | dt.datetime) else value
