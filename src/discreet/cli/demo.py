"""discreet demo: ask, attack, audit and look at the budget, on a public table, in ten seconds."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.files import NEW_FILES
from discreet.cli.shared.output import Output, console

if TYPE_CHECKING:
    from rich.console import RenderableType

    from discreet.cli.demonstration.vault import DemoFolder

PLAY = """\
\"\"\"A question of your own: change it, and run it with the Python that Discreet is installed for.\"\"\"

from pathlib import Path

import discreet as dp

here = Path(__file__).parent
session = dp.connect(here / "vault.discreet", (here / "token").read_text().strip())
rand = session.table("rand")
report = rand.where(rand.age >= 18).group_by("coinsurance").agg(visits=dp.mean("visits"))
print(report.preview(epsilon=0.2))
print(report.release(epsilon=0.2))
"""


@click.command()
@click.option(
    "--out",
    type=NEW_FILES,
    default=Path("demo"),
    show_default=True,
    metavar="FOLDER",
    help="Output folder for the vault, the page and the rest; an existing one is reused.",
)
@click.pass_obj
def command(output: Output, out: Path) -> None:
    """Ask, attack, audit and check the budget, on a public table of health insurance.

    Everything is written to one folder, with a vault to experiment with. A second run uses the same vault: the
    question is already paid for, so its answer is replayed for free.
    """
    from discreet.lab.audits.finding import ClaimViolated

    started = perf_counter()
    with ExitStack() as stack:
        with _watched(output, "opening the vault"):
            from discreet.cli.demonstration import steps, views
            from discreet.cli.demonstration.page import Shown, page
            from discreet.cli.demonstration.vault import opened

            vault = stack.enter_context(opened(out))
        with _watched(output, "asking"):
            asked = steps.ask(vault)
        _show(output, views.asked_views(asked))
        with _watched(output, "attacking"):
            attacked = steps.attack()
        _show(output, views.attacked_views(attacked))
        with _watched(output, "auditing"):
            finding = steps.audit(asked)
        _show(output, views.audited_views(finding))
        stood = steps.stand(vault, asked)
        _show(output, views.stood_views(stood))
        place = vault.place
        drawn = page(Shown(asked, attacked, finding, stood), "\n".join(_next(place)))
    vault.keep(place.page, drawn)
    if not (vault.reused and place.script.exists()):  # anyone who has one may have gone on with it
        vault.keep(place.script, PLAY)
    seconds = perf_counter() - started
    result = {
        "folder": str(out),
        "page": str(place.page),
        "vault": str(place.vault),
        "token": str(place.token),
        "reused": vault.reused,
        "seconds": round(seconds, 2),
        "ask": asked.record(),
        "attack": attacked.record(),
        "audit": finding.record(),
        "budget": stood.record(),
        "next": _next(place),
    }
    output.plain(result, _last(place, seconds))
    if finding.violated:
        raise ClaimViolated("the demonstration's question", finding)


def _show(output: Output, views: list[RenderableType]) -> None:
    """Show a step to a person as soon as it is done; a program gets all of them at the end."""
    if not output.json:
        output.show({}, *views)


@contextmanager
def _watched(output: Output, doing: str) -> Iterator[None]:
    """Show on a terminal what is being done, and for how long."""
    screen = console(stderr=True)
    if output.json or not screen.is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=screen, transient=True) as progress:
        progress.add_task(doing, total=None)
        yield


def _last(place: DemoFolder, seconds: float) -> list[str]:
    # Commands stand whole on lines of their own, however narrow the screen.
    return [
        "",
        f"Done in {seconds:.1f} s. The pictures are in {place.page}.",
        f"A vault to experiment with is in {place.vault}, its token in {place.token}. Try next:",
        *(f"  {line}" for line in _next(place)),
    ]


def _next(place: DemoFolder) -> list[str]:
    program, python = _program("discreet"), _program("python")
    return [
        shlex.join([program, "explain", str(place.answer)]),
        shlex.join([program, "budget", "--vault", str(place.vault)]),
        shlex.join([python, str(place.script)]),
    ]


def _program(word: str) -> str:
    """Return how to call a program that is installed beside this one: by its name, where that finds it."""
    beside = Path(sys.executable).with_name(word)
    found = shutil.which(word)
    if found is not None and Path(found) == beside:
        return word
    if not beside.exists():
        return word
    inside = os.path.relpath(beside)
    return inside if not inside.startswith("..") else str(beside)
