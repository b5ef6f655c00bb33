"""AIM: round by round, measure the marginal of the workload that the model so far gets most wrong.

McKenna, Mullins, Sheldon and Miklau (2022). Each round chooses a marginal with the exponential mechanism, measures it
with noise, and fits the model anew; when a round taught less than its noise, later ones are bought dearer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.publish.coded import Counts, Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged import Merged
from discreet.publish.method import Built, Say
from discreet.publish.model.fit import Fit, Noisy, fit
from discreet.publish.model.junction import Junction, cells_with
from discreet.publish.model.marginal import Marginals
from discreet.publish.mst import FINE, distance
from discreet.publish.spending import Allowance, Spending
from discreet.publish.workload import Workload

# A model has at most so many numbers: four megabytes of them.
MOST_CELLS = 1 << 19
# How much of a round chooses, and how much measures.
CHOOSING = Fraction(1, 10)
ROUNDS = 6  # for each attribute, at the first price
# Codes below so many standard deviations of their noise are merged; later rounds would tell some of them apart.
TOO_RARE = 1.5
_STEPS, _LAST_STEPS = 60, 1000


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: Workload, say: Say) -> Built:
    """Fit a model to a workload, round by round."""
    purse, rounds = Spending(allowance), ROUNDS * len(domain)
    price = allowance.amount / rounds
    ones: list[Clique] = [(place,) for place in range(len(domain))]
    say("measure single attributes")
    singles = [
        purse.measure(one, exact, price * (1 - CHOOSING)) for one, exact in zip(ones, measure(ones), strict=True)
    ]
    merged = Merged.of(domain, singles, TOO_RARE)
    domain, measure = merged.smaller, merged.measure(measure)
    measured = [merged.noisy(one) for one in singles]
    say("count the workload")
    weights = workload.candidates()
    exact = dict(zip(weights, measure([*weights]), strict=True))
    model = fit(Junction.of(domain.sizes, ()), measured, steps=_STEPS)
    turn = 0
    while purse.left > 0:
        turn += 1
        if purse.left < 2 * price:
            price = purse.left
        say(f"round {turn}")
        room = MOST_CELLS * float((purse.spent + price) / allowance.amount)
        taken = _chosen(model, domain, exact, weights, measured, purse, price, room)
        before = Marginals.of(model).table(taken) * model.total
        measured.append(
            purse.measure(taken, exact[taken], purse.left if price >= purse.left else price * (1 - CHOOSING))
        )
        tree = Junction.of(domain.sizes, [each.clique for each in measured])
        model = fit(tree, measured, steps=_STEPS, start=model)
        after = Marginals.of(model).table(taken) * model.total
        learned, noise = float(abs(after - before).sum()), allowance.scale(price * (1 - CHOOSING))
        if learned <= math.sqrt(2 / math.pi) * noise * domain.cells(taken):
            price = min(price * 4, purse.left) if purse.left else price
    say("fit the model")
    return Built(fit(model.tree, measured, steps=_LAST_STEPS, start=model), merged, tuple(measured))


def _chosen(
    model: Fit,
    domain: Domain,
    exact: Mapping[Clique, Counts],
    weights: Mapping[Clique, int],
    measured: Sequence[Noisy],
    purse: Spending,
    price: Fraction,
    room: float,
) -> Clique:
    """Choose a marginal that the model gets wrong by more than its noise would be, and that there is room for."""
    known = [each.clique for each in measured]
    fitting = [part for part in weights if len(part) == 1 or cells_with(domain.sizes, [*known, part]) <= room]
    noise = math.sqrt(2 / math.pi) * purse.allowance.scale(price * (1 - CHOOSING))
    expected = Marginals.of(model)
    scores = [
        weights[part]
        * (distance(exact[part], expected.table(part) * model.total) - round(FINE * noise * domain.cells(part)))
        for part in fitting
    ]
    most = max(weights[part] for part in fitting)
    return fitting[purse.choose(scores, FINE * most, price * CHOOSING)]
