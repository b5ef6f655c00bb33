"""MST: all single attributes, a spanning tree of the most correlated pairs, and the model over both.

After McKenna, Miklau and Sheldon (2021), who spend a third of the budget on each of three things: measuring single
attributes, choosing pairs, measuring them. Here most of it measures pairs, the larger ones more exactly. And of pairs
that are almost equally correlated, the one that keeps other attributes near one another is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.core.exact import together
from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import FINE, WEIGHT, distance, weighed
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.model.fit import NoisyMarginal, fit
from discreet.publish.model.junction import Junction, Table
from discreet.publish.model.marginal import ModelMarginals

# By how much less a pair counts for every step that lies, on average, between its ends and the attributes that they are
# joined to already: what two attributes have in common gets lost on the way from one to the other.
FADING = 0.1

# Cells of pairs that are counted at a time.
BATCH = 1 << 25

# What part of the budget measures single attributes, and what part chooses pairs; the rest measures the pairs.
SINGLES, CHOOSING = Fraction(3, 10), Fraction(1, 4)


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: MarginalWorkload, say: Say) -> Built:
    """Fit a tree of pairs, whatever the workload."""
    purse = Spending(allowance)
    ones = [(place,) for place in range(len(domain))]
    say("measure single attributes")
    share = SINGLES * allowance.amount / len(ones)
    singles = [purse.measure(one, exact, share) for one, exact in zip(ones, measure(ones), strict=True)]
    merged = Merged.of(domain, singles, apart=workload.apart)
    # So many pairs at a time as fit in memory: each is compared and forgotten.
    pairs = [*domain.batches(combinations(range(len(domain)), 2), BATCH)]
    domain, measure = merged.smaller, merged.measure(measure)
    measured = [merged.noisy(one) for one in singles]
    chosen = _chosen(measure, domain, purse, CHOOSING * allowance.amount, measured, pairs, say) if pairs else []
    say("measure pairs")
    for pair, exact, part in zip(chosen, measure(chosen), shared(purse.left, domain, chosen), strict=True):
        measured.append(purse.measure(pair, exact, part))
    say("fit the model")
    return Built(fit(Junction.of(domain.sizes, chosen), measured, steps=1000), merged, tuple(measured))


def _chosen(
    measure: Measure,
    domain: Domain,
    purse: Spending,
    part: Fraction,
    measured: list[NoisyMarginal],
    batches: Sequence[Sequence[Clique]],
    say: Say,
) -> list[Clique]:
    """Choose a spanning tree, edge by edge, each by how far its pair is from what single attributes predict."""
    alone = ModelMarginals.of(fit(Junction.of(domain.sizes, ()), measured, steps=200))
    say("choose pairs")
    scores = {
        pair: exact.map(distance, alone.table(pair) * alone.model.total)
        for batch in batches
        for pair, exact in zip(batch, measure(batch), strict=True)
    }
    tree = Tree.of(len(domain))
    for _ in range(len(domain) - 1):
        open_ = [pair for pair in scores if not tree.joins(pair)]
        found = together([scores[pair] for pair in open_]).map(weighed, [tree.weight(pair) for pair in open_])
        tree = tree.grown(open_[purse.choose(found, FINE, part / (len(domain) - 1))])
    return [*tree.chosen]


@dataclass(frozen=True, slots=True)
class Tree:
    """Pairs chosen so far, and the steps between every two attributes that they join: infinitely many if they do not.

    It follows from choices that were paid for.
    """

    chosen: tuple[Clique, ...]
    steps: Table

    @classmethod
    def of(cls, attributes: int) -> Tree:
        """Return the one without pairs."""
        return cls((), np.where(np.eye(attributes, dtype=bool), 0.0, np.inf))

    def joins(self, pair: Clique) -> bool:
        """Say whether there is a way from one attribute to the other."""
        return bool(np.isfinite(self.steps[pair]))

    def weight(self, pair: Clique) -> int:
        """Return what the score of a pair that would join two parts counts, less where its ends lie at their edges.

        Guarantee: at most WEIGHT, so scores which are at most d apart stay so (`weighed`).
        """
        far = sum(float(steps[np.isfinite(steps)].mean()) for steps in self.steps[[*pair]])
        return round((1 - FADING) ** far * WEIGHT)

    def grown(self, pair: Clique) -> Tree:
        """Return the tree with one more pair."""
        one, other = self.steps[[*pair]]
        across = one[:, None] + 1 + other
        return Tree((*self.chosen, pair), np.minimum(self.steps, np.minimum(across, across.T)))


def shared(amount: Fraction, domain: Domain, cliques: Sequence[Clique]) -> list[Fraction]:
    """Split an amount over marginals so that the sum of the noise in all their cells is least.

    A marginal of n cells that gets a part p has noise in proportion to n / sqrt(p), so p goes with n^(2/3).
    """
    weights = [Fraction(round(domain.cells(clique) ** (2 / 3) * 1000)) for clique in cliques]
    return [amount * weight / sum(weights) for weight in weights]
