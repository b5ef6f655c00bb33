"""Structural zeros: combinations of codes that no row can have, kept out of a model and of every sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built
from discreet.publish.model.fit import NoisyMarginal, fit
from discreet.publish.model.junction import Junction

# A table of what is forbidden has at most so many cells, and a model that knows of it at most so many in all.
MOST_CELLS = 1 << 20
MOST_MODEL_CELLS = 1 << 22

# Leaves no chance: its exponential is zero, and yet it is a number to calculate with.
_NEVER = -1e6
_STEPS = 1000
_FIX = "write [{'age': range(0, 12), 'married': True}]: no row has all of these"


@dataclass(frozen=True, slots=True, eq=False)
class Zero:
    """Attributes, and which cells of their table are always empty."""

    clique: Clique
    never: NDArray[np.bool_]


def zeros_of(domain: Domain, zeros: Iterable[Mapping[str, Sequence[int]]]) -> tuple[Zero, ...]:
    """Read combinations of codes by name; those of the same attributes are put together."""
    found: dict[Clique, NDArray[np.bool_]] = {}
    for zero in zeros:
        if not isinstance(zero, Mapping) or not zero:
            raise BadParameter("zeros", zero, why="it names no column", fix=_FIX)
        clique = domain.clique(zero)
        if domain.cells(clique) > MOST_CELLS:
            why = f"their table has {domain.cells(clique):,} cells, and {MOST_CELLS:,} are the most"
            raise BadParameter("zeros", [*zero], why=why, fix="use fewer columns, or fewer bins")
        never = np.ones(domain.shape(clique), bool)
        for axis, place in enumerate(clique):
            picked = _picked(domain, domain.names[place], zero[domain.names[place]])
            never &= picked.reshape([-1 if other == axis else 1 for other in range(len(clique))])
        found[clique] = found.get(clique, np.zeros_like(never)) | never
    for clique, never in found.items():
        if never.all():
            raise BadParameter("zeros", domain.named(clique), why="they leave no row at all", fix=_FIX)
    return tuple(Zero(clique, never) for clique, never in found.items())


def spoken_of(zeros: Iterable[Zero]) -> frozenset[int]:
    """Return the attributes that zeros speak of; their codes are to be kept apart, or the zeros would be lost."""
    return frozenset(place for zero in zeros for place in zero.clique)


def constrained(built: Built, zeros: Sequence[Zero]) -> Built:
    """Fit a model again to what was measured, with no chance left to what cannot be.

    A histogram that was chosen and not fitted loses such cells. A model that would grow too large, or is of another
    kind, stays as it is; then samples alone are kept free of such rows.
    """
    if not zeros:
        return built
    tree = built.model.tree
    forbidden = [NoisyMarginal(zero.clique, np.where(_grouped(zero, built.merged), _NEVER, 0.0), 1.0) for zero in zeros]
    larger = Junction.of(tree.sizes, [*tree.cliques, *(zero.clique for zero in zeros)])
    if larger.cells > MOST_MODEL_CELLS:
        return built
    if built.model.potentials:  # it was fitted to what was measured, and can be again
        model = fit(larger, built.measured, steps=_STEPS, forbidden=forbidden, start=built.model)
        return replace(built, model=model)
    if len(tree.cliques) > 1:
        return built
    table = built.model.tables[0]
    for each in forbidden:
        shape = [size if place in each.clique else 1 for place, size in zip(tree.cliques[0], table.shape, strict=True)]
        table = table * np.exp(each.values.reshape(shape))
    return replace(built, model=replace(built.model, tables=(table / table.sum(),))) if table.any() else built


def is_forbidden(zeros: Iterable[Zero], columns: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Say for each row of codes whether it cannot be."""
    found = np.zeros(len(columns[0]), bool)
    for zero in zeros:
        found |= zero.never[tuple(columns[place] for place in zero.clique)]
    return found


def _grouped(zero: Zero, merged: Merged) -> NDArray[np.bool_]:
    """Return which cells of groups are empty for certain: those all of whose codes are."""
    never = zero.never
    for axis, place in enumerate(zero.clique):
        group = merged.groups[place]
        parts = [never.take(np.flatnonzero(group == each), axis=axis).all(axis=axis) for each in range(group.max() + 1)]
        never = np.stack(parts, axis=axis)
    return never


def _picked(domain: Domain, name: str, codes: object) -> NDArray[np.bool_]:
    (place,) = domain.clique(name)
    picked = np.zeros(domain.sizes[place], bool)
    for code in codes if isinstance(codes, Iterable) else [codes]:  # one by one: a range may be of any length
        if not isinstance(code, int | np.integer) or not 0 <= code < domain.sizes[place]:
            why = f"the codes of {name!r} are 0 to {domain.sizes[place] - 1}"
            raise BadParameter("zeros", {name: code}, why=why, fix="use some of them")
        picked[code] = True
    if not picked.any():
        raise BadParameter("zeros", {name: codes}, why="it names no value", fix=_FIX)
    return picked
