"""discreet synthesize: pay for synthetic data of a table, save it, sample it and report its quality."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import NEW_FILE, written
from discreet.cli.shared.output import Output, console
from discreet.cli.shared.question_options import price_of, session_of
from discreet.cli.shared.vault_options import budget_options, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ask.request import Released
    from discreet.ask.synthesize import Synthesis
    from discreet.publish.stages import Stage
    from discreet.publish.synthetic_data import SyntheticData

_SHORT, _MINUTE = 2, 60  # seconds
_ENDINGS = {"out": (".json",), "sample": (".csv", ".parquet"), "report": (".html", ".json")}


@click.command()
@click.argument("table")
@click.option(
    "--method", default="auto", show_default=True, help="aim, mst, mwem, merf, independent, tables, smalldb, auto."
)
@click.option("--workload", type=int, help="Preserve all marginals of this many columns (3).")
@click.option("--bins", type=int, default=32, show_default=True, help="The most bins for a number or a date.")
@click.option("--column", "columns", multiple=True, help="A column to include; default: all but free text.")
@click.option(
    "--zero",
    "zeros",
    multiple=True,
    help="A combination no row can have: age=0:12,married=true (12 excluded). Repeatable.",
)
@click.option("--out", type=NEW_FILE, help="Save the model: a JSON file that publish.load reads.")
@click.option("--sample", type=NEW_FILE, help="Write synthetic rows to a .csv or .parquet file.")
@click.option(
    "--rows", type=click.IntRange(0), help="How many rows to sample; default: about as many as the table has."
)
@click.option("--report", type=NEW_FILE, help="Write a quality report to an .html or .json file.")
@click.option("--preview", is_flag=True, help="Show the price and the expected error, for free, and stop.")
@click.option("--fresh", is_flag=True, help="Pay again for new synthetic data instead of a replay.")
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="What the custodian gave you.")
@vault_option
@budget_options("What the synthetic data may cost")
@click.pass_obj
def command(
    output: Output,
    table: str,
    method: str,
    workload: int | None,
    bins: int,
    columns: tuple[str, ...],
    zeros: tuple[str, ...],
    out: Path | None,
    sample: Path | None,
    rows: int | None,
    report: Path | None,
    preview: bool,
    fresh: bool,
    token: str | None,
    vault: Path,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
) -> None:
    """Make synthetic data of TABLE: a model that can be sampled and queried without further cost.

    The same request on the same version of the data is replayed for free.
    """
    from discreet.account.budgets.price import Price
    from discreet.ask.request import DeskRequest, SynthesisTerms
    from discreet.ask.synthesize import synthesis
    from discreet.cli.shared.zeros import zeros_of

    files = {"out": out, "sample": sample, "report": report}
    _check(files)
    price = Price.of(*price_of(epsilon, delta, rho))
    with session_of(vault, token) as session:
        query = session.table(table)
        never = zeros_of(zeros, query.columns)
        terms = SynthesisTerms(method, workload, bins, columns or None, never)
        request = DeskRequest("synthesize", query, terms, price)
        if preview:
            found = session.desk.preview(request)
            output.show(found.record(), str(found))
            return
        asked = synthesis(query, method, price, workload=workload, bins=bins, columns=columns or None, zeros=never)
        with _progress(output, asked.stages) as say:
            released = session.desk.run(request, fresh=fresh, progress=say)
        _write(released.answer, files, rows)
        _show(output, asked, released, files)


def _check(files: dict[str, Path | None]) -> None:
    """Refuse, before anything is paid, a file that could not be written."""
    for name, path in files.items():
        if path is None:
            continue
        if path.suffix.lower() not in _ENDINGS[name]:
            fix = f"end the name in {' or '.join(_ENDINGS[name])}"
            raise BadParameter(name, str(path), why="its ending says what is written", fix=fix)
        if not path.parent.is_dir():
            raise BadParameter(name, str(path), why="there is no such folder", fix="make the folder first")


def _write(synthetic: SyntheticData, files: dict[str, Path | None], rows: int | None) -> None:
    if files["out"] is not None:
        with written(files["out"]) as place:
            synthetic.save(place)
    if files["sample"] is not None:
        with written(files["sample"]) as place:
            synthetic.sample(rows).write(place)
    if files["report"] is not None:
        with written(files["report"]) as place:
            synthetic.report().save(place)


def _show(output: Output, asked: Synthesis, released: Released, files: dict[str, Path | None]) -> None:
    from rich.text import Text

    synthetic: SyntheticData = released.answer
    quality, written = synthetic.report(), {name: str(path) for name, path in files.items() if path is not None}
    record: dict[str, Any] = {
        "table": [*asked.query.tables],
        "columns": [*synthetic.domain.names],
        "report": quality.record(),
        "files": written,
        "receipt": dict(released.receipt),
        "remaining": released.remaining,
    }
    paid = "replayed, free" if released.receipt["replayed"] else "paid"
    last = f"{paid}; {released.remaining} remains" + "".join(f"; {name}: {path}" for name, path in written.items())
    output.show(record, Text(str(quality)), Text(last, style="dim"))


@contextmanager
def _progress(output: Output, stages: Sequence[Stage]) -> Iterator[Callable[[Stage], None]]:
    """Show on a terminal the step, the time that has passed and the time that is left at most.

    All of it follows from the plan and the clock; how far the work has really come would reveal the data.
    """
    if output.json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Left(ProgressColumn):
        """The time that is left, counted down from what the plan says."""

        def render(self, task: Task) -> Text:
            """Return the words for one task."""
            passed = task.get_time() - task.fields["since"]
            return Text(left_words(stages, task.fields["done"], passed), style="progress.remaining")

    parts = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(10), TimeElapsedColumn(), Left())
    with Progress(*parts, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("begin", total=len(stages), done=0, since=bar.get_time())

        def say(stage: Stage) -> None:
            done, words = stage.number - 1, f"{stage.number} of {stage.of}: {stage.name}"
            bar.update(task, completed=done, description=words, done=done, since=bar.get_time())

        yield say


def left_words(stages: Sequence[Stage], done: int, passed: float = 0.0) -> str:
    """Say how long the stages that are not done take at most, about, beside those that read the table.

    `passed` are the seconds since the first of them began.
    """
    now, *later = stages[done:]
    seconds = max(0.0, (now.seconds or 0.0) - passed) + sum(stage.seconds or 0.0 for stage in later)
    counting = " + counting" if any(stage.seconds is None for stage in (now, *later)) else ""
    rounded = math.ceil(max(seconds, _SHORT))
    about = f"{rounded} s" if rounded < 2 * _MINUTE else f"{math.ceil(rounded / _MINUTE)} min"
    return f"< {about}{counting} left"
