"""Rounds: choose the marginal that the model so far gets most wrong, measure it, fit again, and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from discreet.core.exact import Exact, together
from discreet.publish.allowance import Spending
from discreet.publish.code_table import Counts, Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import FINE, MOST_ROWS, listed, wrong
from discreet.publish.method import Say
from discreet.publish.model.batch import MarginalBatch, Totals
from discreet.publish.model.belief import Table
from discreet.publish.model.fit import Fit, NoisyMarginal, fit
from discreet.publish.model.junction import Junction, cells_with
from discreet.publish.model.marginal import ModelMarginals

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
