"""Laplace mechanism: integers plus exact discrete Laplace noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core import rational
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.grid import Released, add, integers, on_grid, positive_as_written, scaled, whole_steps
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.noise.inversion import Integers
from discreet.noise.laplace import laplace


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """Releases a number, or a vector, with two-sided geometric noise on every coordinate.

    `sensitivity` is the most that one unit can move the answer by, under `relation`, in the sum of absolute values over
    all coordinates; a count has 1 under add_remove and under replace, a histogram 1 and 2. State the noise by
    `epsilon`, or by its `scale`. Real answers live on a grid of `step`: sensitivity and scale are in the answer's
    unit, `release` takes whole steps and returns the unit.

    Guarantee: pure epsilon = sensitivity / scale, with the sensitivity counted in whole steps, rounded up. The loss is
    that of one discrete Laplace number shifted by the whole sensitivity, which no vector exceeds (see `loss`).
    Error: exact; `error(beta)` is the least half-width that one coordinate exceeds with probability at most beta.
    """

    sensitivity: Fraction
    scale: Fraction
    step: Fraction
    relation: Relation

    def __init__(
        self,
        *,
        sensitivity: rational.Number = 1,
        epsilon: Number | None = None,
        scale: Number | None = None,
        step: rational.Number = 1,
        relation: Relation = "add_remove",
    ) -> None:
        if (epsilon is None) == (scale is None):
            why = "the noise is stated once, by epsilon or by its scale"
            raise BadParameter("epsilon, scale", (epsilon, scale), why=why, fix="give one of epsilon= and scale=")
        size, grid = positive_as_written("sensitivity", sensitivity), positive_as_written("step", step)
        object.__setattr__(self, "sensitivity", size)
        object.__setattr__(self, "step", grid)
        if epsilon is not None:
            wide = whole_steps(size, grid) * grid / Fraction(positive("epsilon", epsilon))
        else:
            wide = Fraction(positive("scale", scale))
        object.__setattr__(self, "scale", wide)
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def epsilon(self) -> Fraction:
        """The largest privacy loss, exactly."""
        return whole_steps(self.sensitivity, self.step) * self.step / self.scale

    @property
    def loss(self) -> DiscreteLaplace:
        """The loss of discrete Laplace noise at the whole sensitivity, in steps.

        Let P_a be the noise moved by a, and d_a(x) = max over events of P_a - e^(x/scale) P_0. Threshold events give
        d_a(x) = 1 - min over t of (q^(a-t+1) + q^(t-x))/(1 + q) for |x| <= a, so d_a(x - b) <= d_(a+b)(x): take
        t + b for t. A coordinate moved by b <= a changes the loss by at most b/scale, so a vector moved by (a, b) has
        d(x) <= d_a(x - b) <= d_(a+b)(x) for x >= 0, and for x < 0 by symmetry. Join the coordinates, largest first.
        """
        return DiscreteLaplace(
            self.scale / self.step, sensitivity=whole_steps(self.sensitivity, self.step), relation=self.relation
        )

    def error(self, beta: Number = 0.05, *, dimension: int = 1) -> float:
        """Return the half-width exceeded by any of `dimension` coordinates with probability at most beta."""
        chance = tails.chance(beta) / whole("dimension", dimension)
        return up(tails.laplace(self.scale / self.step, chance) * self.step)

    def exact(self, values: object) -> int | Integers:
        """Return a real answer, or a vector of them, in whole steps: rounded to the nearest, and never refused.

        A single answer's declared sensitivity covers this rounding; a vector's has to be that of the rounded vector.
        """
        return on_grid(values, self.step)

    def release(self, exact: object) -> Released:
        """Return the noisy answer to an exact one in whole steps.

        Guarantee: `loss`, for answers whose sensitivity under the relation is as declared.
        """
        counted = integers(opened(exact))
        shape = None if isinstance(counted, int) else counted.shape
        return scaled(add(counted, laplace(self.scale / self.step, shape)), self.step)

    def releases(self, exact: object, count: int) -> Released:
        """Return `count` independent releases of one answer, for audits and simulations."""
        counted = integers(exact)
        noise = laplace(self.scale / self.step, (whole("count", count, least=0), *np.shape(counted)))
        return scaled(add(counted, noise), self.step)

    def chances(self, exact: object) -> Chances:
        """Return bounds on the probability of every output, except for far tails below 2**-72."""
        counted, noise = integers(exact), _chances.laplace(self.scale / self.step)
        if isinstance(counted, int):
            return _chances.alone(counted, noise, self.step)
        return _chances.joint(counted.ravel().tolist(), noise, self.step)


def trials() -> Trials:
    """Yield neighbours that are as far apart as the sensitivity allows."""
    yield Trial("count", Laplace(epsilon=1), 0, 1)
    yield Trial("sensitivity 3", Laplace(sensitivity=3, epsilon=2), 10, 7)
    yield Trial("scale below 1", Laplace(scale=Fraction(1, 3)), 0, 1)
    yield Trial("replaced row of a histogram", Laplace(sensitivity=2, epsilon=1, relation="replace"), (5, 3), (4, 4))
    yield Trial("grid of 0.1", Laplace(sensitivity=0.5, epsilon=1, step=0.1), 0, 5)
