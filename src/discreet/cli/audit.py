"""discreet audit: try to refute what mechanisms, or questions, promise, and show the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.audit_sql import STYLES, audit_question, question_of
from discreet.cli.shared.exits import Exit, code_of
from discreet.cli.shared.files import NEW_FILE, written_anywhere
from discreet.cli.shared.output import Output, console
from discreet.cli.shared.vault_options import budget_options, vault_option
from discreet.core.errors import BadParameter
from discreet.core.rational import parse_written

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table
    from rich.text import Text

    from discreet.lab.audits.finding import Finding

Audited = list[tuple[str, str, "Finding"]]

_ROOMY = 110
_SAMPLES = 10**6


@click.command()
@click.argument("names", nargs=-1, metavar="[QUESTION | MECHANISM]...")
@click.option("--all", "everything", is_flag=True, help="Audit every mechanism.")
@click.option("--samples", metavar="COUNT", help="Draws on each neighbour; 1e6, or 1e5 for a question.")
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.Choice(["exact", "black-box", "replay"]),
    help="Use only this layer. Repeatable. Default: all that apply.",
)
@click.option(
    "--plot",
    type=NEW_FILE,
    help="Draw the trade-off curve of the claim and the strongest point (.png, .svg or .pdf).",
)
@vault_option
@click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Take the tables of a question from a discreet.toml instead of a vault.",
)
@budget_options("The price of the question")
@click.option("--key", "keys", multiple=True, metavar="COLUMN=A,B", help="Keys of a column that has none.")
@click.option("--max-rows", metavar="ROWS", help="Lower the rows a person counts for; auto chooses privately.")
@click.option("--runs", metavar="COUNT", help="How often the release of a question is drawn for; 0: never.")
@click.pass_obj
def command(
    output: Output,
    names: tuple[str, ...],
    everything: bool,
    samples: str | None,
    layers: tuple[str, ...],
    plot: Path | None,
    vault: Path,
    policy: Path | None,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    keys: tuple[str, ...],
    max_rows: str | None,
    runs: str | None,
) -> int:
    """Try to refute the privacy guarantee of mechanisms, or of a question in SQL, on worst-case neighbours.

    A verdict is one of three words: violated; bounded (proved, for this pair of neighbours); not shown (no defect was
    seen, and what would have been seen is said). It ends with exit code 0 if nothing is violated, and with 5 if
    something is, or if the audit failed because every run raised.

    Three layers look at each pair of a mechanism: exact probabilities, an event found in samples, and a replay of the
    same randomness. A question, a SELECT in quotes, is asked about made-up rows of the declared tables, through the
    engine that would answer it: only declarations of the vault are read. A refuted claim ends with exit code 5.
    """
    from discreet.lab.audits.finding import ClaimViolated, worst

    question = question_of(names)
    draws = None if samples is None else _count("samples", samples)
    given = {"policy": policy, "epsilon": epsilon, "delta": delta, "rho": rho, "max-rows": max_rows, "runs": runs}
    if question is not None:
        _refuse_any({"all": everything or None, "layer": layers or None}, "mechanisms", "leave it out")
        return audit_question(
            output,
            question,
            vault=vault,
            policy=policy,
            price=(epsilon, delta, rho),
            max_rows=max_rows,
            keys=keys,
            samples=draws,
            runs=None if runs is None else _count("runs", runs),
            plot=plot,
        )
    _refuse_any({**given, "key": keys or None}, "questions", 'ask one: discreet audit "SELECT ..."')
    audited = _run(output, _chosen(names, everything), _SAMPLES if draws is None else draws, layers)
    drawn = [finding for _, _, finding in audited if finding.point is not None]
    if plot is not None and drawn:
        with written_anywhere(plot) as place:
            worst(tuple(drawn)).plot(place)
    broken = [(name, finding) for name, _, finding in audited if finding.violated]
    result = {
        "audits": [{"mechanism": name, "trial": trial, **finding.record()} for name, trial, finding in audited],
        "violated": sorted({name for name, _ in broken}),
        "plot": str(plot) if plot is not None and drawn else None,
    }
    views: list[Any] = [_table(audited), _summary(audited)]
    if plot is not None:
        from rich.markup import escape

        where = f"The plot is in [bold]{escape(str(plot))}[/bold]."
        views.append(where if drawn else "There is nothing to plot: a replay has no rates.")
    output.show(result, *views)
    if not broken:
        return Exit.DONE
    error = ClaimViolated(*max(broken, key=lambda pair: pair[1].lower - pair[1].claimed))
    if not output.json:
        output.refuse(error)
    return code_of(error)


def _run(output: Output, names: list[str], samples: int, layers: tuple[str, ...]) -> Audited:
    from discreet.lab.audits.audit import examine
    from discreet.lab.audits.finding import LAYERS
    from discreet.lab.audits.trials import trials

    chosen = [layer for layer in LAYERS if not layers or layer.replace("_", "-") in layers]
    work = [(name, trial) for name in names for trial in trials(name)]
    audited: Audited = []
    with _progress(output, len(work)) as advance:
        for name, trial in work:
            advance(f"{name}: {trial.name}")
            found = examine(trial.mechanism, trial.one, trial.other, samples=samples, layers=chosen)
            audited += [(name, trial.name, finding) for finding in found]
    if not audited:
        why = f"none of the requested layers applies to {', '.join(names)}"
        raise BadParameter("layer", layers, why=why, fix="use black-box, which only needs runs")
    return audited


def _chosen(names: tuple[str, ...], everything: bool) -> list[str]:
    from discreet.mechanisms import registry

    if everything == bool(names):
        why = "either mechanisms are named or all of them are audited"
        raise BadParameter("mechanism", names or None, why=why, fix="name some, such as laplace, or give --all")
    return list(registry) if everything else [name.replace("-", "_") for name in names]


def _count(name: str, text: str) -> int:
    number = parse_written(name, text)
    if number.denominator != 1:
        raise BadParameter(name, text, why="runs are counted in integers", fix="write 1000000 or 1e6")
    return number.numerator


def _refuse_any(given: Mapping[str, object], whose: str, fix: str) -> None:
    """Refuse options that belong to the other kind of audit."""
    for name, value in given.items():
        if value is not None:
            raise BadParameter(name, value, why=f"it is for {whose} alone", fix=fix)


@contextmanager
def _progress(output: Output, total: int) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being audited, and how much is left."""
    from rich.progress import Progress

    screen = console(stderr=True)
    with Progress(console=screen, transient=True, disable=output.json or not screen.is_terminal) as progress:
        task = progress.add_task("", total=total)
        steps = iter(range(total + 1))
        yield lambda text: progress.update(task, completed=next(steps), description=text)


