"""MWEM: multiplicative weights and the exponential mechanism, over one histogram of each connected part.

Hardt, Ligett and McSherry (2012): each round chooses the marginal that the histogram gets most wrong, measures it, and
moves the histogram by multiplicative weights towards all that was measured so far, the latest and every earlier one.
Attributes that no marginal has joined stay apart, so the histograms are those of the touched attributes alone. How
many rounds there are follows from the budget and from what they teach: when one taught less than its noise, the next
is bought with half of it.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.methods._rounds import Style, rounds
from discreet.publish.model.fit import fit

# A histogram of the touched attributes has at most so many cells.
MOST_CELLS = 1 << 18
ROUNDS = 4  # for each attribute, at the first price
STEPS, LAST_STEPS = 40, 400


def build(
    measure: Measure,
    domain: Domain,
    allowance: Allowance,
    workload: MarginalWorkload,
    say: Say,
    *,
    fixed: int | None = None,
    repetitions: int | None = None,
) -> Built:
    """Fit histograms to a workload; `fixed` rounds at equal prices, with so many `repetitions` of updates, if asked.

    With a fixed number of rounds half of each chooses, as in the paper; a first measurement buys the number of rows.
    """
    purse = Spending(allowance)
    ones: list[Clique] = [(place,) for place in range(len(domain))]
    merged = Merged.none(domain)
    say("measure single attributes")
    if fixed is None:
        price, choosing = allowance.amount / (ROUNDS * len(domain)), Fraction(1, 5)
        part = price * (1 - choosing)
    else:
        price, choosing = allowance.amount / (fixed + 1), Fraction(1, 2)
        part = price / len(domain)
    known = [purse.measure(one, exact, part) for one, exact in zip(ones, measure(ones), strict=True)]
    style = Style(
        price, grows=fixed is None, whole=True, most_cells=MOST_CELLS, steps=repetitions or STEPS, choosing=choosing
    )
    model, measured = rounds(measure, domain, workload.candidates(), purse, known, style, say)
    if fixed is None:
        say("fit the model")
        model = fit(model.tree, measured, steps=LAST_STEPS, start=model)
    return Built(model, merged, tuple(measured))
