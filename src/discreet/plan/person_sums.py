"""Person sums: what a function makes of each person's rows, clipped and rounded person by person, and added up.

It is the only way from `Exact` batches of rows to an exact number that a mechanism may take: whatever the function
returns, nobody moves the sum by more than the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Concatenate, Generic, Literal, ParamSpec

import numpy as np
from numpy.typing import NDArray

from discreet.core.doors import kernel
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact, together
from discreet.core.value import dataclass
from discreet.engines.engine import EngineFailed
from discreet.plan.batches import Batch

Public = ParamSpec("Public")
Vectors = NDArray[np.generic]

# A bound is below this, and a vector no longer: so many people's sums fit 62 bits, and floats tell enough of a norm.
MOST_BOUND = 1 << 36
MOST_WIDTH = 1 << 20
# Norms in floats are taken to be off by so much: far more than a sum of MOST_WIDTH squares can be.
_MARGIN = 2.0**-28
_LARGE = 1 << 62


@dataclass(frozen=True, slots=True)
class PersonBound:
    """The most that a person's vector of `width` integers may be, by one norm."""

    norm: Literal["l1", "l2", "linf"]
    most: int
    width: int

    def __post_init__(self) -> None:
        if self.norm not in ("l1", "l2", "linf"):
            raise BadParameter("norm", self.norm, why="there is no such norm", fix="use l1, l2 or linf")
        if not 1 <= self.most < MOST_BOUND:
            why = "a person's part is an integer, and all of them have to fit a sum"
            raise BadParameter("most", self.most, why=why, fix=f"use a number from 1 to {MOST_BOUND - 1:,}")
        if not 1 <= self.width <= MOST_WIDTH:
            why = "a vector has at least one number, and few enough to add up"
            raise BadParameter("width", self.width, why=why, fix=f"use a number from 1 to {MOST_WIDTH:,}")


@dataclass(frozen=True, slots=True)
class PersonFunction(Generic[Public]):
    """A function from a batch to a vector for each of its people, made by `person_function` alone: so all are listed.

    What it returns for a person follows from that person's rows and hash, and from what is public. It keeps nothing.
    """

    function: Callable[Concatenate[Batch, Public], Vectors]


def person_function(function: Callable[Concatenate[Batch, Public], Vectors]) -> PersonFunction[Public]:
    """Let a function of a module see batches, as a decorator: `tests/core/test_exact.py` lists it with its reason."""
    return PersonFunction(function)


def person_sums(
    batches: Iterable[Exact[Batch]],
    function: PersonFunction[Public],
    bound: PersonBound,
    *public: Public.args,
    **named: Public.kwargs,
) -> Exact[tuple[int, ...]]:
    """Return the sum over all people of what the function makes of their rows, a vector of integers.

    Guarantee: adding or removing a person changes the sum by a vector whose norm is at most `bound.most`, where the
    function keeps its promise to look at one person at a time; each part is clipped here, whatever it was. Whatever
    goes wrong in the function is the one failure of an engine, in one text.
    """
    total: Exact[tuple[int, ...]] = Exact((0,) * bound.width)
    for each in batches:
        part = each.map(clipped_sum, lambda batch: function.function(batch, *public, **named), bound)
        total = together((total, part)).map(added)
    return total


@kernel
def clipped_sum(batch: Batch, function: Callable[[Batch], Vectors], bound: PersonBound) -> tuple[int, ...]:
    """Return the sum of the vectors of a batch's people, each clipped to the bound; a person moves it by no more."""
    try:
        with np.errstate(all="ignore"):  # a warning would tell that somebody's numbers are odd
            vectors = np.asarray(function(batch))
            clipped = clip(vectors, bound)
    except Exception:
        raise EngineFailed from None
    if clipped.shape != (batch.people, bound.width):
        raise EngineFailed
    return tuple(map(int, clipped.sum(axis=0, dtype=np.int64)))


@kernel
def added(parts: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the sum of sums over different people; a person is in one of them."""
    return tuple(map(sum, zip(*parts, strict=True)))


def clip(vectors: Vectors, bound: PersonBound) -> NDArray[np.int64]:
    """Return integer vectors whose norms are at most the bound: the same where they were, shorter where they were not.

    What is not a number counts as 0. Floats are rounded towards 0, which makes no norm larger.
    """
    whole = _whole(vectors)
    if bound.norm == "linf":
        return np.clip(whole, -bound.most, bound.most)
    beyond = _beyond(whole, bound)
    norms = _norms(whole, bound)
    nearly, surely = (
        np.trunc(whole * (bound.most * scale / np.maximum(norms, 1.0))[:, None]).astype(np.int64)
        for scale in (1 + _MARGIN, 1 - 2 * _MARGIN)
    )
    shorter = np.where(_beyond(nearly, bound)[:, None], surely, nearly)
    return np.where(beyond[:, None], shorter, whole)


def _norms(whole: NDArray[np.int64], bound: PersonBound) -> NDArray[np.float64]:
    """Return norms in floats, off by far less than the margin."""
    floats = np.abs(whole).astype(np.float64)
    found: NDArray[np.float64] = floats.sum(axis=1) if bound.norm == "l1" else np.sqrt(np.square(floats).sum(axis=1))
    return found


def _beyond(whole: NDArray[np.int64], bound: PersonBound) -> NDArray[np.bool_]:
    """Say which norms are larger than the bound; where floats do not tell, integers do."""
    norms = _norms(whole, bound)
    found: NDArray[np.bool_] = norms > bound.most
    near = np.flatnonzero(np.abs(norms - bound.most) <= bound.most * _MARGIN)
    power = 1 if bound.norm == "l1" else 2
    # Near the bound its power is that of the norm, nearly: 62 bits have room for both.
    exact = whole[near] if bound.most**power < _LARGE else whole[near].astype(object)
    found[near] = (np.abs(exact) ** power).sum(axis=1) > bound.most**power
    return found


def _whole(vectors: Vectors) -> NDArray[np.int64]:
    """Return integers; of floats the whole part, of what is beyond 2^52 in size the end of that range."""
    if vectors.dtype.kind in "iu":
        return np.clip(vectors, -(1 << 52), 1 << 52).astype(np.int64)
    if vectors.dtype.kind != "f":
        raise EngineFailed
    most = math.ldexp(1.0, 52)
    found: NDArray[np.int64] = np.trunc(np.clip(np.nan_to_num(vectors, nan=0.0), -most, most)).astype(np.int64)
    return found
