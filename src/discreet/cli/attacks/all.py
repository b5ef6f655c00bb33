"""discreet attack all: every attack on a copy of a table, and one page of verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.attack_options import opened, outcome_table, progress, table_options
from discreet.cli.shared.files import NEW_FILE, written_anywhere
from discreet.cli.shared.output import Output

if TYPE_CHECKING:
    from discreet.lab.report import AttackReport


@click.command()
@table_options
@click.option("--only", multiple=True, metavar="ATTACK", help="Only this attack. Repeatable.")
@click.option(
    "--out",
    type=NEW_FILE,
    default=Path("attacks.html"),
    show_default=True,
    help="Output file: an .html page, or .json with the figures only.",
)
@click.pass_obj
def command(output: Output, table: Path | None, identifier: str | None, only: tuple[str, ...], out: Path) -> None:
    """Run every attack on a copy of the table, and write one page.

    The page contains facts about the table: protect it like the table. No budget is used.
    """
    from discreet.lab.attacks import attacks
    from discreet.lab.report import report
    from discreet.lab.report_page import checked, save

    checked(out)
    copied = opened(table, identifier)
    with progress(output) as say:
        found = report(copied, only=[name.replace("-", "_") for name in only] or list(attacks), say=say)
        say("write the page")
        with written_anywhere(out) as place:
            save(found, place)
    output.show({**found.record(), "out": str(out)}, outcome_table(found.outcomes), _closing(found, out))


def _closing(found: AttackReport, out: Path) -> str:
    from rich.markup import escape

    skipped = [section.attack for section in found.sections if section.skipped]
    words = f" Skipped: {', '.join(skipped)}." if skipped else ""
    return f"{found.summary} The page is in [bold]{escape(str(out))}[/bold].{words}"
