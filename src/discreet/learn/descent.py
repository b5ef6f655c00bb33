"""Descent: noisy gradients of all rows, round by round, on whole numbers until the noise is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Exact, together
from discreet.core.value import dataclass
from discreet.learn.allowance import COUNT_SHARE, TrainingAllowance
from discreet.learn.schedule import CLIP, FAINT, DescentSchedule
from discreet.mechanisms.clipped_sum import ClippedSum
from discreet.plan.person_gradients import (
    STEPS,
    DesignRows,
    Objective,
    Residuals,
    gradient_sum,
    people_count,
)
from discreet.plan.person_sums import added
from discreet.plan.row_design import RowDesign

Floats = NDArray[np.float64]
# Makes what is drawn inside a `with` block come from the stream of a label.
At = Callable[[str], AbstractContextManager[None]]

# The largest second derivative of each objective by its score, against that of the logistic one, for which steps are.
_CURVATURE: dict[Objective, float] = {"logistic": 1.0, "softmax": 2.0, "hinge": 4.0, "squared": 4.0}


@dataclass(frozen=True, slots=True)
class Trained:
    """What a run returns: weights, an entry of the design a row and an output a column; how it went, in words."""

    weights: Floats
    schedule: DescentSchedule
    people: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Descent:
    """A training run, all of it a function of declarations and the allowance.

    Guarantee: `allowance.loss`. Every round releases one sum of clipped gradients (`gradient_sum`), with the noise of
    its share; a number of people that was not declared is bought first. Weights follow from what was released.
    """

    design: RowDesign
    objective: Objective
    values: int
    allowance: TrainingAllowance
    people: int | None = None
    clip: float = CLIP

    @property
    def residuals(self) -> Residuals:
        """How wrong a model is about a row."""
        return Residuals(self.objective, self.values, self.clip, "l1" if self.allowance.is_pure else "l2")

    @property
    def counting(self) -> ClippedSum | None:
        """The noise of the number of people, where that is bought."""
        if self.people is not None:
            return None
        return self.allowance.noise(self.allowance.amount * COUNT_SHARE, l1=1, l2_squared=1, dimension=1)

    @property
    def _rest(self) -> Fraction:
        return self.allowance.amount * (1 if self.people is not None else 1 - COUNT_SHARE)

    def signal(self, people: float) -> float:
        """Return the signal of so many people."""
        unit = self.design.unit
        lengths = self.design.length_squared / unit**2, self.design.length_l1 / unit
        return self.allowance.signal(self._rest, people, self.clip, *lengths)

    def schedule(self, people: float) -> DescentSchedule:
        """Return the schedule for so many people."""
        rule = DescentSchedule.laplace if self.allowance.is_pure else DescentSchedule.gaussian
        return rule(self.signal(people))

    def noise(self, rounds: int) -> ClippedSum:
        """Return the noise of every round."""
        return self.allowance.noise(
            self._rest,
            l1=STEPS * self.design.length_l1,
            l2_squared=STEPS**2 * self.design.length_squared,
            dimension=self.design.width * self.residuals.outputs,
            times=rounds,
        )

    def words(self, people: float) -> tuple[str, ...]:
        """Say what is to be expected of a run on so many people, before it is paid for."""
        signal = self.signal(people)
        if signal >= FAINT:
            return ()
        more = FAINT / max(signal, 1e-9)
        expected = "expect little more than the most frequent class, or the mean"
        said = f"this budget is small for about {people:,.0f} people: {expected}"
        return (f"{said} ({more:,.1f} times the budget, or the people, would tell more)",)

    def run(self, rows: Sequence[Exact[DesignRows]], at: At) -> Trained:
        """Train; what is drawn comes from a label for each round."""
        people, counting = float(self.people or 0), self.counting
        if counting is not None:
            with at("people"):
                counted = counting.release(_summed([each.map(people_count) for each in rows]))
            people = float(max(counted[0], 10))
        schedule = self.schedule(people)
        noise, residuals = self.noise(schedule.rounds), self.residuals
        shape = (self.design.width, residuals.outputs)
        weights, moved = np.zeros(shape), np.zeros(shape)
        kept: list[Floats] = []
        unit = self.clip / STEPS / self.design.unit
        curvature = _CURVATURE[self.objective]
        for turn in range(schedule.rounds):
            exact = _summed([each.map(gradient_sum, residuals, weights, self.design) for each in rows])
            with at(f"round/{turn}"):
                noisy = noise.release(exact)
            gradient = np.asarray(noisy, np.float64).reshape(shape) * unit / people
            moved = schedule.momentum * moved + (1 - schedule.momentum) * gradient
            weights = weights + schedule.step_of(turn) / curvature * moved
            if schedule.is_kept(turn):
                kept.append(weights)
        return Trained(np.mean(kept, axis=0), schedule, people, self.words(people))


def _summed(parts: Sequence[Exact[tuple[int, ...]]]) -> Exact[tuple[int, ...]]:
    return together(parts).map(added)
