"""The audit's picture: the trade-off curve a claim allows, and the point an audit reached."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.errors import MissingExtra
from discreet.core.file import new_file
from discreet.core.rational import typed

_INK, _GRID, _CLAIM = "#334155", "#e2e8f0", "#2563eb"
_POINTS = {False: "#0d9488", True: "#c2410c"}


def plot(claim: PrivacyLoss, point: tuple[float, float], *, violated: bool, event: str, label: str, path: Path) -> None:
    """Draw false negatives against false positives: below the curve no test may be, if the claim is true."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("the plot", "plot", "matplotlib") from error
    figure = Figure(figsize=(7, 6), layout="constrained")
    axes = figure.subplots()
    rates = np.concatenate([np.geomspace(1e-6, 1e-2, 40), np.linspace(0.01, 1, 160)])
    curve = claim.tradeoff(rates)
    axes.plot([0, 1], [1, 0], color="#94a3b8", linestyle="--", linewidth=1.2, label="guessing")
    axes.plot(rates, curve, color=_CLAIM, linewidth=2, label="the claim")
    axes.fill_between(rates, 0, curve, color=_CLAIM, alpha=0.08, linewidth=0)
    axes.scatter(*point, color=_POINTS[violated], s=60, zorder=3, label=label)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    axes.set_xlabel("false positives: the person is absent and is seen", color=_INK)
    axes.set_ylabel("false negatives: the person is present and is missed", color=_INK)
    axes.set_title(f"{claim_words(claim)}\n{event}", color=_INK, fontsize=10, loc="left", wrap=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK)
    axes.legend(frameon=False, labelcolor=_INK)
    path.parent.mkdir(parents=True, exist_ok=True)
    with new_file(path, force=True) as place:
        figure.savefig(place, dpi=130)


def claim_words(claim: PrivacyLoss) -> str:
    """Write a claim as one would type it: 2 * DiscreteLaplace(scale=10, sensitivity=1), never Fraction(10, 1)."""
    return " + ".join((f"{times} * " if times > 1 else "") + _part(part) for part, times in claim.parts)


def _part(loss: PrivacyLoss) -> str:
    given = {name: value for name, value in loss.parameters().items() if (name, value) != ("relation", "add_remove")}
    return f"{type(loss).__name__}({', '.join(f'{name}={_written(value)}' for name, value in given.items())})"


def _written(value: object) -> str:
    if isinstance(value, PrivacyLoss):
        return claim_words(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))})"
    return str(typed(value)) if isinstance(value, Fraction) else repr(value)
