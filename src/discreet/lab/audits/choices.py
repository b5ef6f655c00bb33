"""Chosen: what one unit changes of a choice, a quantile or a group that is shown, by exact chances and counts."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.ask.priced import PricedQuestion
from discreet.lab.audits.exact_answers import ExactAnswers
from discreet.lab.audits.finding import Finding
from discreet.measures.quantiles import QuantileMeasure
from discreet.mechanisms.quantile import Quantile

LISTED = 4096  # points whose chances are worked out one by one
_ROUNDING = 1e-9

Both = tuple[ExactAnswers, ExactAnswers]


def chosen(asked: PricedQuestion, both: Both) -> list[Finding]:
    """Return what the exact findings of the engine say about every part of a question that chooses."""
    found = [_selected(asked, both)]
    found += [_ranked(each, both) for each in asked.measures if isinstance(each, QuantileMeasure)]
    return [each for each in found if each is not None]


def listable(mechanism: Quantile) -> bool:
    """Whether the chances of all outcomes can be listed."""
    return len(mechanism.quantiles) == 1 and mechanism.grid.width <= LISTED


def _selected(asked: PricedQuestion, both: Both) -> Finding | None:
    """Hold how many people each group gains or loses against what the proof of the selection allows."""
    selection = asked.selection
    one, other = (each.people for each in both)
    if selection is None or one is None or other is None:
        return None
    steps = [abs(after - before) for before, after in zip(one, other, strict=True)]
    moved, share = sum(steps), selection.share[0]
    broken = moved > selection.moved or max(steps, default=0) > 1
    claim = selection.loss
    text = f"{sum(map(bool, steps))} groups have other people, by {max(steps, default=0)} at most"
    lower = math.inf if broken else float(moved * share)
    verdict: Any = "violated" if broken else "consistent"
    return Finding(lower, float(selection.epsilon), text, verdict, "replay", float(selection.delta), claim=claim)


def _ranked(part: QuantileMeasure, both: Both) -> Finding | None:
    """Sum up, over all groups and all that is bought, by how much the likeliest sign of one neighbour gives it away.

    The choices are independent, so that their most telling outcomes happen together: the sum is an epsilon that is
    spent, and a proof where it exceeds the claim.
    """
    if not all(listable(each) for each in part.bought):
        return None
    sums = [0.0, 0.0]
    for pair in zip(*(each.ranked[part.name] for each in both), strict=True):
        if pair[0] != pair[1]:
            for mechanism in part.bought:
                one, other = (mechanism.chances(each) for each in pair)
                sums[0] += max(_log(one[point][0], other[point][1]) for point in one)
                sums[1] += max(_log(other[point][0], one[point][1]) for point in one)
    claimed, lower = float(part.loss.peak), max(sums)
    verdict: Any = "violated" if lower > claimed * (1 + _ROUNDING) else "consistent"
    text = f"each {part.kind} at its most telling point"
    return Finding(min(lower, claimed) if verdict == "consistent" else lower, claimed, text, verdict, "exact")


def _log(above: Fraction, below: Fraction) -> float:
    """Return the logarithm of a ratio of chances, of which the upper is positive wherever the lower is."""
    if not above:
        return -math.inf
    return math.log(above / below) if below else math.inf
