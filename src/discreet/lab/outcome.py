"""Outcomes: what an attack got out of a target, judged against chance and against what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from discreet.core.errors import BadParameter
from discreet.lab.picture import Picture

# The confidence of the lower bound beside each success: it lies above the truth once in a thousand attacks.
CONFIDENCE = 0.999
# How often a kept promise may be called broken: the lower bound for that is a lower one.
ALARM = 1e-6
# A promise that leaves the attacker so much of everything bounds nothing that a person would notice.
VACUOUS = 0.99
# The version of the JSON that outcomes and reports are written as.
FORMAT = 2

DEMONSTRATION = "A demonstration: it reads nothing of the table but its size, and says nothing of what is in it."


class Verdict(StrEnum):
    """The only three things that an attack can say of a target."""

    SUCCEEDS = "succeeds"
    NOT_SHOWN = "not shown"
    BOUNDED = "bounded"


@dataclass(frozen=True, slots=True)
class Counted:
    """A success that was counted: so many of some independent trials came out right; `of` says what was tried."""

    right: int
    trials: int
    of: str

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.trials:
            why = f"of {self.trials} trials none or some are right"
            raise BadParameter("right", self.right, why=why, fix="count the trials that came out right")

    @property
    def share(self) -> float:
        """The share of the trials that came out right; zero where there were none."""
        return self.right / self.trials if self.trials else 0.0

    @property
    def least(self) -> float:
        """The exact lower confidence bound of the probability that a trial comes out right (Clopper, Pearson 1934)."""
        return self.at_least(1 - CONFIDENCE)

    def at_least(self, doubt: float) -> float:
        """Return the bound that is above the truth with this probability."""
        from scipy.special import betaincinv

        return float(betaincinv(self.right, self.trials - self.right + 1, doubt)) if self.right else 0.0

    def words(self) -> str:
        """Say the count, its share and its bound."""
        if not self.trials:
            return f"There were no {self.of} to judge"
        bound = f"at least {percent(self.least)} at {CONFIDENCE:.1%} confidence"
        return f"{self.right:,} of {self.trials:,} {self.of} ({percent(self.share)}, {bound})"


@dataclass(frozen=True, slots=True)
class ComputedShare:
    """A success that is a formula's, without trials and so without doubt; `of` says what comes out right."""

    share: float
    of: str

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise BadParameter("share", self.share, why="it is a probability", fix="use a number from 0 to 1")

    @property
    def least(self) -> float:
        """The share itself."""
        return self.share

    def at_least(self, doubt: float) -> float:  # noqa: ARG002  (a formula leaves none)
        """Return the share itself."""
        return self.share

    def words(self) -> str:
        """Say the share."""
        return f"{percent(self.share)} of {self.of} (computed)"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attack on one target.

    `evidence` is what the attacker reached, `chance` what guessing reaches, and `ceiling` the most that the target's
    promise allows, where it makes one: computed from the promise and public numbers alone, never from a success. The
    verdict follows from these; `told` says what was done, `figures` are the numbers behind it, and `picture` shows
    them. A `demonstration` reads nothing of the table but its size, and says nothing of what the table gives away.
    """

    attack: str
    target: str
    evidence: Counted | ComputedShare
    chance: float
    told: str
    ceiling: float | None = None
    demonstration: bool = False
    figures: Mapping[str, Any] = field(default_factory=dict)
    picture: Picture | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.chance <= 1:
            raise BadParameter("chance", self.chance, why="it is a probability", fix="use a number from 0 to 1")
        if self.ceiling is not None and not self.chance <= self.ceiling <= 1:
            why = f"no promise keeps an attacker below chance, which is {self.chance}"
            raise BadParameter("ceiling", self.ceiling, why=why, fix="compute it from the promise alone")

    @property
    def success(self) -> float:
        """What the attacker reached, as a share."""
        return self.evidence.share

    @property
    def bound(self) -> float | None:
        """The ceiling, where it bounds anything."""
        return self.ceiling if self.ceiling is not None and self.ceiling < VACUOUS else None

    @property
    def verdict(self) -> Verdict:
        """The verdict: a promise bounds the attack; else it succeeds significantly beyond chance, or this is not shown.

        A success beyond its bound succeeds, where that happens by chance once in a million: the promise was not kept.
        """
        bound = self.bound
        if bound is not None:
            return Verdict.SUCCEEDS if self.evidence.at_least(ALARM) > bound else Verdict.BOUNDED
        return Verdict.SUCCEEDS if self.evidence.least > self.chance else Verdict.NOT_SHOWN

    @property
    def succeeds(self) -> bool:
        """Whether the verdict is that the attack succeeds."""
        return self.verdict is Verdict.SUCCEEDS

    @property
    def kind(self) -> str:
        """How a bar of a picture shows it: bad, good, or quiet where nothing is shown either way."""
        return {Verdict.SUCCEEDS: "bad", Verdict.BOUNDED: "good", Verdict.NOT_SHOWN: "quiet"}[self.verdict]

    @property
    def conclusion(self) -> str:
        """The evidence, chance and the verdict in a sentence, the same wherever an outcome is shown."""
        said = f"{self.evidence.words()}; chance is {percent(self.chance)}"
        match self.verdict:
            case Verdict.BOUNDED:
                return f"{said}. Bounded by the promise: no attack can expect more than {percent(self.ceiling or 0)}."
            case Verdict.SUCCEEDS if self.bound is not None:
                return f"{said}. The attack succeeds beyond the promised {percent(self.bound)}: this is a defect."
            case Verdict.SUCCEEDS:
                return f"{said}. The attack succeeds."
        return f"{said}. Success is not shown, which promises nothing."

    @property
    def sentence(self) -> str:
        """What was done and what came of it."""
        return " ".join(part for part in (self.told, self.conclusion, self.demonstration * DEMONSTRATION) if part)

    def record(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values."""
        counted = self.evidence if isinstance(self.evidence, Counted) else None
        return {
            "attack": self.attack,
            "target": self.target,
            "verdict": str(self.verdict),
            "demonstration": self.demonstration,
            "success": self.success,
            "right": counted.right if counted else None,
            "trials": counted.trials if counted else None,
            "of": self.evidence.of,
            "least": self.evidence.least,
            "confidence": CONFIDENCE if counted else None,
            "chance": self.chance,
            "ceiling": self.ceiling,
            "sentence": self.sentence,
            "figures": dict(self.figures),
        }


def percent(share: float) -> str:
    """Write a share as a percentage, so that little is not written as nothing, and nearly everything not as all."""
    if 0 < share < 0.0005:
        return f"{100 * share:.1g}%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def tally(outcomes: tuple[Outcome, ...]) -> dict[Verdict, int]:
    """Count the verdicts on the table, which are those of all attacks that read it."""
    read = [each.verdict for each in outcomes if not each.demonstration]
    return {verdict: read.count(verdict) for verdict in Verdict}
