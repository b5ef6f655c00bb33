"""Rounds: choose the marginal that the model so far gets most wrong, measure it, fit again, and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Exact, together
from discreet.publish.allowance import Spending
from discreet.publish.code_table import Counts, Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import FINE, MOST_ROWS, listed, wrong
from discreet.publish.method import Say
from discreet.publish.model.fit import Fit, NoisyMarginal, fit
from discreet.publish.model.junction import Junction, Table, cells_with
from discreet.publish.model.marginal import ModelMarginals

# A batch has at most so many numbers, unless one marginal alone has more: eight megabytes of them.
MOST_NUMBERS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class MarginalBatch:
    """Sets of attributes whose marginals have the same shape, and the codes of every cell of it."""

    places: NDArray[np.int64]  # which attributes, a row for each set
    shape: tuple[int, ...]
    codes: NDArray[np.int64]  # a row for each cell

    @classmethod
    def of(cls, sizes: Sequence[int], cliques: Iterable[Clique]) -> Iterator[MarginalBatch]:
        """Put sets into batches, in the order in which their shapes first appear; none has too many numbers."""
        alike: dict[tuple[int, ...], list[Clique]] = {}
        for clique in cliques:
            alike.setdefault(tuple(sizes[place] for place in clique), []).append(clique)
        for shape, members in alike.items():
            codes = np.indices(shape).reshape(len(shape), math.prod(shape)).T
            places = np.array(members, np.int64).reshape(len(members), len(shape))
            many = max(1, MOST_NUMBERS // len(codes))
            for start in range(0, len(places), many):
                yield cls(places[start : start + many], shape, codes)

    @property
    def cliques(self) -> list[Clique]:
        """The sets, in order."""
        return [tuple(row) for row in self.places.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """The tables of a model of separate parts, added up so that code 0 of an attribute stands for all of its codes."""

    tables: tuple[Table, ...]
    steps: NDArray[np.int64]  # for each part, how far apart the codes of each attribute lie; 0 for those of others

    @classmethod
    def of(cls, model: Fit) -> Totals:
        """Add up the tables of a model, whose cliques share no attribute."""
        tree = model.tree
        assert not any(tree.separators), "parts that share nothing"
        steps = np.zeros((len(tree.cliques), len(tree.sizes)), np.int64)
        found = []
        for number, (clique, table) in enumerate(zip(tree.cliques, model.tables, strict=True)):
            summed = table.copy()
            step = 1
            for axis in range(len(clique) - 1, -1, -1):
                steps[number, clique[axis]] = step
                step *= summed.shape[axis]
                turned = np.moveaxis(summed, axis, 0)
                turned[0] = turned.sum(axis=0)
            found.append(summed.ravel())
        return cls(tuple(found), steps)

    def marginals(self, batch: MarginalBatch) -> Table:
        """Return the marginals of a batch, as shares of one: a row for each, with its cells in order."""
        found = np.ones((len(batch.places), len(batch.codes)))
        for table, steps in zip(self.tables, self.steps, strict=True):
            touched = steps[batch.places].any(axis=1)
            if touched.any():
                found[touched] *= table[steps[batch.places[touched]] @ batch.codes.T]
        found = found.reshape(-1, *batch.shape)
        for axis in range(1, found.ndim):
            turned = np.moveaxis(found, axis, 0)
            turned[0] -= turned[1:].sum(axis=0)
        return found.reshape(len(batch.places), len(batch.codes))


# How much of a round chooses; the rest of it measures.
CHOOSING = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Style:
    """How rounds go: the first price of one, whether later ones grow dearer, and what the model is made of.

    `whole` makes one table of each connected part of what was measured; otherwise a junction tree is made, whose room
    grows with what was spent. `steps` are those of a fit after each round.
    """

    price: Fraction
    grows: bool
    whole: bool
    most_cells: int
    steps: int
    choosing: Fraction = CHOOSING

    def tree(self, domain: Domain, cliques: Sequence[Clique]) -> Junction:
        """Return the tree of a model for what was measured."""
        return Junction.of(domain.sizes, connected(cliques) if self.whole else cliques)

    def fitting(
        self, domain: Domain, known: Sequence[Clique], candidates: Iterable[Clique], room: float
    ) -> list[Clique]:
        """Return the candidates with which the model would have no more numbers than there is room for."""
        there = {*known}
        grown = _grown(domain, known) if self.whole else lambda part: cells_with(domain.sizes, [*known, part])
        return [part for part in candidates if part in there or len(part) == 1 or grown(part) <= room]


def rounds(
    measure: Measure,
    domain: Domain,
    weights: Mapping[Clique, int],
    purse: Spending,
    measured: Sequence[NoisyMarginal],
    style: Style,
    say: Say,
) -> tuple[Fit, list[NoisyMarginal]]:
    """Spend what is left on rounds; returns the model and all that was measured.

    Guarantee: what the purse has left, for candidates and weights that are public.
    """
    known, price = [*measured], style.price
    say("count the workload")
    exact = dict(zip(weights, measure([*weights]), strict=True))
    model = fit(style.tree(domain, [each.clique for each in known]), known, steps=style.steps)
    turn = 0
    while purse.left > 0:
        turn += 1
        if purse.left < (2 if style.grows else Fraction(3, 2)) * price:
            price = purse.left
        say(f"round {turn}")
        taken = _chosen(model, domain, exact, weights, known, purse, price, style)
        noise = price * (1 - style.choosing)
        known.append(purse.measure(taken, exact[taken], min(noise, purse.left)))
        before = ModelMarginals.of(model).table(taken) * model.total
        model = fit(style.tree(domain, [each.clique for each in known]), known, steps=style.steps, start=model)
        after = ModelMarginals.of(model).table(taken) * model.total
        learned = float(abs(after - before).sum())
        expected = math.sqrt(2 / math.pi) * purse.allowance.scale(noise) * domain.cells(taken)
        # A round that taught less than its noise: the next ones are bought with half of that noise.
        if style.grows and learned <= expected and purse.left > 0:
            price = min(price * (4 if purse.allowance.currency == "rho" else 2), purse.left)
    return model, known


def _chosen(
    model: Fit,
    domain: Domain,
    exact: Mapping[Clique, Exact[Counts]],
    weights: Mapping[Clique, int],
    known: Sequence[NoisyMarginal],
    purse: Spending,
    price: Fraction,
    style: Style,
) -> Clique:
    """Choose a marginal that the model gets wrong by more than its noise would be, and that there is room for."""
    spent = float((purse.spent + price) / purse.allowance.amount)
    room = style.most_cells if style.whole else style.most_cells * spent
    fitting = style.fitting(domain, [each.clique for each in known], weights, room)
    noise = math.sqrt(2 / math.pi) * purse.allowance.scale(price * (1 - style.choosing))
    cliques: list[Clique] = []
    scores: list[Exact[Counts]] = []
    for batch, expected in _expected(model, domain, fitting):
        cells = len(batch.codes)
        counted = together([exact[part] for part in batch.cliques])
        allowed = round(FINE * min(noise * cells, MOST_ROWS))
        cliques += batch.cliques
        heavy = [weights[part] for part in batch.cliques]
        scores.append(counted.map(wrong, expected * model.total, allowed, heavy))
    most = max(weights[part] for part in fitting)
    return cliques[purse.choose(together(scores).map(listed), FINE * most, price * style.choosing)]


def _expected(model: Fit, domain: Domain, cliques: Iterable[Clique]) -> Iterator[tuple[MarginalBatch, Table]]:
    """Yield marginals of a model in batches, as shares of one; those of separate parts are worked out together."""
    totals = None if any(model.tree.separators) else Totals.of(model)
    marginals = ModelMarginals.of(model)
    for batch in MarginalBatch.of(domain.sizes, cliques):
        if totals is not None:
            yield batch, totals.marginals(batch)
        else:
            yield batch, np.stack([marginals.table(clique).ravel() for clique in batch.cliques])


def _grown(domain: Domain, known: Iterable[Clique]) -> Callable[[Clique], int]:
    """Return how many cells the connected parts would have if a set of attributes were measured too."""
    parts = connected(known)
    cells = [domain.cells(part) for part in parts]
    holds = {place: number for number, part in enumerate(parts) for place in part}

    @cache
    def joined(touched: frozenset[int]) -> int:
        one = math.prod(cells[number] for number in touched)
        return sum(cells) - sum(cells[number] for number in touched) + one

    return lambda clique: joined(frozenset(holds[place] for place in clique))


def connected(cliques: Iterable[Clique]) -> list[Clique]:
    """Return the connected parts of sets of attributes."""
    found: list[set[int]] = []
    for clique in cliques:
        apart = [part for part in found if not part & {*clique}]
        found = [*apart, {*clique}.union(*(part for part in found if part & {*clique}))]
    return [tuple(sorted(part)) for part in found]
