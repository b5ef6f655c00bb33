"""Person gradients: what each person's rows say of a model's errors, clipped and rounded person by person, added up.

A row's gradient is its residual, what the model gets wrong about it, times what the model sees of it. The residual is
clipped and rounded *towards zero* to a grid; what the model sees is a row of whole numbers of declared length
(`discreet.plan.row_design`). So the sum is an exact integer, and nobody moves it further than the two lengths' product.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.doors import kernel
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.engines.engine import EngineFailed
from discreet.plan.batches import Batch
from discreet.plan.row_design import Codes, Matrix, RowDesign

Objective = Literal["logistic", "softmax", "hinge", "squared"]
Norm = Literal["l1", "l2"]
Floats = NDArray[np.float64]

# A residual at the clip is so many steps: what rounding towards zero loses is below the noise of any round.
STEPS = 1 << 12
# Norms in floats are taken to be off by so much: far more than a sum of a million squares can be.
_MARGIN = 2.0**-28


@dataclass(frozen=True, slots=True)
class Residuals:
    """How wrong a model is about a row: which objective, for how many values of the target, and clipped where.

    `clip` bounds a row's residuals, and those of all rows of a person together, by `norm`. Of a squared objective the
    target is a number of declared range, scaled to -1 ... 1.
    """

    objective: Objective
    values: int
    clip: float
    norm: Norm

    def __post_init__(self) -> None:
        if self.values < 2:
            why = "a target that has one value has nothing to learn"
            raise BadParameter("target", self.values, why=why, fix="declare all its classes, or its whole range")

    @property
    def outputs(self) -> int:
        """How many scores a row has: one for each class, or one in all where two classes or a number need no more."""
        if self.objective == "softmax" or (self.objective == "hinge" and self.values > 2):
            return self.values
        return 1

    def of(self, scores: Floats, target: Codes) -> Floats:
        """Return the residuals of rows, each from its own scores and target; of a row without a target, 0."""
        here = (target >= 0) & (target < self.values)
        if self.objective == "squared":
            wanted = 2 * target[:, None] / (self.values - 1) - 1
            found = wanted - scores
        elif self.outputs == 1:
            found = self._binary(scores, target[:, None] == 1)
        else:
            found = self._several(scores, target[:, None] == np.arange(self.values))
        return np.where(here[:, None], found, 0.0)

    def _binary(self, scores: Floats, is_second: NDArray[np.bool_]) -> Floats:
        if self.objective == "hinge":
            side = np.where(is_second, 1.0, -1.0)
            return side * np.maximum(0.0, 1 - side * scores)
        return is_second - 1 / (1 + np.exp(-np.clip(scores, -500, 500)))

    def _several(self, scores: Floats, is_class: NDArray[np.bool_]) -> Floats:
        if self.objective == "hinge":
            return self._binary(scores, is_class)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        found: Floats = is_class - powers / powers.sum(axis=1, keepdims=True)
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignRows:
    """The rows of a batch as a model sees them, with targets and whose each is: as secret as the batch."""

    matrix: Matrix
    target: Codes
    person: Codes
    people: int

    def __repr__(self) -> str:
        return "DesignRows(hidden)"


@kernel
def design_rows(batch: Batch, design: RowDesign) -> DesignRows:
    """Return rows as a model sees them, each from its own codes; the last column of codes is the target."""
    try:
        return DesignRows(design.matrix(batch.codes[:, :-1]), batch.codes[:, -1], batch.person, batch.people)
    except Exception:
        raise EngineFailed from None


@kernel
def people_count(rows: DesignRows) -> tuple[int, ...]:
    """Return how many people there are; a person moves it by one."""
    return (rows.people,)


@kernel
def gradient_sum(rows: DesignRows, residuals: Residuals, weights: Floats, design: RowDesign) -> tuple[int, ...]:
    """Return the sum over people of their clipped gradients, in steps of clip/STEPS times the design's unit.

    Guarantee: a person moves it by at most STEPS times the length of a row, in the norm of the residuals. Proof. The
    residuals r of a row are whole numbers, and those of a person's rows have norms that add up to at most STEPS; the
    gradient of a row is the product x r', whose norm is that of x times that of r; and norms of sums are at most the
    sums of norms. All sums are whole numbers below 2^53, which floats hold exactly in any order.
    """
    try:
        with np.errstate(all="ignore"):  # a warning would tell that somebody's numbers are odd
            wrong = residuals.of(rows.matrix @ weights / design.unit, rows.target)
            whole = clipped_residuals(wrong / residuals.clip * STEPS, rows.person, rows.people, residuals.norm)
            found = rows.matrix.T @ whole
    except Exception:
        raise EngineFailed from None
    if found.shape != (design.width, residuals.outputs):
        raise EngineFailed
    return tuple(map(int, found.ravel().tolist()))


def clipped_residuals(wrong: Floats, person: Codes, people: int, norm: Norm) -> Floats:
    """Return whole numbers: of each row at most STEPS by the norm, and of all rows of a person together at most that.

    They are rounded towards zero, which makes no norm larger. What is not a number counts as 0.
    """
    found = np.nan_to_num(wrong, nan=0.0, posinf=2.0**52, neginf=-(2.0**52))
    found = np.trunc(_shorter(found, _norms(found, norm), norm))
    theirs: Floats = np.bincount(person, weights=_norms(found, norm), minlength=people)[person].astype(np.float64)
    return np.trunc(_shorter(found, theirs, norm))


def _norms(rows: Floats, norm: Norm) -> Floats:
    found: Floats = np.abs(rows).sum(axis=1) if norm == "l1" else np.sqrt(np.square(rows).sum(axis=1))
    return found


def _shorter(rows: Floats, norms: Floats, norm: Norm) -> Floats:
    """Scale rows whose norms are beyond STEPS down to a little below it.

    A sum of sizes of whole numbers is exact, and one number is its own size; of a root the margin is taken off first.
    """
    exact: Any = norm == "l1" or rows.shape[1] == 1
    beyond = norms > (STEPS if exact else STEPS * (1 - _MARGIN))
    factor = np.where(beyond, STEPS * (1 - 2 * _MARGIN) / np.maximum(norms, 1.0), 1.0)
    return rows * factor[:, None]
