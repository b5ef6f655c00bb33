"""Gaussian mechanism: integers plus exact discrete Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core import rational
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import calibration, tails
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.correlated_noise import CorrelatedGaussian
from discreet.mechanisms.parts.grid import Released, add, integers, on_grid, positive_as_written, scaled
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.noise.gaussian import gaussian
from discreet.noise.inversion import Integers


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Releases a number, or a vector of a declared `dimension`, with discrete Gaussian noise on every coordinate.

    `sensitivity` is the most that one unit can move the answer by, under `relation`, as a Euclidean distance: a count
    has 1, a histogram 1 under add_remove and the root of 2 under replace. Roots are stated by their square:
    `sensitivity_squared=2`. The noise is stated by `sigma`, by `rho` (zCDP), or by `epsilon` and `delta`; the last
    starts from the analytic calibration and takes a sigma whose *discrete* loss keeps them. `classical=True` takes
    sqrt(2 ln(1.25/delta)) times sensitivity/epsilon instead, which is proved for epsilon <= 1 only. Real answers live
    on a grid of `step`: sensitivity and sigma are in the answer's unit, `release` takes whole steps and returns the
    unit.

    Guarantee: sensitivity^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke 2020, Theorem 14); for a single number the
    exact loss of the discrete Gaussian, sensitivity counted in whole steps, rounded up. A vector's loss is stated as
    zCDP, because the discrete loss depends on how a move is spread over the coordinates.
    Error: `error(beta)` is exceeded by one coordinate with probability at most beta.
    """

    sensitivity_squared: Fraction
    sigma: Fraction
    step: Fraction
    dimension: int
    relation: Relation

    def __init__(
        self,
        *,
        sensitivity: rational.Number | None = None,
        sensitivity_squared: rational.Number | None = None,
        sigma: Number | None = None,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        classical: bool = False,
        step: rational.Number = 1,
        dimension: int = 1,
        relation: Relation = "add_remove",
    ) -> None:
        squared = _squared(sensitivity, sensitivity_squared)
        grid = positive_as_written("step", step)
        object.__setattr__(self, "sensitivity_squared", squared)
        object.__setattr__(self, "step", grid)
        object.__setattr__(self, "dimension", whole("dimension", dimension))
        object.__setattr__(self, "relation", check_relation(relation))
        given = [name for name, value in (("sigma", sigma), ("rho", rho), ("epsilon", epsilon)) if value is not None]
        if len(given) != 1 or (epsilon is None) != (delta is None):
            fix = "give sigma=, or rho=, or epsilon= and delta="
            raise BadParameter("sigma, rho, epsilon", given, why="the noise is stated in exactly one way", fix=fix)
        if sigma is not None:
            wide = Fraction(positive("sigma", sigma))
        elif rho is not None:
            wide = calibration.by_rho(self._moved, rho) * grid
        else:
            assert epsilon is not None
            assert delta is not None
            wide = grid * (
                calibration.classical(self._moved, epsilon, delta)
                if classical
                else calibration.analytic(self._moved, epsilon, delta, single=self.dimension == 1)
            )
        object.__setattr__(self, "sigma", wide)
        if classical:
            calibration.check_classical(self.loss, epsilon, delta)

    @classmethod
    def correlated(
        cls,
        covariance: Sequence[Sequence[Number]],
        *,
        moves: Sequence[Sequence[int]],
        relation: Relation = "add_remove",
    ) -> CorrelatedGaussian:
        """Return the mechanism whose noise has a given covariance, for people who can move the answer by `moves`.

        Guarantee: that of `CorrelatedGaussian`.
        """
        return CorrelatedGaussian(covariance=covariance, moves=moves, relation=relation)

    @property
    def rho(self) -> Fraction:
        """The zCDP parameter, exactly."""
        return self._moved / (2 * (self.sigma / self.step) ** 2)

    @property
    def loss(self) -> PrivacyLoss:
        """The discrete Gaussian's own loss for one number; for a vector, its zCDP."""
        if self.dimension > 1:
            return Zcdp(self.rho, relation=self.relation)
        return DiscreteGaussian(
            self.sigma / self.step, sensitivity=math.isqrt(int(self._moved)), relation=self.relation
        )

    def error(self, beta: Number = 0.05, *, dimension: int = 1) -> float:
        """Return a half-width exceeded by any of `dimension` coordinates with probability at most beta."""
        chance = tails.chance(beta) / whole("dimension", dimension)
        return up(tails.gaussian(self.sigma / self.step, chance) * self.step)

    def exact(self, values: object) -> int | Integers:
        """Return a real answer, or a vector of them, in whole steps: rounded to the nearest, and never refused.

        A single answer's declared sensitivity covers this rounding; a vector's has to be that of the rounded vector.
        """
        return on_grid(values, self.step)

    def release(self, exact: object) -> Released:
        """Return the noisy answer to an exact one in whole steps.

        Guarantee: `loss`, for answers whose sensitivity under the relation is as declared.
        """
        counted = self._checked(opened(exact))
        shape = None if isinstance(counted, int) else counted.shape
        return scaled(add(counted, gaussian(self.sigma / self.step, shape)), self.step)

    def releases(self, exact: object, count: int) -> Released:
        """Return `count` independent releases of one answer, for audits and simulations."""
        counted = self._checked(exact)
        noise = gaussian(self.sigma / self.step, (whole("count", count, least=0), *np.shape(counted)))
        return scaled(add(counted, noise), self.step)

    def chances(self, exact: object) -> Chances:
        """Return bounds on the probability of every output, except for far tails below 2**-72."""
        counted, noise = self._checked(exact), _chances.gaussian(self.sigma / self.step)
        if isinstance(counted, int):
            return _chances.alone(counted, noise, self.step)
        return _chances.joint(counted.ravel().tolist(), noise, self.step)

    @property
    def _moved(self) -> Fraction:
        """The squared distance, in steps, that one unit can move the answer by; of a single number, a square."""
        moved = self.sensitivity_squared / self.step**2
        return moved if self.dimension > 1 else Fraction(_root_up(moved) ** 2)

    def _checked(self, exact: object) -> int | Integers:
        counted = integers(exact)
        size = 1 if isinstance(counted, int) else counted.size
        if size > self.dimension:
            why = f"the loss was declared for {self.dimension} coordinate{'s' * (self.dimension > 1)}"
            raise BadParameter("exact", f"{size} coordinates", why=why, fix=f"declare dimension={size}")
        return counted


