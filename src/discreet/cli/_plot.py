"""The demonstration's picture: samples as bars, the exact distribution as points on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.cli._sampled import Sampled

_BAR, _POINT, _INK = "#9ec5e8", "#c2410c", "#334155"


def plot(panels: Sequence[Sampled], path: Path) -> None:
    """Draw one panel for each set of samples, small scales on a linear axis and large ones on a logarithmic one."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingExtra("the plot", "plot", "matplotlib") from error
    figure = Figure(figsize=(11, 7.5), layout=ConstrainedLayoutEngine(hspace=0.08, wspace=0.06))
    for axes, panel in zip(figure.subplots(2, 2).flat, panels, strict=True):
        _draw(axes, panel)
    figure.suptitle(f"{panels[0].size:,} samples (bars) against the exact distribution (points)", color=_INK)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _draw(axes: Axes, panel: Sampled) -> None:
    logarithmic = panel.scale >= 5
    # Show what the samples can be expected to hit; further out single hits would tower over their probabilities.
    rarest = min(1e-3, 1 / panel.size)
    reach = (7 if logarithmic else 5) * panel.scale
    rows = [row for row in panel.rows(range(-reach, reach + 1)) if row.probability >= rarest]
    values = [row.value for row in rows]
    axes.bar(values, [row.share for row in rows], width=1 if logarithmic else 0.92, color=_BAR, label="samples")
    size = 9 if logarithmic else 22
    axes.scatter(values, [row.probability for row in rows], s=size, color=_POINT, zorder=3, label="exact")
    if logarithmic:
        axes.set_yscale("log")
        axes.minorticks_off()
    parameter = "scale" if panel.name == "laplace" else "sigma"
    axes.set_title(f"discrete {panel.name.capitalize()}, {parameter} {panel.scale}", color=_INK, fontsize=11)
    axes.set_ylabel("probability, logarithmic" if logarithmic else "probability", color=_INK)
    axes.locator_params(axis="x", integer=True)
    axes.tick_params(colors=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e2e8f0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, labelcolor=_INK)