def _table(audited: Audited) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # An event matters in full where it refutes a claim; elsewhere one line of it will do, and only where there is room.
    roomy = console().width >= _ROOMY or any(finding.violated for _, _, finding in audited)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("neighbours", min_width=24)
    table.add_column("layer", no_wrap=True)
    for heading in ("claimed", "lower bound"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("at delta", "verdict"):
        table.add_column(heading, no_wrap=True)
    if roomy:
        table.add_column("event", ratio=1)
    shown = ("", "")
    for name, trial, finding in audited:
        if name != shown[0]:
            table.add_row(Text(name, style="bold"))
        first = Text(f"  {trial}" if (name, trial) != shown else "")
        figures = f"{finding.claimed:.4f}", f"{finding.lower:.4f}", f"{finding.delta:g}"
        verdict = Text(finding.verdict, style=STYLES[finding.verdict])
        event = [Text(finding.event, no_wrap=not finding.violated, overflow="ellipsis")] if roomy else []
        table.add_row(first, finding.layer.replace("_", " "), *figures, verdict, *event)
        shown = (name, trial)
    return table


def _summary(audited: Audited) -> Text:
    from rich.text import Text

    from discreet.lab.audits.finding import weakest

    pairs = {(name, trial) for name, trial, _ in audited}
    broken = {(name, trial) for name, trial, finding in audited if finding.violated}
    if broken:
        return Text(f"{len(broken)} of {len(pairs)} pairs of neighbours refute the claim.", style=STYLES["violated"])
    sampled = {finding.sees for _, _, finding in audited if finding.verdict == "not shown" and finding.sees}
    seen = f" Runs alone would have seen {min(sampled, key=len)}." if len(sampled) == 1 else ""
    found = weakest(finding.verdict for _, _, finding in audited)
    return Text(f"{len(pairs)} pairs of neighbours: a violation is not shown.{seen}", style=STYLES[found])
