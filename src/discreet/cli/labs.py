"""discreet labs: the lectures as pages that run, each with a number that passes or fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.exits import Exit, code_of
from discreet.cli.shared.files import NEW_FILE, NEW_FILES, forced, written_anywhere
from discreet.cli.shared.output import Output, console
from discreet.core.errors import BadParameter, Refusal

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from discreet.lab.pages.labs import Lab, Ran

_EXAMPLE = """\b
discreet labs
discreet labs show 2
discreet labs run 2 --plot coin.svg
discreet labs run all
discreet labs export notebooks
"""
_STYLES = {True: ("passes", "green"), False: ("fails", "bold red")}


class LabFailed(Refusal):
    """Labs whose number does not pass; `value` names them."""

    def __init__(self, failed: list[Lab], ran: list[Ran]) -> None:
        failure = next((each.failure for each in ran if each.failure), "")
        super().__init__(
            f"{', '.join(f'lab {each.number}' for each in failed)}",
            why=f"the number misses its bar: {failed[0].bar}" if not failure else f"this is false: {failure}",
            fix="run it again; if it fails twice (one false alarm in a million), please report it",
            value=[each.name for each in failed],
        )


@click.group(invoke_without_command=True, epilog=_EXAMPLE)
@click.pass_context
def command(context: click.Context) -> None:
    """List the labs: one theme of the lectures each, with a theorem, code, a picture, a number and an exercise."""
    if context.invoked_subcommand is None:
        from discreet.lab.pages.labs import labs

        found = labs()
        context.ensure_object(Output).show({"labs": [each.record() for each in found]}, _list(found), _HINT)


_HINT = "Read one with [bold]discreet labs show 1[/bold], run it with [bold]discreet labs run 1[/bold]."


@command.command()
@click.argument("which", metavar="LAB")
@click.option("--solution", is_flag=True, help="Show the solution of the exercise too.")
@click.pass_obj
def show(output: Output, which: str, solution: bool) -> None:
    """Show one lab, by its number or name."""
    from rich.markdown import Markdown

    from discreet.lab.pages.labs import lab

    found = lab(which)
    page = found.page(solution=solution)
    output.show({**found.record(), "page": page}, Markdown(page))


@command.command()
@click.argument("which", metavar="LAB|all", nargs=-1, required=True)
@click.option(
    "--plot",
    type=NEW_FILE,
    help="Draw the picture of one lab (.png, .svg or .pdf).",
)
@click.pass_obj
def run(output: Output, which: tuple[str, ...], plot: Path | None) -> int:
    """Run labs with fresh noise; a number that misses its bar ends the command with exit code 5."""
    chosen = _chosen(which)
    if plot is not None and len(chosen) != 1:
        raise BadParameter("plot", str(plot), why="a file has one picture", fix="name one lab, such as 2")
    ran = []
    with _progress(output, len(chosen)) as advance:
        for each in chosen:
            advance(each.title)
            ran.append(each.run())
    if plot is not None:
        from discreet.lab.picture import save

        with written_anywhere(plot) as place:
            save(ran[0].picture, place)
    failed = [each for each, result in zip(chosen, ran, strict=True) if not result.passes]
    records = [{**each.record(), "ran": result.record()} for each, result in zip(chosen, ran, strict=True)]
    result = {"labs": records, "failed": [each.number for each in failed], "plot": str(plot) if plot else None}
    output.show(result, _results(chosen, ran), _summary(chosen, ran, plot))
    if not failed:
        return Exit.DONE
    error = LabFailed(failed, [result for result in ran if not result.passes])
    if not output.json:
        output.refuse(error)
    return code_of(error)


@command.command()
@click.argument("folder", type=NEW_FILES)
@click.option("--only", multiple=True, metavar="LAB", help="Export only this lab. Repeatable.")
@click.pass_obj
def export(output: Output, folder: Path, only: tuple[str, ...]) -> None:
    """Write labs into FOLDER as Jupyter notebooks."""
    from rich.markup import escape

    from discreet.lab.pages.labs import export as write
    from discreet.lab.pages.labs import lab

    files = write(folder, tuple(lab(which) for which in only) or None, force=forced())
    words = f"{len(files)} notebook{'s' if len(files) > 1 else ''} in [bold]{escape(str(folder))}[/bold]."
    output.show({"folder": str(folder), "files": [file.name for file in files]}, words)


def _chosen(which: tuple[str, ...]) -> list[Lab]:
    from discreet.lab.pages.labs import lab, labs

    if "all" in which:
        return list(labs())
    found = {each.number: each for each in map(lab, which)}
    return [found[number] for number in sorted(found)]


@contextmanager
def _progress(output: Output, total: int) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which lab is running, and how many are left."""
    from rich.progress import Progress

    screen = console(stderr=True)
    with Progress(console=screen, transient=True, disable=output.json or not screen.is_terminal) as progress:
        task = progress.add_task("", total=total)
        steps = iter(range(total + 1))
        yield lambda text: progress.update(task, completed=next(steps), description=text)


def _list(found: tuple[Lab, ...]) -> Table:
    table = _empty(("", "right"), ("lab", "left"), ("lectures", "left"), ("minutes", "right"))
    for each in found:
        table.add_row(str(each.number), each.title, ", ".join(each.lectures), str(each.minutes))
    return table


def _results(chosen: list[Lab], ran: list[Ran]) -> Table:
    from rich.text import Text

    table = _empty(("", "right"), ("lab", "left"), ("number", "right"), ("", "left"), ("seconds", "right"))
    for each, result in zip(chosen, ran, strict=True):
        word, style = _STYLES[result.passes]
        figures = f"{result.number:,.6g}", Text(word, style=style), f"{result.seconds:.1f}"
        table.add_row(str(each.number), each.title, *figures)
    return table


def _summary(chosen: list[Lab], ran: list[Ran], plot: Path | None) -> Text:
    from rich.text import Text

    parts: list[str] = [f"Bar: {chosen[0].bar}"] if len(chosen) == 1 else []
    passed = sum(result.passes for result in ran)
    if len(chosen) > 1:
        parts.append(f"{passed} of {len(ran)} labs pass, in {sum(result.seconds for result in ran):.0f} seconds.")
    if plot is not None:
        parts.append(f"The picture is in {plot}.")
    return Text("\n".join(parts), style="green" if passed == len(ran) else "bold red")


def _empty(*columns: tuple[str, str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading, justify in columns:
        table.add_column(heading, justify="right" if justify == "right" else "left")
    return table
