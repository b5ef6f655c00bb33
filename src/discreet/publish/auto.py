"""Auto: which method suits a domain, a budget and a workload; it sees no data, and says why.

Three things decide: whether one histogram of all attributes can be held, how many marginals are asked for, and how much
noise the budget leaves. Where the lines lie was measured on Adult and NLTCS (`make bench AREA=synth`): on each of them,
at epsilon 0.1, 1 and 10, the choice is to be within a tenth of the best method.
"""

from __future__ import annotations

import math

from discreet.publish.allowance import Allowance
from discreet.publish.domain import Domain
from discreet.publish.methods import mwem
from discreet.publish.methods.tables import MOST_CELLS
from discreet.publish.workload import MarginalWorkload

# A workload of no more marginals than this for each attribute is about as many as rounds would measure anyway.
FEW_MARGINALS = 8
# The noise, in rows, at which it is better to measure all of them than to spend on choosing.
LITTLE_NOISE = 16.0
# The noise of the whole budget on one marginal, in rows, below which rounds may take their time.
RICH = 1.0


def chosen(domain: Domain, allowance: Allowance, workload: MarginalWorkload) -> tuple[str, str]:
    """Return the name of a method, and the reason in words."""
    if all(len(clique) == 1 for clique in workload.weights):
        return "independent", "independent: the workload asks for single attributes alone"
    many, cells = len(workload.weights), math.prod(domain.sizes)
    noise = allowance.scale(allowance.amount / many)
    if cells <= MOST_CELLS and many <= FEW_MARGINALS * len(domain) and noise <= LITTLE_NOISE:
        return "tables", f"tables: the budget measures all {many} marginals with a noise of {noise:.2g} rows a cell"
    if cells <= mwem.MOST_CELLS and allowance.scale(allowance.amount) > RICH:
        return "mwem", f"mwem: a histogram of all {cells:,} cells can be held, and few measurements have to do"
    return "aim", "aim: its rounds measure what the model so far gets most wrong"
