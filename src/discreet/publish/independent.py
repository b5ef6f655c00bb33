"""Independent: every attribute by itself, as if none told anything of the others; the baseline of all methods."""

from __future__ import annotations

from discreet.publish.coded import Measure
from discreet.publish.domain import Domain
from discreet.publish.merged import Merged
from discreet.publish.method import Built, Say
from discreet.publish.model.fit import fit
from discreet.publish.model.junction import Junction
from discreet.publish.mst import shared
from discreet.publish.spending import Allowance, Spending
from discreet.publish.workload import Workload


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: Workload, say: Say) -> Built:  # noqa: ARG001
    """Spend all on single attributes."""
    purse = Spending(allowance)
    ones = [(place,) for place in range(len(domain))]
    say("measure single attributes")
    parts = shared(allowance.amount, domain, ones)
    measured = [purse.measure(one, exact, part) for one, exact, part in zip(ones, measure(ones), parts, strict=True)]
    say("fit the model")
    model = fit(Junction.of(domain.sizes, ()), measured, steps=500)
    return Built(model, Merged.none(domain), tuple(measured))
