"""Findings: what an audit saw of a promise, and whether the promise survived it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.errors import BadParameter, Refusal

Layer = Literal["exact", "black_box", "replay"]
Verdict = Literal["violated", "not shown", "bounded"]
LAYERS: tuple[Layer, ...] = ("exact", "black_box", "replay")


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One layer's evidence on one pair of neighbours.

    `lower` is an epsilon that is spent at `delta` on this pair; `claimed` is what the claim allows there. `event` says
    in words what tells the neighbours apart, and `point` is that event as a test for the person: its false-positive and
    false-negative rates, at the pessimistic ends of their bounds.

    `sees` is the smallest defect that it would have seen.

    Guarantee: "violated" is a proof (exact), wrong with probability at most the audit's `alarm` (black box), or a
    breach of what a proof of the claim rests on (replay). "bounded" holds for this pair alone: it is proved from the
    probabilities that the mechanism states (exact), or from how far its inputs moved against noise that was added as
    it was drawn (replay). "not shown" proves nothing: no defect was seen, and `sees` says which would have been.
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
    sees: str = ""

    def __str__(self) -> str:
        """Say the verdict, how it was found, and what of the claim is spent, in one sentence."""
        how = self.layer.replace("_", " ") + (f", {self.samples:,} samples" if self.samples else "")
        spent = f"epsilon {_short(self.lower)} or more is spent at delta {self.delta:g}"
        event = f": {self.event}" if self.event else ""
        sees = f"; would have seen {self.sees}" if self.sees and not self.violated else ""
        return f"{self.verdict} ({how}): {spent}, where {_short(self.claimed)} is allowed{event}{sees}"

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
            "sees": self.sees,
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


class AuditFailed(Refusal):
    """An audit that could not look at what it was asked about: every run raised. It says nothing of the claim."""

    def __init__(self, what: str, why: str) -> None:
        fix = "make it answer on made-up rows first: an audit of what never answers says nothing"
        super().__init__(f"the audit of {what}", why=why, fix=fix)


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return one word for several findings: violated if one is, bounded if all are."""
    found = set(verdicts)
    return "violated" if "violated" in found else "bounded" if found == {"bounded"} else "not shown"


def worst(findings: tuple[Finding, ...]) -> Finding:
    """Return the most telling finding: a violated one if there is any, then the one closest to its claim."""
    return max(findings, key=lambda finding: (finding.violated, finding.lower - finding.claimed))


def _short(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "infinity"


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "infinity"
