"""Schedule of a descent: how many rounds, how long its steps are; a public rule, so that nobody tunes on the data.

The rule sees one number, the signal: how far all people together outweigh what one of them may add, times the
allowance (`TrainingAllowance.signal`). It was chosen on parts of the training rows of one public census table; the
range of clips and steps that was tried there had been looked at on its test rows as well. With Gaussian noise the
noise of a whole run depends on its length (rounds times step), hardly on the number of rounds; with Laplace noise
every round is dear.
"""

from __future__ import annotations

import math

from discreet.core.value import dataclass

CLIP = 0.5
# Below this signal the noise of the run is about as large as anything that could be learnt.
FAINT = 60.0


@dataclass(frozen=True, slots=True)
class DescentSchedule:
    """Rounds, the length of the first step and of the last one, momentum, and which share of the weights is averaged.

    Few rounds end with shorter steps: otherwise the scores of all rows swing to and fro. Many are averaged instead.
    """

    rounds: int
    step: float
    last_step: float
    momentum: float
    averaged: float

    @classmethod
    def gaussian(cls, signal: float) -> DescentSchedule:
        """Return the rule for Gaussian noise."""
        length = 8 * min(max(signal, 1.0), 1e6) ** 0.6
        rounds = min(max(round(length / 6), 30), 500)
        return cls(rounds, length / rounds, length / rounds, 0.9, 0.5)

    @classmethod
    def laplace(cls, signal: float) -> DescentSchedule:
        """Return the rule for Laplace noise, of which every round takes its share of epsilon."""
        rounds = min(max(round((min(max(signal, 1.0), 1e6) / 100) ** 0.8), 5), 100)
        if rounds < 10:
            return cls(rounds, 5.0, 2.0, 0.0, 0.0)
        step = min(2 * math.log2(rounds), 12.0)
        return cls(rounds, step, step, 0.5, 0.5)

    def step_of(self, turn: int) -> float:
        """Return the length of a step: from the first to the last in equal parts."""
        return self.step + (self.last_step - self.step) * turn / max(1, self.rounds - 1)

    def is_kept(self, turn: int) -> bool:
        """Say whether the weights after a round are averaged; those of the last round always are."""
        return turn >= self.rounds - max(1, round(self.averaged * self.rounds))
