"""Error against price: how the half-widths of a question's columns fall as more is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.answers.plots.picture_file import check_place, new, save
from discreet.answers.plots.style import GRID, INK, LINES, QUIET, written
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOW = "#b45309"


def plot(curves: Mapping[str, Sequence[tuple[float, float]]], currency: str, now: float, path: Path | None) -> Figure:
    """Draw one curve for each column, in units of the column (ranks for quantiles), and the price that was asked."""
    new_figure = new()
    if path is not None:
        check_place("path", path)
    if not curves:
        why = "no half-width is known without a number of rows"
        raise BadParameter("rows", None, why=why, fix="pass rows= to preview")
    figure = new_figure(figsize=(7.5, 3.2 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), 1, squeeze=False)[:, 0]
    for panel, (name, points) in zip(axes, curves.items(), strict=True):
        prices, halves = zip(*points, strict=True)
        panel.plot(prices, halves, color=LINES[0], linewidth=2)
        panel.axvline(now, color=_NOW, linewidth=1, linestyle="--")
        words = f"{currency} {written(now)}"
        panel.annotate(words, (now, max(halves)), (4, -8), textcoords="offset points", color=_NOW, fontsize=9)
        panel.set(xscale="log", yscale="log")
        panel.set_xlabel(currency, color=INK, fontsize=9)
        panel.set_ylabel("95% half-width", color=INK, fontsize=9)
        panel.set_title(name, color=INK, fontsize=10, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(QUIET)
        panel.grid(which="major", color=GRID, linewidth=0.8)
        panel.tick_params(colors=INK, labelsize=9, which="both")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(lambda value, _: written(value))
    if path is not None:
        save(figure, path)
    return figure
