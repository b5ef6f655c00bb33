"""The demonstration's pictures: SVG in the page's own colours, so light and dark both look right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.answers.answer import Cell
from discreet.cli.demonstration.bars import largest

_ROW, _LEFT, _BAR = 34, 96, 300


def whiskers(title: str, rows: Sequence[tuple[str, str, Cell]]) -> str:
    """Draw a bar for each row, with its interval and its text."""
    most = largest([cell for _, _, cell in rows])
    parts = []
    for number, (name, words, cell) in enumerate(rows):
        low, value, high = (_reach(each, most) for each in (cell.low, cell.value, cell.high))
        y = _ROW * number + _ROW / 2 + 26
        ends = "".join(f"M{_LEFT + x:.1f} {y - 5:.1f}v10" for x in (low, high))
        dot = f'<circle class="dot" cx="{_LEFT + value:.1f}" cy="{y:.1f}" r="3.5"/>' if cell.value is not None else ""
        parts.append(
            _text(_LEFT - 12, y, name, "end")
            + _rect(_LEFT, y - 9, value, 18, "soft")
            + f'<path class="line" d="M{_LEFT + low:.1f} {y:.1f}H{_LEFT + high:.1f}{ends}"/>'
            + dot
            + _text(_LEFT + _BAR + 14, y, words)
        )
    return _svg(600, _ROW * len(rows) + 34, title, _text(0, 12, title, weight=True), *parts)


def bars(title: str, rows: Sequence[tuple[str, float, str, str]], *, mark: tuple[float, str] | None = None) -> str:
    """Draw shares of one as bars, each with its class of colour and its text, and perhaps a line across with a word."""
    left = 120
    parts = []
    for number, (name, share, kind, words) in enumerate(rows):
        y = _ROW * number + _ROW / 2 + 26
        parts.append(
            _text(left - 12, y, name, "end")
            + _rect(left, y - 9, _BAR, 18, "track")
            + _rect(left, y - 9, share * _BAR, 18, kind)
            + _text(left + _BAR + 14, y, words)
        )
    bottom = _ROW * len(rows) + 32
    if mark is not None:
        x = left + mark[0] * _BAR
        parts.append(f'<path class="mark" d="M{x:.1f} 24V{bottom}"/>')
        parts.append(_text(x, bottom + 12, mark[1], "middle", quiet=True))
    height = bottom + (24 if mark else 4)
    return _svg(600, height, title, _text(0, 12, title, weight=True), *parts)


def overlap(title: str, scale: float, moved: float, words: tuple[str, str]) -> str:
    """Draw the law of a noisy integer without and with one person, who moves it by `moved`."""
    width, height, top = 560, 150, 30
    reach = 4 * scale
    grid = [reach * (place / 140 - 1) + moved / 2 for place in range(281)]

    def curve(centre: float) -> str:
        points = [
            f"{(x - grid[0]) / (grid[-1] - grid[0]) * width + 20:.1f} "
            f"{top + height * (1 - math.exp(-abs(x - centre) / scale)):.1f}"
            for x in grid
        ]
        return "M" + "L".join(points)

    base = f"L{width + 20} {top + height}L20 {top + height}Z"
    legend = "".join(
        f'<rect class="{kind}" x="{x}" y="{top + height + 18}" width="12" height="12" rx="2"/>'
        + _text(x + 20, top + height + 24, text)
        for x, kind, text in ((20, "without", words[0]), (300, "with", words[1]))
    )
    drawn = "".join(
        f'<path class="{kind} area" d="{curve(at)}{base}"/><path class="{kind} edge" d="{curve(at)}"/>'
        for kind, at in (("without", 0.0), ("with", moved))
    )
    return _svg(600, top + height + 42, title, _text(0, 12, title, weight=True), drawn, legend)


def _reach(value: object, most: float) -> float:
    return min(1.0, max(0.0, float(value) / most)) * _BAR if isinstance(value, int | float) else 0.0


def _svg(width: int, height: float, title: str, *parts: str) -> str:
    box = f'viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}"'
    return f'<svg {box} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size} rx="2"/>'


def _text(x: float, y: float, words: str, anchor: str = "start", *, weight: bool = False, quiet: bool = False) -> str:
    kind = "title" if weight else "quiet" if quiet else "label"
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
