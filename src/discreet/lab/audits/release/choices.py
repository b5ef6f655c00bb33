"""Chosen: what one unit changes of a choice, a quantile or a group that is shown, by exact chances and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.programme import Claim, Programme
from discreet.lab.audits import exact
from discreet.lab.audits.finding import Finding, Verdict
from discreet.lab.audits.promise import promised
from discreet.lab.audits.release.known_laws import LISTED, ranked_ratio
from discreet.lab.audits.release.transcript import Heard, Transcript
from discreet.lab.audits.subject import subject_of
from discreet.mechanisms.contribution_bound import ContributionBound
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.mechanism import Chance
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.top_k import TopK

_ROUNDING = 1e-9

Group = tuple[Any, ...]


def chosen(programme: Programme, found: Transcript) -> list[Finding]:
    """Return what the exact values that were handed to them say about all mechanisms that choose."""
    claims, stated = {each.label: each for each in programme.claims()}, stated_choices(found)
    findings: list[Finding | None] = []
    ranks: dict[str, list[Heard]] = {}
    for each in found.heard:
        match each.mechanism:
            case KeySelection() as selection:
                findings.append(_selected(selection, each, found.groups))
            case ContributionBound() as bound if bound.most <= LISTED:
                findings.append(exact.examine(subject_of(bound), *each.exact, bound.loss, promised(bound.loss)))
            case ContributionBound() as bound:
                findings.append(_unseen(bound.loss))
            case TopK():
                ranks.setdefault(each.label, []).append(each)
            case tuple() as mechanisms:
                findings.append(_ranked(mechanisms, each, claims[each.label], stated[each.label]))
    findings += [_topmost(groups, claims[label]) for label, groups in ranks.items()]
    return [each for each in findings if each is not None]


def stated_choices(found: Transcript) -> dict[str, PrivacyLoss]:
    """Return what quantiles cost by their own statement, label by label."""
    return {
        each.label: total(one.loss for one in each.mechanism)
        for each in found.heard
        if isinstance(each.mechanism, tuple)
    }


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
    verdict: Verdict = "violated" if broken else "bounded"
    epsilon, delta = float(selection.epsilon), float(selection.delta)
    return Finding(lower, epsilon, text, verdict, "replay", delta, claim=claim, sees="one person too many in a group")


def _topmost(groups: Sequence[Heard], claim: Claim) -> Finding:
    """Sum up, over all groups, by how much the most likely sign of one neighbour gives it away: as for quantiles."""
    if any(each.mechanism.sequences > LISTED for each in groups):
        return _unseen(claim.loss)
    sums = [0.0, 0.0]
    for each in groups:
        if each.differs:
            there, back = _both_ways(*(each.mechanism.chances(exact) for exact in each.exact))
            sums = [sums[0] + there, sums[1] + back]
    return _summed(max(sums), claim, "one row too many, for a choice as sure as its chances say")


def _ranked(bought: Sequence[Quantile], heard: Heard, claim: Claim, stated: PrivacyLoss) -> Finding:
    """Sum up, over all groups and all that is bought, by how much the most likely sign of one neighbour gives it away.

    The choices are independent, so their most telling outcomes happen together: the sum is an epsilon that is
    spent, and a proof where it exceeds the claim. Where points are too many to be listed, the ratios are those of the
    theorem's own formula, run by run. Where noise is drawn at the same label, the choices have what they state alone.
    """
    if any(len(each.quantiles) > 1 for each in bought):
        return _unseen(claim.loss)
    sums = [0.0, 0.0]
    for pair in zip(*heard.exact, strict=True):
        if pair[0] != pair[1]:
            for mechanism in bought:
                there, back = _ratios(mechanism, *pair)
                sums = [sums[0] + there, sums[1] + back]
    own = stated if stated.peak <= claim.loss.peak else claim.loss
    return _summed(max(sums), replace(claim, loss=own), "one rank too many, for a choice as sure as its chances say")


def _summed(lower: float, claim: Claim, sees: str) -> Finding:
    """Hold an epsilon that is spent for sure against the claim of its label."""
    claimed = float(claim.loss.peak)
    broken = lower > claimed * (1 + _ROUNDING)
    text = f"each {claim.words} at its most telling point"
    verdict: Verdict = "violated" if broken else "bounded"
    least = lower if broken else min(lower, claimed)
    return Finding(least, claimed, text, verdict, "exact", claim=claim.loss, sees=sees)


def _unseen(claim: PrivacyLoss) -> Finding:
    """Say that there is more to choose from than can be listed: nothing was looked at."""
    delta, claimed = promised(claim)[0]
    return Finding(0.0, claimed, "there are too many outcomes to list", "not shown", "exact", delta, claim=claim)


def _ratios(mechanism: Quantile, one: Sequence[int], other: Sequence[int]) -> tuple[float, float]:
    """Return the greatest logarithms of the ratios of chances, in both directions."""
    if not listable(mechanism):
        return ranked_ratio(mechanism, one, other)
    return _both_ways(*(mechanism.chances(each) for each in (one, other)))


def _both_ways(before: Mapping[Any, Chance], after: Mapping[Any, Chance]) -> tuple[float, float]:
    there = max(_log(before[point][0], after[point][1]) for point in before)
    return there, max(_log(after[point][0], before[point][1]) for point in before)


def _log(above: Fraction, below: Fraction) -> float:
    """Return the logarithm of a ratio of chances, of which the upper is positive wherever the lower is."""
    if not above:
        return -math.inf
    return math.log(above / below) if below else math.inf
