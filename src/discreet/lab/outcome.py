"""Outcomes: what an attack got out of a target, against guessing and against what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.lab.picture import Picture


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attack on one target.

    `success` is what the attacker reached, as a share (of people named, bits guessed, the area under a curve); `chance`
    is what guessing reaches, and `ceiling` the most that the target's promise allows, where it makes one. `sentence`
    tells a reader what happened, `figures` are the numbers behind it, and `picture` shows them.
    """

    attack: str
    target: str
    broken: bool
    success: float
    chance: float
    sentence: str
    ceiling: float | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    picture: Picture | None = field(default=None, repr=False)

    @property
    def verdict(self) -> str:
        """The verdict in a word: the target is broken, or it resists."""
        return "broken" if self.broken else "resists"

    def record(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values."""
        return {
            "attack": self.attack,
            "target": self.target,
            "verdict": self.verdict,
            "success": self.success,
            "chance": self.chance,
            "ceiling": self.ceiling,
            "sentence": self.sentence,
            "figures": dict(self.figures),
        }
