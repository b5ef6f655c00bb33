"""Chosen: what one unit changes of a choice, a quantile or a group that is shown, by exact chances and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.ask.programme import Claim, Programme
from discreet.lab.audits import exact
from discreet.lab.audits.finding import Finding
from discreet.lab.audits.promise import promised
from discreet.lab.audits.subject import subject_of
from discreet.lab.audits.transcript import Heard, Transcript
from discreet.mechanisms.contribution_bound import ContributionBound
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.quantile import Quantile

LISTED = 4096  # points whose chances are worked out one by one
_ROUNDING = 1e-9

Group = tuple[Any, ...]


def chosen(programme: Programme, found: Transcript) -> list[Finding]:
    """Return what the exact values that were handed to them say about all mechanisms that choose."""
    claims = {each.label: each for each in programme.claims()}
    findings: list[Finding | None] = []
    for each in found.heard:
        match each.mechanism:
            case KeySelection() as selection:
                findings.append(_selected(selection, each, found.groups))
            case ContributionBound() as bound if bound.most <= LISTED:
                findings.append(exact.examine(subject_of(bound), *each.exact, bound.loss, promised(bound.loss)))
            case tuple() as mechanisms:
                findings.append(_ranked(mechanisms, each, claims[each.label]))
    return [each for each in findings if each is not None]


def listable(mechanism: Quantile) -> bool:
    """Whether the chances of all outcomes can be listed."""
    return len(mechanism.quantiles) == 1 and mechanism.grid.width <= LISTED


def _selected(selection: KeySelection, heard: Heard, groups: Sequence[Group]) -> Finding:
    """Hold how many people each group gains or loses against what the proof of the selection allows."""
    one, other = heard.exact
    steps = [abs(other.get(group, 0) - one.get(group, 0)) for group in groups]
    moved, share = sum(steps), selection.share[0]
    broken = moved > selection.moved or max(steps, default=0) > 1
    claim = selection.loss
    text = f"{sum(map(bool, steps))} groups have other people, by {max(steps, default=0)} at most"
    lower = math.inf if broken else float(moved * share)
    verdict: Any = "violated" if broken else "consistent"
    return Finding(lower, float(selection.epsilon), text, verdict, "replay", float(selection.delta), claim=claim)


def _ranked(bought: Sequence[Quantile], heard: Heard, claim: Claim) -> Finding | None:
    """Sum up, over all groups and all that is bought, by how much the most likely sign of one neighbour gives it away.

    The choices are independent, so their most telling outcomes happen together: the sum is an epsilon that is
    spent, and a proof where it exceeds the claim.
    """
    if not all(listable(each) for each in bought):
        return None
    sums = [0.0, 0.0]
    for pair in zip(*heard.exact, strict=True):
        if pair[0] != pair[1]:
            for mechanism in bought:
                one, other = (mechanism.chances(each) for each in pair)
                sums[0] += max(_log(one[point][0], other[point][1]) for point in one)
                sums[1] += max(_log(other[point][0], one[point][1]) for point in one)
    claimed, lower = float(claim.loss.peak), max(sums)
    verdict: Any = "violated" if lower > claimed * (1 + _ROUNDING) else "consistent"
    text = f"each {claim.words} at its most telling point"
    return Finding(min(lower, claimed) if verdict == "consistent" else lower, claimed, text, verdict, "exact")


def _log(above: Fraction, below: Fraction) -> float:
    """Return the logarithm of a ratio of chances, of which the upper is positive wherever the lower is."""
    if not above:
        return -math.inf
    return math.log(above / below) if below else math.inf
