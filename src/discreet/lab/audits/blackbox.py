"""The black box: run a mechanism on both neighbours, find a telling event, and bound its probabilities."""

from __future__ import annotations

import math

from discreet.account.losses.loss import PrivacyLoss
from discreet.lab.audits.events import Event, learned, search
from discreet.lab.audits.features import features, likelihood
from discreet.lab.audits.finding import Finding
from discreet.lab.audits.outputs import Outputs, align, tabulate
from discreet.lab.audits.promise import Promise
from discreet.lab.audits.subject import AuditSubject

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
    zero, one = align(tabulate(subject.outputs(d0, samples)), tabulate(subject.outputs(d1, samples)))
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
    side = "d1" if event.flipped else "d0"
    return Finding(
        lower=lower,
        claimed=event.claimed,
        event=f"{event.text} (more likely on {side})" if lower else event.text,
        verdict="violated" if lower > event.claimed else "consistent",
        layer="black_box",
        delta=event.delta,
        samples=2 * half,
        point=(high, 1 - low),
        claim=claim,
    )


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
