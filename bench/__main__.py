"""The command `python -m bench`: run one area or all, compare with peers, and fail on a missed bar if asked to."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.harness import areas, report
from bench.harness.case import Area
from bench.harness.result import AreaResult
from bench.harness.run import QUICK_REPETITIONS, run_area
from bench.harness.watch import Display
from discreet.core.errors import UnknownName

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("area", required=False)
@click.option(
    "--check", is_flag=True, help="Exit with status 1 when a bar is missed, a task fails or a peer is absent."
)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write every sample here.")
@click.option("--markdown", is_flag=True, help="Write the tables into docs/benchmarks.md.")
@click.option(
    "--quick", is_flag=True, help=f"At most {QUICK_REPETITIONS} repetitions: a first look, not a figure to quote."
)
@click.option("--only", metavar="TEXT", default="", help="Only cases whose name contains this text.")
def main(area: str | None, check: bool, json_file: Path | None, markdown: bool, quick: bool, only: str) -> None:
    """Measure AREA (or all) against its peers; without AREA, list the areas."""
    if area is None:
        _list_areas()
        return
    chosen = _choose(area, only)
    if markdown and only:
        raise click.UsageError("--markdown writes whole areas; leave out --only")
    results = [_run(name, found, quick) for name, found in chosen.items()]
    if json_file is not None:
        json_file.write_text(json.dumps(report.to_json(results), indent=2) + "\n", encoding="utf-8")
    if markdown:
        for result in results:
            report.write_markdown(result, PAGE)
    sys.exit(_verdict(results, check))


def _choose(area: str, only: str) -> dict[str, Area]:
    """The areas asked for, each with the cases asked for."""
    try:
        loaded = {name: areas.load(name)[1] for name in _named(area)}
    except UnknownName as refusal:
        raise click.UsageError(str(refusal)) from refusal
    kept = {
        name: replace(found, cases=tuple(case for case in found.cases if only.lower() in case.name.lower()))
        for name, found in loaded.items()
    }
    kept = {name: found for name, found in kept.items() if found.cases}
    if not kept:
        raise click.UsageError(f"no case of {area} has {only!r} in its name; run without --only to see them all")
    return kept


def _named(area: str) -> list[str]:
    """The names asked for: all, or an area with its parts, whose names begin with its own (local, local_rappor)."""
    return [name for name in areas.names() if area in (name, "all") or name.startswith(f"{area}_")] or [area]


def _run(name: str, area: Area, quick: bool) -> AreaResult:
    with Display(Console(stderr=True), name, len(area.cases)) as display:
        result = run_area(name, area, display, most=QUICK_REPETITIONS if quick else None)
    _console().print(report.table(result))
    return result


def _verdict(results: list[AreaResult], check: bool) -> int:
    """Say what was missed, and turn it into an exit status."""
    misses = [line for result in results for line in result.misses]
    console = Console(stderr=True, soft_wrap=True)
    for line in misses:
        console.print(f"[bold red]missed[/] {escape(line)}")
    if not misses:
        console.print("[green]every bar was cleared[/]")
    return 1 if check and misses else 0


def _list_areas() -> None:
    listing = Table("area", "what it measures", "cases", "peers")
    for name in areas.names():
        summary, area = areas.load(name)
        listing.add_row(name, summary, str(len(area.cases)), ", ".join(peer.name for peer in area.peers))
    _console().print(listing)


def _console() -> Console:
    """Standard output; a pipe gets lines wide enough for every table."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


if __name__ == "__main__":
    main(prog_name="python -m bench")
