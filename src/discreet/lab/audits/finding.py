"""Findings: what an audit saw of a promise, and whether the promise survived it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.errors import BadParameter, Refusal

Layer = Literal["exact", "black_box", "replay"]
Verdict = Literal["consistent", "violated"]
LAYERS: tuple[Layer, ...] = ("exact", "black_box", "replay")


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One layer's evidence on one pair of neighbours.

    `lower` is an epsilon that is spent at `delta` on this pair; `claimed` is what the claim allows there. `event` says
    in words what tells the neighbours apart, and `point` is that event as a test for the person: its false-positive and
    false-negative rates, at the pessimistic ends of their bounds.

    Guarantee: "violated" is a proof (exact), wrong with probability at most the audit's `alarm` (black box), or a
    breach of what a proof of the claim rests on (replay). "consistent" proves nothing: nothing was seen.
    """

    lower: float
    claimed: float
    event: str
    verdict: Verdict
    layer: Layer
    delta: float = 0.0
    samples: int = 0
    point: tuple[float, float] | None = None
    claim: PrivacyLoss | None = None

    def __str__(self) -> str:
        """Say the verdict, how it was found, and what of the claim is spent, in one sentence."""
        how = self.layer.replace("_", " ") + (f", {self.samples:,} samples" if self.samples else "")
        spent = f"epsilon {_short(self.lower)} or more is spent at delta {self.delta:g}"
        event = f": {self.event}" if self.event else ""
        return f"{self.verdict} ({how}): {spent}, where {_short(self.claimed)} is allowed{event}"

    __repr__ = __str__

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.verdict == "violated"

    def record(self) -> dict[str, Any]:
        """Return the finding as plain JSON values; an infinite epsilon is the text "infinity"."""
        return {
            "layer": self.layer,
            "claimed": _plain(self.claimed),
            "lower": _plain(self.lower),
            "delta": self.delta,
            "event": self.event,
            "verdict": self.verdict,
            "samples": self.samples,
            "point": None if self.point is None else list(self.point),
        }

    def plot(self, path: str | Path) -> None:
        """Draw the trade-off curve of the claim and the audited point, below the curve where the claim is broken."""
        from discreet.lab.audits.plot import plot

        if self.claim is None or self.point is None:
            fix = "plot the finding of the layer exact or black_box"
            raise BadParameter("layer", self.layer, why="it has no rates to draw", fix=fix)
        plot(
            self.claim,
            self.point,
            violated=self.violated,
            event=self.event,
            label=f"{self.verdict}: epsilon >= {self.lower:.4g} at delta {self.delta:g}",
            path=Path(path),
        )


class ClaimViolated(Refusal):
    """An audit that refuted a claim; `value` is the finding."""

    def __init__(self, name: str, finding: Finding) -> None:
        super().__init__(
            f"the claim of {name}",
            why=f"it allows epsilon {finding.claimed:.6g} at delta {finding.delta:g}, and the audit ({finding.layer}) "
            f"shows {finding.lower:.6g} or more: {finding.event}",
            fix="publish nothing with it; look at the event, fix the noise or the claim, and audit again",
            value=finding,
        )


def worst(findings: tuple[Finding, ...]) -> Finding:
    """Return the most telling finding: a violated one if there is any, then the one closest to its claim."""
    return max(findings, key=lambda finding: (finding.violated, finding.lower - finding.claimed))


def _short(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "infinity"


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "infinity"
