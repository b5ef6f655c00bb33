"""What the attacker of a reconstruction knows in advance: how the answers were made, though not the coins."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.lab.defence import Defence, ExactDefence, NoisyDefence, RoundedDefence, SampledDefence, SuppressedDefence


@dataclass(frozen=True, slots=True)
class AttackerKnowledge:
    """A published way to answer: multiply by `scale`, and the exact count lies within `width` of it.

    Without a width the noise has no bounds, and its variance is learned from the answers. `prior` is how likely a bit
    is before any answer: under sampling a person who was left out looks as one without the bit does. `base` is what
    answers are rounded to a multiple of.
    """

    scale: float = 1.0
    width: float | None = None
    prior: float = 0.5
    base: int | None = None

    def group_share(self, people: int) -> float:
        """Return the share of the people to ask about at once: half of them, or somewhat off it under rounding.

        Counts that are all rounded to the same number tell nothing. So groups are made of a size whose count is to be
        expected where the rounding changes from one multiple to the next.
        """
        if self.base is None or self.base**2 < people / 2:  # counts of halves vary by more than that, by themselves
            return 0.5
        edges = (self.base / 2 + self.base * step for step in range(1 + people // self.base))
        nearest = min((edge / (people / 2) for edge in edges), key=lambda share: abs(share - 0.5))
        return nearest if 0 < nearest < 1 else 0.5


def known(defence: Defence) -> AttackerKnowledge:
    """Return what a defence tells about itself; how a table is protected is no secret (Kerckhoffs 1883)."""
    match defence:
        case ExactDefence() | SuppressedDefence():
            return AttackerKnowledge(width=0.5)
        case RoundedDefence(base):
            return AttackerKnowledge(width=base / 2, base=base)
        case NoisyDefence(width):
            return AttackerKnowledge(width=width + 0.5)
        case SampledDefence(share):
            return AttackerKnowledge(scale=share, width=0.5, prior=share / 2)
        case _:
            return AttackerKnowledge()
