"""What the commands under `discreet attack` share: the table, the targets, progress, and how outcomes are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import NEW_FILE, written_anywhere
from discreet.cli.shared.output import Output, console
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.lab.defence import Defence
    from discreet.lab.outcome import Outcome
    from discreet.lab.table_copy import TableCopy

Command = Callable[..., Any]
_STYLES = {"bad": "bold red", "good": "green", "quiet": "dim"}


def table_options(command: Command) -> Command:
    """Add `--table` and `--identifier`, which `opened` reads."""
    identifier = click.option("--identifier", metavar="COLUMN", help="The column that identifies a person.")
    table = click.option(
        "--table",
        type=click.Path(path_type=Path),
        help="A .csv or .parquet file; the attack uses a copy of it. Default: the shipped RAND table.",
    )
    return table(identifier(command))


def target_option(*usual: str) -> Callable[[Command], Command]:
    """Add `--target`, which may be repeated; `targets` reads it."""
    return click.option(
        "--target",
        "words",
        multiple=True,
        default=usual,
        show_default=True,
        help="The defence: exact, rounded:5, suppressed:10, sampled:0.5, noisy:8, laplace:1, gaussian:0.1, vault:1.",
    )


def plot_option(command: Command) -> Command:
    """Add `--plot`, which `show` reads."""
    return click.option("--plot", type=NEW_FILE, help="Draw it (.png, .svg or .pdf).")(command)


def opened(table: Path | None, identifier: str | None) -> TableCopy:
    """Copy the table to be attacked: the file given, or the shipped one."""
    from discreet.lab import rand
    from discreet.lab.table_copy import TableCopy

    if table is None:
        return TableCopy.read(rand.path(), identifier=identifier or "zper", name="rand")
    return TableCopy.read(table, identifier=identifier)


def targets(words: Sequence[str]) -> list[Defence]:
    """Read the words of `--target`."""
    from discreet.lab.targets import named

    return [named(word) for word in words]


@contextmanager
def progress(output: Output, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done, for how long, and of how many steps; each call is the next step."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    parts = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*parts, console=screen, transient=True, disable=output.json or not screen.is_terminal) as bar:
        task = bar.add_task("", total=total)
        steps = iter(range(10**9))
        yield lambda text: bar.update(task, completed=next(steps) if total else None, description=text)


def show(output: Output, outcomes: Sequence[Outcome], plot: Path | None = None, *views: Any, **more: Any) -> None:  # noqa: ANN401
    """Show outcomes as a table with their sentences, draw the first picture, and put `more` into the record."""
    from rich.text import Text

    from discreet.lab.outcome import FORMAT

    drawn = next((each.picture for each in outcomes if each.picture is not None), None)
    if plot is not None:
        if drawn is None:
            raise BadParameter("plot", str(plot), why="there is nothing to draw", fix="leave --plot out")
        from discreet.lab.picture import save

        with written_anywhere(plot) as place:
            save(drawn, place)
    record = {
        "format": FORMAT,
        "outcomes": [each.record() for each in outcomes],
        "plot": str(plot) if plot else None,
        **more,
    }
    said = [Text.assemble((f"{each.target}: ", "bold"), each.sentence) for each in outcomes]
    last = [Text(f"The picture is in {plot}.", style="dim")] if plot else []
    output.show(record, *([outcome_table(outcomes)] if outcomes else []), *said, *views, *last)


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """Return the outcomes as a table: who answered, what the attacker got, what chance and the promise give."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from discreet.lab.outcome import CONFIDENCE, percent

    caption = f"at least: exact lower bound of the success, {CONFIDENCE:.1%} confidence"
    if any(each.demonstration for each in outcomes):
        caption += "; *: a demonstration, which reads nothing of the table but its size"
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, caption=caption, caption_justify="left")
    table.add_column("attack", no_wrap=True)
    table.add_column("target")
    for heading in ("success", "at least", "chance", "promise"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    before = ""
    for each in outcomes:
        promise = "" if each.ceiling is None else percent(each.ceiling)
        verdict = Text(f"{each.verdict}{each.demonstration * '*'}", style=_STYLES[each.kind])
        name = each.attack if each.attack != before else ""
        numbers = (percent(each.success), percent(each.evidence.least), percent(each.chance), promise)
        table.add_row(name, each.target, *numbers, verdict)
        before = each.attack
    return table
