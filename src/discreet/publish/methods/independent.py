"""Independent: every attribute by itself, as if none told anything of the others; the baseline of all methods."""

from __future__ import annotations

from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Measure
from discreet.publish.domain import Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.methods.mst import shared
from discreet.publish.model.fit import fit
from discreet.publish.model.junction import Junction


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: MarginalWorkload, say: Say) -> Built:  # noqa: ARG001
    """Spend all on single attributes."""
    purse = Spending(allowance)
    ones = [(place,) for place in range(len(domain))]
    say("measure single attributes")
    parts = shared(allowance.amount, domain, ones)
    measured = [purse.measure(one, exact, part) for one, exact, part in zip(ones, measure(ones), parts, strict=True)]
    say("fit the model")
    model = fit(Junction.of(domain.sizes, ()), measured, steps=500)
    return Built(model, Merged.none(domain), tuple(measured))
