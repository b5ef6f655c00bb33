"""discreet explain: show a saved answer, and say in plain words what it protects, cost and means."""

from __future__ import annotations

import datetime as dt
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.output import Output
from discreet.core.errors import BadParameter, Refusal

if TYPE_CHECKING:
    from discreet.curator.answer import Answer


@click.command()
@click.argument("answer", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), metavar="ANSWER.json")
@click.pass_obj
def command(output: Output, answer: Path) -> None:
    """Show an answer that was saved with `answer.to_json()`, and explain it; - reads standard input.

    Nothing is asked and nothing is paid: all of it stands in the file.
    """
    from rich.padding import Padding
    from rich.text import Text

    found = _read(answer)
    paragraphs = found.explain().split("\n\n")
    words = [Padding(Text(paragraph), (0, 0, 1, 0), expand=False) for paragraph in paragraphs]
    output.show(_record(found, paragraphs), found, *words)


def _read(path: Path) -> Answer:
    from discreet.curator.answer import Answer

    name = str(path)
    try:
        text = sys.stdin.read() if name == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = "there is no such file" if isinstance(error, FileNotFoundError) else "it cannot be read as text"
        raise BadParameter("answer", name, why=why, fix=_FIX) from error
    try:
        return Answer.from_json(text)
    except (Refusal, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # The file is not ours to quote: only what is wrong with it is said.
        why = error.why if isinstance(error, Refusal) else "it is no answer, or was changed"
        raise BadParameter("answer", name, why=why, fix=_FIX) from error


_FIX = "save one first: Path('answer.json').write_text(answer.to_json())"


def _record(answer: Answer, paragraphs: list[str]) -> dict[str, Any]:
    return {
        "keys": list(answer.keys),
        "columns": [{"name": column.name, "kind": column.kind, "about": column.words} for column in answer.columns],
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer],
        "asked": dict(answer.asked),
        "unit": answer.unit,
        "notes": list(answer.notes),
        "receipt": None if answer.receipt is None else dict(answer.receipt),
        "remaining": answer.remaining,
        "explanation": paragraphs,
    }


def _plain(value: object) -> object:
    """Return a cell as JSON has it; dates and infinite ends become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    return value.isoformat() if isinstance(value, dt.date | dt.datetime) else value
