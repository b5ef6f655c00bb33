"""The page of a report: a table of all verdicts, then each attack with words and pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from pathlib import Path

from discreet.core.errors import BadParameter
from discreet.core.file import write_file
from discreet.core.page import page
from discreet.core.version import __version__
from discreet.lab.outcome import CONFIDENCE, Outcome, percent
from discreet.lab.picture import Curves, svg
from discreet.lab.report import AttackReport, ReportSection

_STYLE = """
main { max-width: 940px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; } td.number { text-align: right; white-space: nowrap; }
.bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); font-weight: 600; }
.quiet { color: var(--quiet); font-weight: 600; } .demonstration { color: var(--quiet); }
.bar { background: var(--track); border-radius: 3px; height: 10px; min-width: 120px; position: relative; }
.bar i { border-radius: 3px; display: block; height: 10px; }
.bar i.bad { background: var(--bad); } .bar i.good { background: var(--good); }
.bar i.quiet { background: var(--quiet); }
.bar u { background: var(--ink); height: 14px; position: absolute; top: -2px; width: 2px; }
.picture { background: #fff; border-radius: 8px; margin: 16px 0; padding: 8px; }
.picture svg { margin: 0 auto; }
.pictures { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr)); }
.pictures .picture { margin: 0; }
"""


def save(report: AttackReport, path: str | Path) -> None:
    """Write a report as a page (.html) or as its figures (.json)."""
    place = checked(path)
    plain = place.suffix.lower() == ".json"
    text = json.dumps(report.record(), ensure_ascii=False, indent=1) + "\n" if plain else report_page(report)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_file(place, text, force=True)


def checked(path: str | Path) -> Path:
    """Return the path if its ending says how to write a report."""
    place = Path(path)
    if place.suffix.lower() not in (".html", ".json"):
        why = "its ending says what is written"
        raise BadParameter("out", str(place), why=why, fix="end the name in .html or .json")
    return place


def report_page(report: AttackReport) -> str:
    """Return the whole page."""
    body = (
        f"<h1>What attacks get out of {escape(report.table)}</h1>"
        f'<p class="lead">{len(report.sections)} attacks on a copy of {report.rows:,} rows'
        f"{f' of {report.people:,} people' if report.people != report.rows else ''}. {report.summary} "
        "This page contains facts about the table: the copy was "
        "attacked without any privacy. No budget was charged.</p>"
        f"{_summary(report)}{_meters(report)}{''.join(map(_section, report.sections))}"
    )
    return page(
        f"Attacks on {report.table}", body, style=_STYLE, words=f"Made by discreet attack all, version {__version__}."
    )


def _summary(report: AttackReport) -> str:
    rows = "".join(
        f"<tr><td>{escape(section.attack) if first else ''}</td>{_cells(outcome)}</tr>"
        for section in report.sections
        for first, outcome in ((place == 0, each) for place, each in enumerate(section.outcomes))
    )
    head = (
        "<tr><th>attack</th><th>target</th><th></th><th>success</th><th>at least</th><th>chance</th><th>promise</th>"
        "<th></th></tr>"
    )
    note = (
        f"The mark on a bar is chance. <b>At least</b> is the exact lower bound of the success at {CONFIDENCE:.1%} "
        "confidence; <b>promise</b> is the most that any attack can expect. An attack <b>succeeds</b> where the bound "
        "lies above chance and no promise bounds it; <b>bounded</b>: a promise bounds it; <b>not shown</b>: neither, "
        "which promises nothing. A <b>demonstration</b> reads nothing of this table but its size."
    )
    return f'<section><h2>In short</h2><div class="scroll"><table>{head}{rows}</table></div><p>{note}</p></section>'


def _cells(outcome: Outcome) -> str:
    share = min(1.0, max(0.0, outcome.success))
    bar = (
        f'<div class="bar"><i class="{outcome.kind}" style="width:{share:.1%}"></i>'
        f'<u style="left:{min(1.0, max(0.0, outcome.chance)):.1%}"></u></div>'
    )
    promise = "" if outcome.ceiling is None else percent(outcome.ceiling)
    numbers = (percent(outcome.success), percent(outcome.evidence.least), percent(outcome.chance), promise)
    return (
        f"<td>{escape(outcome.target)}</td><td>{bar}</td>"
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + f"<td>{_verdict(outcome)}</td>"
    )


def _verdict(outcome: Outcome) -> str:
    marked = ' <span class="demonstration">(demonstration)</span>' if outcome.demonstration else ""
    return f'<span class="{outcome.kind}">{outcome.verdict}</span>{marked}'


def _meters(report: AttackReport) -> str:
    """Show where releases of the table would stand under the fundamental law, and where Discreet's promise lies."""
    if not report.meters:
        return ""
    lines = "".join(f"<p>{_verdict(meter.outcome)} · {escape(meter.sentence)}</p>" for meter in report.meters)
    return (
        "<section><h2><b>DANGER</b>How accurate may how many answers be?</h2>"
        "<p>Overly accurate answers to too many questions destroy privacy: that is a law, whatever the method.</p>"
        f'<div class="picture">{svg(_law(report))}</div>{lines}</section>'
    )


def _law(report: AttackReport) -> Curves:
    """Draw the law once, with all releases on it."""
    widest = max(report.meters, key=lambda meter: meter.deviation)
    drawn = widest.picture
    curves = [series for series in drawn.series if series[0] not in drawn.dots]
    low = curves[0][1][0][0]
    places = [(f"{each.method}", [(max(low, each.deviation), each.share)]) for each in report.meters]
    title = f"{widest.questions:,} counts about {widest.rows:,} people"
    names = frozenset(name for name, _ in places)
    return replace(drawn, title=title, series=(*curves, *places), dots=names)


def _section(section: ReportSection) -> str:
    said = "".join(
        f"<p>{_verdict(each)} · <b>{escape(each.target)}</b>: {escape(each.sentence)}</p>" for each in section.outcomes
    )
    if section.skipped:
        said = f'<p class="lead">Skipped: {escape(section.skipped)}</p>'
    pictures = list({repr(each.picture): each.picture for each in section.outcomes if each.picture}.values())
    drawn = "".join(f'<div class="picture">{svg(picture)}</div>' for picture in pictures)
    if len(pictures) > 1:
        drawn = f'<div class="pictures">{drawn}</div>'
    title = f"<h2><b>{escape(section.attack.upper().replace('_', ' '))}</b>{escape(section.about.rstrip('.'))}</h2>"
    return f"<section>{title}{said}{drawn}</section>"
