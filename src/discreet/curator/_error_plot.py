"""Error against price: how the half-widths of a question's columns fall as more is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(curves: Mapping[str, Sequence[tuple[float, float]]], currency: str, now: float, path: Path | None) -> Figure:
    """Draw one curve for each column, in units of the column (ranks for quantiles), and the price that was asked."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("plots", "plot", "matplotlib") from error

    if not curves:
        why = "no half-width is known without a number of rows"
        raise BadParameter("rows", None, why=why, fix="pass rows= to preview")
    figure = Figure(figsize=(6.4, 3.2 * len(curves)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(curves), 1, squeeze=False)[:, 0]
    for panel, (name, points) in zip(axes, curves.items(), strict=True):
        prices, halves = zip(*points, strict=True)
        panel.plot(prices, halves, color="#3b6ea5", linewidth=2)
        panel.axvline(now, color="#c05621", linewidth=1, linestyle="--")
        panel.annotate(f"{currency} {now:g}", (now, max(halves)), (4, -8), textcoords="offset points", color="#c05621")
        panel.set(xscale="log", yscale="log", xlabel=currency, ylabel="95% half-width", title=name)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(visible=True, which="major", alpha=0.25)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
