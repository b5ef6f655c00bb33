"""Auto: which method suits a domain, a budget and a workload; it sees no data, and says why."""

from __future__ import annotations

import math

from discreet.publish.domain import Domain
from discreet.publish.spending import Allowance
from discreet.publish.tables import MOST_CELLS
from discreet.publish.workload import Workload


def chosen(domain: Domain, allowance: Allowance, workload: Workload) -> tuple[str, str]:
    """Return the name of a method, and the reason in words."""
    if all(len(clique) == 1 for clique in workload.weights):
        return "independent", "the workload asks for single attributes alone"
    noise = sum(
        allowance.scale(allowance.amount / len(workload.weights)) * domain.cells(clique) for clique in workload.weights
    )
    if math.prod(domain.sizes) <= MOST_CELLS and noise / len(workload.weights) < 1:
        return "tables", "the budget measures every marginal of the workload to within a row"
    return "aim", "its rounds measure what the model so far gets most wrong"