def _squared(sensitivity: rational.Number | None, squared: rational.Number | None) -> Fraction:
    if sensitivity is not None and squared is not None:
        why = "the sensitivity is stated once, as itself or as its square"
        raise BadParameter(
            "sensitivity_squared", squared, why=why, fix="leave sensitivity= or sensitivity_squared= out"
        )
    if squared is not None:
        return positive_as_written("sensitivity_squared", squared)
    return positive_as_written("sensitivity", 1 if sensitivity is None else sensitivity) ** 2


def _root_up(value: Fraction) -> int:
    """Return the least integer whose square is at least the value."""
    return math.isqrt(math.ceil(value) - 1) + 1


def trials() -> Trials:
    """Yield neighbours that are as far apart as the sensitivity allows."""
    yield Trial("epsilon 1, delta 1e-5", Gaussian(epsilon=1, delta=1e-5), 0, 1)
    yield Trial("rho 1/2", Gaussian(rho=Fraction(1, 2)), 3, 2)
    yield Trial("small sigma", Gaussian(sigma=Fraction(1, 2)), 0, 1)
    replaced = Gaussian(sensitivity_squared=2, sigma=2, dimension=2, relation="replace")
    yield Trial("replaced row of a histogram", replaced, (5, 3), (4, 4))
    yield Trial("grid of 0.1", Gaussian(sensitivity=0.5, rho=0.5, step=0.1), 0, 5)
    skewed = Gaussian.correlated([[4, 2], [2, 3]], moves=[(1, 0), (0, 1)])
    yield Trial("correlated", skewed, (0, 0), (0, 1))
