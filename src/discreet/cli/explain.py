"""discreet explain: show a saved answer, and say in plain words what it protects, cost and means."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.answer_output import check_plot, draw, plot_option, record_of
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter, Refusal

if TYPE_CHECKING:
    from discreet.answers.answer import Answer


@click.command()
@click.argument("answer", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), metavar="ANSWER.json")
@plot_option
@click.pass_obj
def command(output: Output, answer: Path, plot: Path | None) -> None:
    """Show an answer that was saved with `answer.to_json()`, and explain it; - reads standard input.

    Nothing is asked and nothing is charged: everything is in the file.
    """
    from rich.padding import Padding
    from rich.text import Text

    check_plot(plot)
    found = _read(answer)
    paragraphs = found.explain().split("\n\n")
    words = [Padding(Text(paragraph), (0, 0, 1, 0), expand=False) for paragraph in paragraphs]
    output.show({**record_of(found, plot), "explanation": paragraphs}, found, *words)
    draw(output, found, plot)


def _read(path: Path) -> Answer:
    from discreet.answers.answer import Answer

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
        why = error.why if isinstance(error, Refusal) else "it is not an answer, or it was changed"
        raise BadParameter("answer", name, why=why, fix=_FIX) from error


_FIX = "save one first: Path('answer.json').write_text(answer.to_json())"
