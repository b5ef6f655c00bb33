"""Tables: every marginal of the workload measured with noise, and one histogram of all attributes fitted to them."""

from __future__ import annotations

import math

from discreet.core.errors import Refusal
from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Measure
from discreet.publish.domain import Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.methods.mst import shared
from discreet.publish.model.fit import fit
from discreet.publish.model.junction import Junction

# The histogram of all attributes is held in memory, and added up once for each marginal at every step.
MOST_CELLS = 1 << 21


class TooLarge(Refusal):
    """A domain whose histogram would not fit."""


def check(domain: Domain) -> None:
    """Refuse a domain whose histogram would not fit."""
    cells = math.prod(domain.sizes)
    if cells > MOST_CELLS:
        why = f"a histogram of all attributes would have {cells:.3g} cells, and {MOST_CELLS:,} are the most"
        raise TooLarge("tables", why=why, fix='use fewer attributes or bins, or method="aim"', value=cells)


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: MarginalWorkload, say: Say) -> Built:
    """Measure the whole workload at once, and fit."""
    check(domain)
    purse, cliques = Spending(allowance), [*workload.weights]
    say("measure the workload")
    parts = shared(allowance.amount, domain, cliques)
    found = zip(cliques, measure(cliques), parts, strict=True)
    measured = [purse.measure(clique, exact, part) for clique, exact, part in found]
    say("fit the model")
    tree = Junction.of(domain.sizes, [tuple(range(len(domain)))])
    return Built(fit(tree, measured, steps=400), Merged.none(domain), tuple(measured))
