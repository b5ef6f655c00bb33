"""What `discreet audit "SELECT ..."` does: declared tables, without their rows, and the question about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.shared.exits import Exit, code_of
from discreet.cli.shared.files import written_anywhere
from discreet.cli.shared.output import Output, console
from discreet.cli.shared.question_options import keys_of, price_of, rows_of
from discreet.cli.shared.vault_options import opened
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from discreet.core.schema import Table as Declared
    from discreet.curator.curator import Curator
    from discreet.lab.audits.question import AuditedQuestion

STYLES = {"bounded": "green", "not shown": "yellow", "violated": "bold red"}

_ROOMY = 110
_QUOTED = 'write it in quotes: discreet audit "SELECT COUNT(*) FROM visits" --epsilon 0.5'


def question_of(words: tuple[str, ...]) -> str | None:
    """Return the question among the words of the command line; None where they name mechanisms."""
    asks = [word.lstrip(" (").lower().startswith(("select", "with ")) for word in words]
    if not any(asks):
        return None
    if len(words) > 1 or not any(character.isspace() for character in words[0].strip()):
        raise BadParameter("question", " ".join(words), why="a question is one word to the shell", fix=_QUOTED)
    return words[0]


def audit_question(
    output: Output,
    text: str,
    *,
    vault: Path,
    policy: Path | None,
    price: tuple[str | None, str | None, str | None],
    max_rows: str | None,
    keys: tuple[str, ...],
    samples: int | None,
    runs: int | None,
    plot: Path | None,
) -> int:
    """Audit a question, show what was seen, and return the exit code."""
    from rich.markup import escape

    from discreet.lab.audits.finding import ClaimViolated
    from discreet.lab.audits.sql import audit_sql

    given: dict[str, Any] = {} if samples is None else {"samples": samples}
    rows, named, paid = rows_of(max_rows), keys_of(keys), price_of(*price)
    with _declared(vault, policy) as (tables, groups, below), _progress(output) as say:
        given |= {"groups": groups, "withhold": below}
        found = audit_sql(text, tables, *paid, max_rows=rows, keys=named, runs=runs, say=say, **given)
    drawn = plot is not None and _drawn(found, plot)
    views: list[Any] = [_heading(found), _table(found), _summary(found)]
    if plot is not None:
        where = f"The plot is in [bold]{escape(str(plot))}[/bold]."
        views.append(where if drawn else "There is nothing to plot: no rates were measured.")
    output.show({**found.record(), "plot": str(plot) if drawn else None}, *views)
    if not found.violated:
        return Exit.DONE
    error = ClaimViolated("the question", found.worst)
    if not output.json:
        output.refuse(error)
    return code_of(error)


@contextmanager
def _declared(
    vault: Path, policy: Path | None
) -> Iterator[tuple[Curator | list[Declared], dict[str, str] | None, int | None]]:
    """Give the declared tables of a vault or of a policy, whose sources are not opened; accounts; who is withheld."""
    if policy is not None:
        from discreet.core.schema import Table
        from discreet.curator.policy import read

        wanted = read(policy)
        found, below = wanted.tables, 0 if wanted.withhold is None else wanted.withhold["below"].value
        groups = {each.name: each.group or each.name for each in found}
        yield [Table(each.name, each.unit, each.columns, each.rows) for each in found], groups, below
        return
    from discreet.ledger.ledger import Ledger

    if not Ledger.exists(vault):
        why = "a question is audited about declared tables, and there is no such vault"
        fix = "give --vault, of which only the declarations are read, or --policy discreet.toml"
        raise BadParameter("vault", str(vault), why=why, fix=fix)
    with opened(vault) as curator:
        yield curator, None, None


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being looked at, and for how long."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    columns = SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=screen, transient=True, disable=output.json or not screen.is_terminal) as progress:
        task = progress.add_task("reading the question", total=None)
        yield lambda text: progress.update(task, description=text)


def _heading(found: AuditedQuestion) -> str:
    from rich.markup import escape

    at = f" at delta {found.delta:g}" if found.delta else ""
    return (
        f"[bold]{escape(found.question)}[/bold]\n"
        f"guaranteed: epsilon {found.claimed:.4g}{at}, to {escape(found.unit)}; all rows are made up"
    )


def _table(found: AuditedQuestion) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    roomy = console().width >= _ROOMY or found.violated
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("neighbours", min_width=24)
    table.add_column("looked at", no_wrap=True)
    for heading in ("promised", "measured"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("at delta", "verdict"):
        table.add_column(heading, no_wrap=True)
    if roomy:
        table.add_column("event", ratio=1)
    for pair in dict.fromkeys(each.pair for each in found.tried):
        for place, each in enumerate([each for each in found.tried if each.pair == pair]):
            finding = each.finding
            figures = f"{finding.claimed:.4f}", f"{finding.lower:.4f}", f"{finding.delta:g}"
            verdict = Text(finding.verdict, style=STYLES[finding.verdict])
            event = finding.event
            words = [Text(event, no_wrap=not finding.violated, overflow="ellipsis")] if roomy else []
            table.add_row(Text("" if place else pair), each.way, *figures, verdict, *words)
    return table


def _summary(found: AuditedQuestion) -> str:
    from rich.markup import escape

    pairs = {each.pair for each in found.tried}
    broken = {each.pair for each in found.tried if each.finding.violated}
    style = STYLES[found.verdict]
    if broken:
        return f"[{style}]violated: {len(broken)} of {len(pairs)} pairs of neighbours refute the guarantee.[/]"
    lines = [f"[{style}]{found.verdict}: {len(pairs)} pairs of neighbours, nothing against the guarantee.[/]"]
    bounded = [each for each in found.tried if each.finding.verdict == "bounded"]
    lines.append(f"Without chance, {len(bounded)} of {len(bounded) + len(found.open)} comparisons are bounded.")
    lines += [f"Not shown: {escape(each.pair)}, {each.way}: {escape(each.finding.event)}." for each in found.open]
    lines.append(
        f"Of the draws, the audit would have seen {escape(found.sees)}." if found.sees else "No draw was looked at."
    )
    return "\n".join(lines)


def _drawn(found: AuditedQuestion, plot: Path) -> bool:
    """Draw the most telling point, if there is one."""
    if all(each.finding.point is None for each in found.tried):
        return False
    with written_anywhere(plot) as place:
        return found.plot(place)
