"""AIM: round by round, measure the marginal of the workload that the model so far gets most wrong.

McKenna, Mullins, Sheldon and Miklau (2022). Each round chooses a marginal with the exponential mechanism, measures it
with noise, and fits the model again; when a round taught less than its noise, later ones are bought dearer.
"""

from __future__ import annotations

from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.methods._rounds import CHOOSING, Style, rounds
from discreet.publish.model.fit import fit

# A model has at most so many numbers: eight megabytes of them.
MOST_CELLS = 1 << 20
ROUNDS = 6  # for each attribute, at the first price
# Codes below so many standard deviations of their noise are merged; later rounds would tell some of them apart.
TOO_RARE = 1.5
STEPS, LAST_STEPS = 60, 1000


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: MarginalWorkload, say: Say) -> Built:
    """Fit a model to a workload, round by round."""
    purse, price = Spending(allowance), allowance.amount / (ROUNDS * len(domain))
    ones: list[Clique] = [(place,) for place in range(len(domain))]
    say("measure single attributes")
    part = price * (1 - CHOOSING)
    singles = [purse.measure(one, exact, part) for one, exact in zip(ones, measure(ones), strict=True)]
    merged = Merged.of(domain, singles, TOO_RARE, workload.apart)
    style = Style(price, grows=True, whole=False, most_cells=MOST_CELLS, steps=STEPS)
    known = [merged.noisy(one) for one in singles]
    model, measured = rounds(merged.measure(measure), merged.smaller, workload.candidates(), purse, known, style, say)
    say("fit the model")
    return Built(fit(model.tree, measured, steps=LAST_STEPS, start=model), merged, tuple(measured))
