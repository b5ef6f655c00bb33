"""Reports: a result as a table on a terminal, as JSON and as Markdown between two markers of a page."""

from __future__ import annotations

import os
import platform
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from bench.harness.figure import OURS, Unit, compare, show, show_compared
from bench.harness.result import AreaResult, Outcome, Samples

SCHEMA = "discreet-bench/1"
HEADINGS = ("case", OURS, "peer", "theirs", "compared", "bar", "verdict")
STYLES = {"pass": "green", "MISS": "bold red", "absent": "bold red", "failed": "bold red"}


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: a case with one peer, or a case alone."""

    case: str
    ours: str
    peer: str
    theirs: str
    compared: str
    bar: str
    verdict: str

    def cells(self) -> tuple[str, ...]:
        """The texts under HEADINGS."""
        return (self.case, self.ours, self.peer, self.theirs, self.compared, self.bar, self.verdict)


def rows(result: AreaResult) -> list[Row]:
    """Every comparison of an area, in the order of its cases."""
    return [row for outcome in result.outcomes for row in _rows(outcome, result.absent)]


def _rows(outcome: Outcome, absent: Container[str]) -> list[Row]:
    """A line for each peer, and before them one for the bars (or the whole case) that have no peer."""
    case = outcome.case
    alone = not case.peers or any(bar.peer is None for bar in case.bars)
    lines = [_row(outcome, peer, absent) for peer in ((None,) if alone else ()) + tuple(case.peers)]
    return [lines[0], *(replace(line, case="", ours="") for line in lines[1:])]


def _row(outcome: Outcome, peer: str | None, absent: Container[str]) -> Row:
    case, figures = outcome.case, outcome.figures
    bars = [bar for bar in case.bars if bar.peer == peer]
    how = bars[0].comparison if bars else case.compared
    amount = compare(figures, how, peer) if peer else None
    return Row(
        case=case.name,
        ours=_figure(outcome.samples[OURS], case.unit),
        peer=peer or "",
        theirs=_figure(outcome.samples[peer], case.unit) if peer else "",
        compared="" if amount is None else show_compared(amount, how, case.unit),
        bar=", ".join(bar.text(case.unit) for bar in bars),
        verdict=_verdict(outcome, peer, absent),
    )


def _verdict(outcome: Outcome, peer: str | None, absent: Container[str]) -> str:
    """One word: absent and failed go before the bars they make unreachable; nothing where nothing was promised."""
    lost = [name for name in (OURS, peer) if name in outcome.failures]
    if lost:
        return "absent" if lost[0] in absent else "failed"
    bars = [bar for bar in outcome.case.bars if bar.peer == peer]
    if not bars:
        return ""
    return "MISS" if any(bar in outcome.missed for bar in bars) else "pass"


def _figure(samples: Samples, unit: Unit) -> str:
    """The median, with half the distance between the quartiles as a share of it: 1.52 ns ±3%."""
    if samples.median is None or samples.spread is None:
        return "-"
    low, high = samples.spread
    around = f" ±{(high - low) / 2 / samples.median:.0%}" if len(samples.values) > 1 and samples.median else ""
    return show(samples.median, unit) + around


def table(result: AreaResult) -> Table:
    """The area as a rich table."""
    drawn = Table(title=f"{result.name}, medians per item", caption=_versions(result), box=SIMPLE_HEAD)
    drawn.title_justify = drawn.caption_justify = "left"
    for heading in HEADINGS:
        text = heading in {"case", "peer", "verdict"}
        drawn.add_column(heading, justify="left" if text else "right", no_wrap=heading != "case")
    for row in rows(result):
        *cells, verdict = map(escape, row.cells())
        style = STYLES.get(verdict)
        drawn.add_row(*cells, f"[{style}]{verdict}[/]" if style else verdict)
    return drawn


def markdown(result: AreaResult) -> str:
    """The area as a Markdown table, with what ran and on what."""
    lines = [" | ".join(HEADINGS), " | ".join("---" for _ in HEADINGS)]
    lines += [" | ".join(cell.replace("|", "\\|") for cell in row.cells()) for row in rows(result)]
    body = "\n".join(f"| {line} |" for line in lines)
    host = machine()
    return f"{body}\n\n{_versions(result)}. {host['platform']}, {host['cpus']} processors.\n"


def _versions(result: AreaResult) -> str:
    ran = [f"{name}: {version}" for name, version in result.versions.items()]
    return "; ".join([*ran, *(f"{name}: absent" for name in result.absent)])


def write_markdown(result: AreaResult, page: Path) -> None:
    """Replace what stands between the area's two markers in a page; both are added at the end where absent."""
    start, end = f"<!-- bench:{result.name} -->", f"<!-- /bench:{result.name} -->"
    text = page.read_text(encoding="utf-8")
    if start not in text or end not in text:
        text = f"{text.rstrip()}\n\n### {result.name}\n\n{start}\n{end}\n"
    before, _, rest = text.partition(start)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{start}\n{markdown(result)}{end}{after}", encoding="utf-8")


def machine() -> dict[str, object]:
    """What a reader must know of the machine, and no more: nothing in it tells whose machine it was."""
    return {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def to_json(results: Sequence[AreaResult]) -> dict[str, object]:
    """Every sample and verdict, under a versioned schema."""
    return {
        "schema": SCHEMA,
        "machine": machine(),
        "areas": [
            {
                "name": result.name,
                "versions": dict(result.versions),
                "absent": dict(result.absent),
                "cases": [_case(outcome) for outcome in result.outcomes],
            }
            for result in results
        ],
        "misses": [line for result in results for line in result.misses],
    }


def _case(outcome: Outcome) -> dict[str, object]:
    figures, case = outcome.figures, outcome.case
    return {
        "name": case.name,
        "unit": case.unit,
        "participants": {
            name: {
                "items": samples.items,
                "per_item": samples.median,
                "quartiles": samples.spread,
                "samples": list(samples.values),
                "failure": samples.failure,
            }
            for name, samples in outcome.samples.items()
        },
        "ratios": {peer: outcome.ratio(peer) for peer in case.peers},
        "bars": [
            {
                "text": bar.text(case.unit),
                "peer": bar.peer,
                "measured": bar.measure(figures),
                "cleared": bar.cleared(figures),
            }
            for bar in case.bars
        ],
    }
