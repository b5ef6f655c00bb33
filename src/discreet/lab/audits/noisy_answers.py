"""Noised: the very noise of a question on exact integers that the engine found, as often as an audit likes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.priced import PricedQuestion
from discreet.lab.audits.choices import listable
from discreet.lab.audits.exact_answers import ExactAnswers
from discreet.measures.bins import BinMeasure
from discreet.measures.quantiles import QuantileMeasure
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.cdf import Cdf
from discreet.mechanisms.count import Count
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.top_k import TopK

Floats = NDArray[np.float64]

_SHOWN = 6  # single outputs that are looked at beside the likelihood ratio
_SURE = 40.0  # stands for an infinite likelihood ratio


@dataclass(frozen=True, slots=True)
class NoisyPart:
    """Some integers of one group that one statistic adds noise to, on both neighbours."""

    statistic: Statistic
    group: int
    exact: tuple[Any, Any]

    @property
    def inner(self) -> tuple[list[int], list[int]]:
        """The integers themselves."""
        return self.statistic.inner(self.exact[0]), self.statistic.inner(self.exact[1])

    @property
    def laws(self) -> list[tuple[str, float]]:
        """The noise of each."""
        return [(noise.law, float(noise.scale)) for noise, size in self.statistic.noises for _ in range(size)]


@dataclass(frozen=True, slots=True)
class Integers:
    """Every noisy integer of a question, in one flat list: what a replay moves and follows.

    Guarantee: `loss`, that of the parts that add noise to integers.
    """

    asked: PricedQuestion
    both: tuple[ExactAnswers, ExactAnswers]

    @property
    def loss(self) -> PrivacyLoss | None:
        """What these integers cost; None where the question has none."""
        parts = [each for each in self.asked.measures if _adds(each)]
        return total([each.loss for each in parts]) if parts else None

    def __call__(self, side: int) -> list[int]:
        """Draw once, for one of the two neighbours."""
        drawn: list[int] = []
        for _, parts in groupby(parts_of(self.asked, self.both), key=lambda part: id(part.statistic)):
            groups = list(parts)
            noisy = groups[0].statistic.noisy([each.exact[side] for each in groups])
            # Noise is drawn integer by integer, for all groups at once: the list has it in that order.
            drawn += [int(each) for each in noisy.T.ravel()]
        return drawn


@dataclass(frozen=True, slots=True)
class NoisyAnswers:
    """All that a question tells, as an attacker sees it who knows both neighbours: the likelihood ratio, and the rest.

    The ratio is computed from what was drawn, so that it is post-processing; of all functions it tells most (Neyman and
    Pearson 1933). Integers that neighbours share tell nothing, and are left out.
    """

    asked: PricedQuestion
    both: tuple[ExactAnswers, ExactAnswers]

    def releases(self, side: int, count: int) -> Floats:
        """Return what so many answers show: the ratio first, then single outputs that differ."""
        ratio = np.zeros(count)
        columns: list[Floats] = []
        kept = self._kept(side, count, ratio)
        for part in parts_of(self.asked, self.both):
            one, other = part.inner
            if one == other:
                continue
            drawn = part.statistic.noisy(_repeated(part.exact[side], count))
            shown = kept[:, part.group]
            for place, (law, scale) in enumerate(part.laws):
                if one[place] != other[place]:
                    # Differences of exact integers; only what is left of them, in units of noise, becomes a float.
                    moved = (drawn[:, place] - one[place]).astype(np.float64) / scale
                    step = (other[place] - one[place]) / scale
                    ratio += np.where(shown, _ratio(law, moved, step), 0.0)
                    columns.append(np.where(shown, moved, np.nan))
        columns += self._chosen(side, count, kept, ratio)
        return np.column_stack([ratio, *columns[:_SHOWN]])

    def _kept(self, side: int, count: int, ratio: Floats) -> NDArray[np.bool_]:
        """Select groups, where they are selected, and add what that tells to the ratio."""
        own, selection = self.both[side], self.asked.selection
        kept = np.ones((count, len(own.groups)), dtype=bool)
        if selection is None or own.people is None:
            return kept
        one, other = (each.people or () for each in self.both)
        # Groups are selected each by itself, so that those with the same people on both sides are left aside.
        telling = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
        found = selection.releases({place: own.people[place] for place in telling}, count)
        for place in telling:
            kept[:, place] = [place in groups for groups in found]
            before, after = one[place], other[place]
            chances = [float(selection.probability(each)) for each in (before, after)]
            ratio += np.where(kept[:, place], _log(chances[1], chances[0]), _log(1 - chances[1], 1 - chances[0]))
        return kept

    def _chosen(self, side: int, count: int, kept: NDArray[np.bool_], ratio: Floats) -> Iterator[Floats]:
        """Yield what mechanisms that choose have chosen, in groups where the neighbours differ; add to the ratio."""
        one, other = self.both
        for each in self.asked.measures:
            if isinstance(each, QuantileMeasure):
                values = zip(one.ranked[each.name], other.ranked[each.name], strict=True)
                for group, both in enumerate(values):
                    if both[0] != both[1]:
                        for mechanism in each.bought:
                            drawn = mechanism.releases(both[side], count).reshape(count, -1)
                            ratio += np.where(kept[:, group], _ranked_ratio(mechanism, both, drawn), 0.0)
                            yield from (np.where(kept[:, group], column, np.nan) for column in drawn.T)
            elif isinstance(each, BinMeasure) and isinstance(each.mechanism, TopK):
                for group, (before, after) in enumerate(zip(one.bins[each.name], other.bins[each.name], strict=True)):
                    if before != after:
                        chosen = each.mechanism.releases((before, after)[side], count)
                        names = {key: float(place) for place, key in enumerate(each.mechanism.keys)}
                        for rank in range(each.mechanism.k):
                            ranked = np.array([names[row[rank]] for row in chosen])
                            yield np.where(kept[:, group], ranked, np.nan)


def parts_of(asked: PricedQuestion, both: tuple[ExactAnswers, ExactAnswers]) -> Iterator[NoisyPart]:
    """Yield the integers of every measure and group, with the statistic that adds noise to them."""
    one, other = both
    for each in asked.measures:
        if isinstance(each, SumMeasure):
            pairs = zip(one.tallied.get(each.name, ()), other.tallied.get(each.name, ()), strict=True)
            for group, (before, after) in enumerate(pairs):
                yield NoisyPart(each.statistic, group, (each.exact(before), each.exact(after)))
        elif isinstance(each, BinMeasure) and isinstance(each.mechanism, Count | Cdf):
            found = zip(one.bins.get(each.name, ()), other.bins.get(each.name, ()), strict=True)
            for group, (left, right) in enumerate(found):
                if isinstance(each.mechanism, Cdf):
                    yield NoisyPart(each.mechanism, group, (left, right))
                else:
                    yield from (NoisyPart(each.mechanism, group, pair) for pair in zip(left, right, strict=True))


def _adds(part: object) -> bool:
    return isinstance(part, SumMeasure) or (isinstance(part, BinMeasure) and isinstance(part.mechanism, Count | Cdf))


def _ratio(law: str, moved: Floats, step: float) -> Floats:
    """Return the logarithm of how much likelier an output is where the integer is `step` higher, in units of noise."""
    if law == "laplace":
        return np.asarray(np.abs(moved) - np.abs(moved - step))
    return np.asarray((moved**2 - (moved - step) ** 2) / 2)


def _ranked_ratio(mechanism: Quantile, both: tuple[Any, Any], drawn: Floats) -> Floats:
    """Return the same for a quantile, from the exact chances of all points, where they can be listed."""
    if not listable(mechanism):
        return np.zeros(len(drawn))
    before, after = (mechanism.chances(each) for each in both)
    points = np.array(sorted(before))
    logs = np.array([_log(float(after[point][0]), float(before[point][0])) for point in points.tolist()])
    return np.asarray(logs[np.searchsorted(points, drawn[:, 0])])


def _repeated(exact: Any, count: int) -> Any:  # noqa: ANN401  (an integer, or several)
    """Return the exact integers of one group so many times, as Python's own, which do not wrap."""
    once = np.array(exact, dtype=object)
    return np.full(count, once) if once.ndim == 0 else np.tile(once, (count, 1))


def _log(above: float, below: float) -> float:
    if above <= 0 or below <= 0:
        return 0.0 if above == below else math.copysign(_SURE, above - below)
    return max(-_SURE, min(_SURE, math.log(above / below)))
