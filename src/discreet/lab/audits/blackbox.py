"""The black box: run a mechanism on both neighbours, find a telling event, and bound its probabilities."""

from __future__ import annotations

import math
from typing import Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.lab.audits.events import Event, learned, search
from discreet.lab.audits.features import features, likelihood
from discreet.lab.audits.finding import AuditFailed, Finding
from discreet.lab.audits.outputs import Outputs, align, tabulate
from discreet.lab.audits.promise import Promise
from discreet.lab.audits.subject import AuditSubject, Raised

_PILOT = 10_000  # runs a neighbour on which features are screened
_KEPT = 4  # features that are searched with all runs
_JOINED = 32  # features whose likelihood ratios are added up

Sides = tuple[Outputs, Outputs]


def examine(
    subject: AuditSubject, d0: object, d1: object, claim: PrivacyLoss, promise: Promise, samples: int, alarm: float
) -> Finding:
    """Choose an event on one half of the runs and bound its probabilities on the other.

    Guarantee: `lower` exceeds the true epsilon with probability at most `alarm`. The event is fixed before the half
    that is measured is looked at, and the two Clopper-Pearson bounds (1934) fail with probability alarm/2 each.
    """
    sides = subject.outputs(d0, samples), subject.outputs(d1, samples)
    zero, one = align(tabulate(sides[0]), tabulate(sides[1]))
    half = min(len(zero), len(one)) // 2
    quarter = half // 2
    learn, choose = _cut(zero, one, 0, quarter), _cut(zero, one, quarter, half)
    measure = _cut(zero, one, half, min(len(zero), len(one)))
    event = _choose(learn, choose, promise)
    runs = len(measure[0])
    hits = [event.hits(side) for side in measure]
    if event.flipped:
        hits.reverse()
    low, _ = clopper_pearson(hits[0], runs, alarm / 2)
    _, high = clopper_pearson(hits[1], runs, alarm / 2)
    lower = max(0.0, math.log((low - event.delta) / high)) if low > event.delta else 0.0
    if lower <= event.claimed:
        _refuse_all_raised(subject, sides)
    side = "d1" if event.flipped else "d0"
    return Finding(
        lower=lower,
        claimed=event.claimed,
        event=f"{event.text} (more likely on {side})" if lower else event.text,
        verdict="violated" if lower > event.claimed else "not shown",
        layer="black_box",
        delta=event.delta,
        samples=2 * half,
        point=(high, 1 - low),
        claim=claim,
        sees=seen(runs, promise, alarm),
    )


def seen(runs: int, promise: Promise, alarm: float) -> str:
    """Say which loss so many runs on each neighbour would have shown, all but surely, at the claim's first delta.

    One bit that is right with odds e^L : 1 and spends L, as randomized response does, is counted as often as it happens
    or three standard deviations less.
    """
    import numpy as np

    delta, claimed = promise[0]
    for loss in np.concatenate([np.geomspace(max(claimed, 0.01), max(claimed, 0.01) * 30, 200), [60.0]]).tolist():
        chance = 1 / (1 + math.exp(-loss))
        spread = 3 * math.sqrt(chance * (1 - chance) * runs)
        hits = max(0, math.floor(runs * chance - spread)) if loss < 60 else runs
        low = clopper_pearson(hits, runs, alarm / 2)[0] - delta
        high = clopper_pearson(runs - hits, runs, alarm / 2)[1]
        if loss > claimed and low > 0 and math.log(low / high) > claimed:
            least = "a sure sign" if loss == 60 else f"a loss of {loss:.3g} or more"
            return f"{least} in one bit"
    needed = 2 * math.ceil(math.log(alarm / 2) / -math.log1p(math.exp(-claimed)))
    return f"nothing: not even a sure sign refutes epsilon {claimed:.4g} in {2 * runs:,} runs; use {needed:,} or more"


def _refuse_all_raised(subject: AuditSubject, sides: tuple[Any, Any]) -> None:
    """Refuse an audit in which nothing was ever answered: that proves no privacy."""
    for outputs in sides:
        if not isinstance(outputs, list) or not all(isinstance(each, Raised) for each in outputs):
            return
    first = sides[0][0]
    runs = len(sides[0]) + len(sides[1])
    raise AuditFailed(subject.name, f"{runs:,} of {runs:,} runs raised {first.kind}: {first.text}")


def clopper_pearson(hits: int, runs: int, alarm: float) -> tuple[float, float]:
    """Return a lower and an upper bound of a probability, each wrong with probability at most `alarm`."""
    from scipy.special import betainccinv, betaincinv

    low = float(betaincinv(hits, runs - hits + 1, alarm)) if hits else 0.0
    high = float(betainccinv(hits + 1, runs - hits, alarm)) if hits < runs else 1.0
    return low, high


def _choose(learn: Sides, choose: Sides, promise: Promise) -> Event:
    """Screen all features on few runs, search the best of them on many, and join them into a likelihood ratio."""
    pilot, trial = _cut(*learn, 0, _PILOT), _cut(*choose, 0, _PILOT)
    kept = sorted(features(*pilot), key=lambda feature: -search(feature, pilot, trial, promise).margin)
    events = [search(feature, learn, choose, promise) for feature in kept[:_KEPT]]
    if len(kept) > 1:
        columns = [feature for feature in kept if feature.name in learn[0].columns]
        joined = (columns if len(columns) > 1 else kept)[:_JOINED]
        parts = [(feature, *learned(feature, *pilot)) for feature in joined]
        events.append(search(likelihood(parts), learn, choose, promise))
    return max(events, key=_preference)


def _preference(event: Event) -> float:
    """Order events by their margin; one that nobody can picture has to be clearly better."""
    if event.feature.plain:
        return event.margin
    return 0.95 * event.margin if event.margin > 0 else event.margin - 0.01


def _cut(zero: Outputs, one: Outputs, start: int, stop: int) -> Sides:
    return zero.part(start, stop), one.part(start, stop)
