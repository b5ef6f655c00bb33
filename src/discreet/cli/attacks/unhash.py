"""discreet attack unhash: hashed identifiers, turned back by trying all that they could have been."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.shared.attack_options import opened, plot_option, progress, show, table_options
from discreet.cli.shared.output import Output
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.lab.attacks.unhash import Unhashed

_SHOWN = 10


@click.command()
@click.option("--hashes", type=click.Path(path_type=Path, dir_okay=False), help="A file with one hash a line.")
@table_options
@click.option("--column", metavar="COLUMN", help="The column with the hashes.")
@click.option(
    "--pattern",
    default="medallion",
    show_default=True,
    help="What identifiers look like: 9 a digit, A a capital, a a small letter, [01] one of these, | alternatives; "
    "or medallion, ssn, phone, birthdate.",
)
@click.option("--algorithm", metavar="NAME", help="md5, sha1 or sha256; default: by the length of the hashes.")
@click.option("--salt", default="", help="The salt that precedes each identifier.")
@plot_option
@click.pass_obj
def command(
    output: Output,
    hashes: Path | None,
    table: Path | None,
    identifier: str | None,
    column: str | None,
    pattern: str,
    algorithm: str | None,
    salt: str,
    plot: Path | None,
) -> None:
    """Reverse hashed identifiers by enumeration.

    Reads the hashes of a file (--hashes) or of a column (--table, --column). With neither, it hashes the identifiers of
    a table, or made-up taxi medallions, in common ways, and reverses those.
    """
    from discreet.lab.attacks.unhash import expose, unhash

    if hashes is None and column is None:
        with progress(output) as advance:
            outcomes = expose(opened(table, identifier), advance)
        show(output, outcomes, plot)
        return
    given = _lines(hashes) if hashes is not None else opened(table, identifier).column(str(column)).tolist()
    with _shares(output, pattern, algorithm) as advance:
        found = unhash(given, pattern, algorithm=algorithm, salt=salt.encode(), progress=advance)
    show(output, [found.outcome], plot, *([_pairs(found)] if found.found else []), found=dict(found.found))


@contextmanager
def _shares(output: Output, pattern: str, algorithm: str | None) -> Iterator[Callable[[float], None]]:
    """Show how many texts there are, how long they are going to take, and the share that was tried."""
    from discreet.lab.attacks.unhash import seconds_for, size_of

    size, seconds = size_of(pattern), seconds_for(pattern, algorithm or "md5")
    with progress(output, 100) as advance:
        steps = iter(range(101))

        def shown(share: float) -> None:
            while (step := next(steps, None)) is not None:
                advance(f"{size:,} texts, about {seconds:,.0f} s")
                if step >= 100 * share:
                    return

        shown(0.0)
        yield shown


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        why = "it cannot be read as text"
        raise BadParameter("hashes", str(path), why=why, fix="give a file with one hash a line") from None


def _pairs(found: Unhashed) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("hash", "identifier", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for digest, text in sorted(found.found.items())[:_SHOWN]:
        table.add_row(digest, text)
    if len(found.found) > _SHOWN:
        table.add_row("", f"and {len(found.found) - _SHOWN:,} more: see --json")
    return table
