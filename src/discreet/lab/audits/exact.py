"""The exact audit: probabilities of all outputs on both neighbours, compared in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.errors import Refusal, show
from discreet.lab.audits.events import margin_of
from discreet.lab.audits.finding import Finding
from discreet.lab.audits.promise import Promise
from discreet.lab.audits.subject import AuditSubject
from discreet.mechanisms.parts.mechanism import Chance
from discreet.noise import enclosure

Chances = Mapping[Hashable, Chance]

_BITS = 256  # of probabilities, and of e^-epsilon beside those that its size takes
_HALVINGS = 60
_ROOM = Fraction(1, 10**9)  # of epsilon, relative, and of delta: bounds of probabilities have a width


@dataclass(frozen=True, slots=True)
class Versus:
    """The outputs of one neighbour against those of the other: what each surely has here, and at most has there.

    Outputs that the other neighbour does not list share the probability it leaves over.
    """

    outputs: tuple[Hashable, ...]
    here: tuple[int, ...]  # in units of 2**-_BITS, rounded down
    there: tuple[int, ...]  # and rounded up
    floats: tuple[NDArray[np.float64], NDArray[np.float64]]  # the same, for figures that prove nothing

    def exceeds(self, epsilon: float, delta: float) -> bool:
        """Return whether some event S provably has P(S) - e^epsilon Q(S) > delta."""
        here, there = self.floats
        if delta and np.maximum(here - np.exp(min(epsilon, 700.0)) * there, 0).sum() < delta * (1 - 1e-6):
            return False
        # All is multiplied by a lower bound of e^-epsilon, so the other side carries no factor.
        bits = _BITS + 2 * int(epsilon)
        shrink, most = enclosure.exp(Fraction(epsilon).as_integer_ratio(), bits)
        gains = (shrink * p - (q << bits) for p, q in zip(self.here, self.there, strict=True))
        return sum(gain for gain in gains if gain > 0) > Fraction(delta) * (most << _BITS)


def examine(subject: AuditSubject, d0: object, d1: object, claim: PrivacyLoss, promise: Promise) -> Finding | None:
    """Compare all events at once: delta(epsilon) of the pair against the claim's, in both directions.

    Guarantee: "violated" and "bounded" are proved in rational arithmetic, from the rational bounds that the mechanism
    states; "bounded" at the points of the claim that are tested, with `_ROOM`. Whether draws follow what is stated is
    not looked at here.
    """
    if subject.chances is None:
        return None
    try:
        zero, one = subject.chances(d0), subject.chances(d1)
    except Refusal:
        return None  # the parameters are too large to write the distribution down
    best: Finding | None = None
    bounded = all(_proved(*sides, at, most) for sides in ((zero, one), (one, zero)) for at, most in promise)
    for versus in (_versus(zero, one), _versus(one, zero)):
        for delta, claimed in promise:
            found = _at(versus, delta, claimed, claim)
            if best is None or _rank(found) > _rank(best):
                best = found
    return replace(best, verdict="bounded") if best is not None and bounded and not best.violated else best


def _proved(zero: Chances, one: Chances, delta: float, epsilon: float) -> bool:
    """Return whether no event S can have P(S) - e^epsilon Q(S) > delta, by the outer bounds; with `_ROOM` on both."""
    room = Fraction(epsilon) * (1 + _ROOM)
    bits = _BITS + 2 * int(epsilon)
    least, most = enclosure.exp(room.as_integer_ratio(), bits)
    excess = sum(
        max(0, most * _up(chance[1]) - (_down(one[output][0] if output in one else Fraction(0)) << bits))
        for output, chance in zero.items()
    )
    unlisted = max(0, (1 << _BITS) - sum(_down(low) for low, _ in zero.values()))
    return excess + most * unlisted <= (Fraction(delta) + _ROOM) * (least << _BITS)


def _at(versus: Versus, delta: float, claimed: float, claim: PrivacyLoss) -> Finding:
    """Test one point of the claim."""
    violated = versus.exceeds(claimed, delta)
    here, there = versus.floats
    lower = _lower(here, there, delta)
    lower = max(lower, float(np.nextafter(claimed, np.inf))) if violated else min(lower, claimed)
    inside = np.flatnonzero(here > there * np.exp(min(lower, 700.0)) * (1 - 1e-9))
    return Finding(
        lower=lower,
        claimed=claimed,
        event=_describe([versus.outputs[place] for place in inside]),
        verdict="violated" if violated else "not shown",
        layer="exact",
        delta=delta,
        point=(float(min(there[inside].sum(), 1.0)), float(max(1 - here[inside].sum(), 0.0))),
        claim=claim,
        sees="probabilities off by one part in 10^9, at the points of the claim that are tested",
    )


def _lower(here: NDArray[np.float64], there: NDArray[np.float64], delta: float) -> float:
    """Return the greatest epsilon at which the excess is above delta, by halving."""
    with np.errstate(divide="ignore"):
        ratios = np.log(here) - np.log(there)
    most = float(np.max(ratios, initial=0.0))
    if delta == 0 or most == 0:
        return most
    low, high = 0.0, min(most, 700.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if np.maximum(here - np.exp(middle) * there, 0).sum() > delta:
            low = middle
        else:
            high = middle
    return low


def _versus(zero: Chances, one: Chances) -> Versus:
    shared = [output for output in zero if output in one]
    here, there = [_down(zero[output][0]) for output in shared], [_up(one[output][1]) for output in shared]
    outputs: list[Hashable] = [*shared]
    missing = [output for output in zero if output not in one]
    if missing:
        outputs.append(missing[0] if len(missing) == 1 else "what the other neighbour never gives")
        here.append(sum(_down(zero[output][0]) for output in missing))
        there.append(max(0, (1 << _BITS) - sum(_down(low) for low, _ in one.values())))
    floats = (
        np.array([math.ldexp(each, -_BITS) for each in here]),
        np.array([math.ldexp(each, -_BITS) for each in there]),
    )
    return Versus(tuple(outputs), tuple(here), tuple(there), floats)


def _down(chance: Fraction) -> int:
    return (chance.numerator << _BITS) // chance.denominator


def _up(chance: Fraction) -> int:
    return -((-chance.numerator << _BITS) // chance.denominator)


def _rank(finding: Finding) -> tuple[bool, float, float, float]:
    """Order findings: a violation is shown at the least delta, all else where it comes nearest to the claim."""
    margin = round(margin_of(finding.lower, finding.claimed), 6)
    placed = (-finding.delta, margin) if finding.violated else (margin, -finding.delta)
    return finding.violated, *placed, finding.lower


def _describe(outputs: list[Hashable]) -> str:
    if len(outputs) == 1:
        return f"output {show(outputs[0])}"
    shown = ", ".join(show(output) for output in outputs[:3])
    return f"one of {len(outputs)} outputs: {shown}{', ...' if len(outputs) > 3 else ''}"
