"""The page of a quality report: one file of HTML, with bars drawn as SVG, and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:62rem;padding:0 1rem;color:#1c2733}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #dde}"
    "td:first-child,th:first-child{text-align:left}.exact{background:#b3261e;color:#fff;padding:.6rem 1rem}"
    ".paid{background:#e6f2ea;padding:.6rem 1rem}svg{vertical-align:middle}"
)
_WIDTH, _HEIGHT = 180, 12


def page(record: Mapping[str, Any]) -> str:
    """Write a report's record as a page."""
    exact, lines = record["exact"], sorted(record["marginals"], key=lambda line: -line["apart"])
    longest = max((max(line["apart"], line["expected"] or 0.0) for line in lines), default=0.0) or 1.0
    standing, *words = record["words"]
    what = "the truth" if exact else "what was measured"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Quality of the synthetic data</title>",
        f"<style>{_STYLE}</style></head><body><h1>Quality of the synthetic data</h1>",
        f"<p class='{'exact' if exact else 'paid'}'>{escape(standing)}</p>",
        f"<p>Made by <b>{escape(record['method'])}</b> for {escape(record['loss'])};",
        f" about {record['rows']:,} rows.</p>",
        *(f"<p>{escape(word)}</p>" for word in words),
        f"<h2>Marginals</h2><p>How far each lies from {what}, in all its cells together, as a share of the rows; on",
        f" average {record['mean']:.2%}. {'' if exact else 'The mark is what noise alone adds up to.'}</p>",
        "<table><thead><tr><th>columns</th><th>cells</th><th>noise of a cell</th><th>noise, in all</th>",
        "<th>apart</th><th></th></tr></thead><tbody>",
        *(_row(line, longest) for line in lines),
        "</tbody></table>",
        _never(record["never_measured"]),
        "</body></html>",
    ]
    return "".join(parts)


def _row(line: Mapping[str, Any], longest: float) -> str:
    noise = "" if line["noise"] is None else f"± {line['noise']:,.1f}"
    expected = "" if line["expected"] is None else f"{line['expected']:.2%}"
    names = escape(", ".join(line["columns"]))
    cells = f"<td>{line['cells']:,}</td><td>{noise}</td><td>{expected}</td><td>{line['apart']:.2%}</td>"
    return f"<tr><td>{names}</td>{cells}<td>{_bar(line['apart'], line['expected'], longest)}</td></tr>"


def _bar(apart: float, expected: float | None, longest: float) -> str:
    wide = _WIDTH * apart / longest
    mark = "" if expected is None else f"<rect x='{_WIDTH * expected / longest:.1f}' width='2' height='{_HEIGHT}'/>"
    bar = f"<rect width='{wide:.1f}' height='{_HEIGHT}' fill='#5b8db8'/>"
    label = f"<title>{apart:.2%}</title>"
    return f"<svg width='{_WIDTH + 4}' height='{_HEIGHT}' role='img'>{label}{bar}{mark}</svg>"


def _never(names: list[list[str]]) -> str:
    if not names:
        return "<h2>Never measured</h2><p>Every pair of columns lies within something that was measured.</p>"
    listed = "; ".join(escape(" and ".join(each)) for each in names)
    about = "No budget was spent on these pairs. What the synthetic data says about them follows from other columns:"
    return f"<h2>Never measured</h2><p>{about}</p><p>{listed}</p>"
