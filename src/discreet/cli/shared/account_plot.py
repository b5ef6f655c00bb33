"""The accounting's pictures: epsilon against the number of compositions, and the trade-off curve of a tester."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.shared.accounting_methods import compare
from discreet.core.errors import MissingExtra

if TYPE_CHECKING:
    from fractions import Fraction

    from matplotlib.figure import Figure

    from discreet.account.losses.loss import PrivacyLoss

_INK, _GRID = "#334155", "#e2e8f0"
# Dark to light along the table, the tightest method in the one warm colour.
_COLOURS = {
    "basic": "#94a3b8",
    "strong": "#64748b",
    "advanced": "#2563eb",
    "optimal": "#0d9488",
    "zcdp": "#7c3aed",
    "renyi": "#db2777",
    "tight": "#c2410c",
}
_POINTS = 25

Curve = dict[str, list[float]]


def plot_epsilon(loss: PrivacyLoss, text: str, delta: Fraction, most: int, out: Path) -> dict[str, Curve]:
    """Draw the epsilon of k times the loss, by every method that applies, and return the curves."""
    figure, axes = _figure(8)
    counts = _counts(most)
    curves: dict[str, Curve] = {}
    for k in counts:
        for row in compare(loss * k, delta):
            if row.epsilon is not None:
                curve = curves.setdefault(row.method, {"k": [], "epsilon": []})
                curve["k"].append(k)
                curve["epsilon"].append(row.epsilon)
    for method, curve in curves.items():
        # Optimal and tight may coincide: dots on a line show both.
        style = {"tight": ("-", 2.4, 3), "optimal": (":", 2.4, 4)}.get(method, ("--", 1.6, 2))
        line, width, layer = style
        colour = _COLOURS[method]
        axes.plot(
            curve["k"], curve["epsilon"], color=colour, linestyle=line, linewidth=width, zorder=layer, label=method
        )
    axes.set(xscale="log", yscale="log", xlim=(1, most), xlabel="number of compositions k", ylabel="epsilon")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_title(f"{text}, k times, at delta {float(delta):g}", color=_INK, fontsize=11, loc="left")
    axes.legend(frameon=False, labelcolor=_INK)
    _save(figure, out)
    return curves


def plot_tradeoff(loss: PrivacyLoss, text: str, out: Path) -> dict[str, Curve]:
    """Draw the least false negative rate of any test for the presence of one person, and return the curve."""
    figure, axes = _figure(5.5)
    rates = [step / 200 for step in range(201)]
    misses = [float(miss) for miss in loss.tradeoff(rates)]
    axes.plot([0, 1], [1, 0], color="#94a3b8", linewidth=1.4, linestyle="--", label="guessing: perfect privacy")
    axes.plot(rates, misses, color=_COLOURS["tight"], linewidth=2.4, label="the best any test can do")
    axes.fill_between(rates, misses, [0.0] * len(rates), color=_COLOURS["tight"], alpha=0.08, linewidth=0)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false positive rate", ylabel="false negative rate", aspect="equal")
    axes.text(0.03, 0.03, "no test reaches here", color=_INK, fontsize=9, alpha=0.8)
    title = f"Can a test detect whether one person is in the data?\n{text}"
    axes.set_title(title, color=_INK, fontsize=11, loc="left")
    axes.legend(frameon=False, labelcolor=_INK, loc="upper right")
    _save(figure, out)
    return {"tradeoff": {"false_positive_rate": rates, "false_negative_rate": misses}}


def _counts(most: int) -> list[int]:
    """Return about _POINTS integers from 1 to `most`, evenly spread on a logarithmic scale."""
    return sorted({round(most ** (step / (_POINTS - 1))) for step in range(_POINTS)})


def _figure(width: float) -> tuple[Figure, Any]:
    """Make a figure, 5.5 inches tall."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("the plot", "plot", "matplotlib") from error
    figure = Figure(figsize=(width, 5.5), layout="constrained")
    axes = figure.subplots()
    axes.tick_params(colors=_INK, which="both")
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _save(figure: Figure, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=130)
