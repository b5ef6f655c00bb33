"""What `discreet ask` and `discreet explain` share: an answer as JSON, and as a picture."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import NEW_FILE, written

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.cli.shared.output import Output

Command = Callable[..., Any]


def plot_option(command: Command) -> Command:
    """Add `--plot`, a file that the answer is drawn into."""
    return click.option(
        "--plot",
        type=NEW_FILE,
        metavar="FILE",
        help="Draw the answer with its error bars: .png, .svg or .pdf.",
    )(command)


def check_plot(plot: Path | None) -> None:
    """Refuse a picture that cannot be drawn there, or not without Matplotlib: before anything is paid."""
    if plot is not None:
        from discreet.answers.plots.picture_file import check_place, new

        check_place("plot", plot)
        new()


def draw(output: Output, answer: Answer, plot: Path | None, *, silent: bool = False) -> None:
    """Draw the answer, once it was shown, and tell people where; to programs the record did."""
    from rich.text import Text

    if plot is None:
        return
    with written(plot) as place:
        answer.plot(place)
    if not (silent or output.json):
        output.show({}, Text(f"The plot is in {plot}.", style="dim"))


def record_of(answer: Answer, plot: Path | None) -> dict[str, Any]:
    """Return the answer as plain JSON values, and where it is drawn."""
    return {
        "keys": list(answer.keys),
        "columns": [{"name": column.name, "kind": column.kind, "about": column.words} for column in answer.columns],
        "rows": [{name: plain(value) for name, value in row.items()} for row in answer],
        "asked": dict(answer.asked),
        "unit": answer.unit,
        "notes": list(answer.notes),
        "not_in_intervals": list(answer.not_held),
        "intervals": "sampling and noise" if answer.sampling else "noise",
        "receipt": None if answer.receipt is None else dict(answer.receipt),
        "remaining": answer.remaining,
        "plot": None if plot is None else str(plot),
        **(
            {}
            if answer.cut is None
            else {"cut": {name: plain(value) for name, value in next(iter(answer.cut)).items()}}
        ),
    }


def plain(value: object) -> object:
    """Return a cell as JSON has it; dates and infinite ends become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    return value.isoformat() if isinstance(value, dt.date | dt.datetime) else value
