"""Noisy answers: the very mechanisms of a programme on what it handed to them, as often as an audit likes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.programme import Programme
from discreet.lab.audits.choices import listable
from discreet.lab.audits.transcript import Transcript
from discreet.mechanisms.contribution_bound import ContributionBound
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.mechanism import Chance
from discreet.mechanisms.parts.statistic import Statistic
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

    programme: Programme
    found: Transcript

    @property
    def loss(self) -> PrivacyLoss | None:
        """What these integers cost; None where the question has none."""
        adding = {each.label for each in self.found.heard if isinstance(each.mechanism, Statistic)}
        parts = [each.loss for each in self.programme.claims() if each.label in adding]
        return total(parts) if parts else None

    def __call__(self, side: int) -> list[int]:
        """Draw once, for one of the two neighbours."""
        drawn: list[int] = []
        for each in self.found.heard:
            if isinstance(each.mechanism, Statistic):
                # Noise is drawn integer by integer, for all groups at once: the list has it in that order.
                drawn += [int(value) for value in each.mechanism.noisy(each.exact[side]).T.ravel()]
        return drawn


@dataclass(frozen=True, slots=True)
class NoisyAnswers:
    """All that a question tells, as an attacker sees it who knows both neighbours: the likelihood ratio, and the rest.

    What the programme handed to its mechanisms is put through them again, as often as is asked for. The ratio is
    computed from what was drawn, so that it is post-processing; of all functions it tells most (Neyman and Pearson
    1933). Integers that neighbours share tell nothing, and are left out.
    """

    found: Transcript

    def releases(self, side: int, count: int) -> Floats:
        """Return what so many answers show: the ratio first, then single outputs that differ."""
        ratio = np.zeros(count)
        columns: list[Floats] = []
        kept = self._kept(side, count, ratio)
        for part in parts_of(self.found):
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
        groups = self.found.groups
        kept = np.ones((count, max(1, len(groups))), dtype=bool)
        for each in self.found.heard:
            if isinstance(each.mechanism, KeySelection):
                selection, (one, other) = each.mechanism, each.exact
                # Groups are selected each by itself: those with the same people on both sides are left aside.
                telling = {
                    place: (one.get(group, 0), other.get(group, 0))
                    for place, group in enumerate(groups)
                    if one.get(group, 0) != other.get(group, 0)
                }
                drawn = selection.releases({place: people[side] for place, people in telling.items()}, count)
                for place, people in telling.items():
                    kept[:, place] = [place in chosen for chosen in drawn]
                    before, after = (float(selection.probability(many)) for many in people)
                    ratio += np.where(kept[:, place], _log(after, before), _log(1 - after, 1 - before))
        return kept

    def _chosen(self, side: int, count: int, kept: NDArray[np.bool_], ratio: Floats) -> Iterator[Floats]:
        """Yield what mechanisms that choose have chosen, in groups where the neighbours differ; add to the ratio."""
        ranks: Counter[str] = Counter()
        for each in self.found.heard:
            group = ranks[each.label]  # of mechanisms that are used for each group by itself
            ranks[each.label] += 1
            match each.mechanism:
                case ContributionBound() as bound if each.differs:
                    drawn = bound.releases(each.exact[side], count).astype(np.float64).reshape(count, -1)
                    ratio += _chances_ratio(bound.chances, each.exact, drawn)
                    yield from drawn.T
                case tuple() as mechanisms:
                    for group, both in enumerate(zip(*each.exact, strict=True)):
                        if both[0] != both[1]:
                            for mechanism in mechanisms:
                                drawn = mechanism.releases(both[side], count).reshape(count, -1)
                                if listable(mechanism):
                                    told = _chances_ratio(mechanism.chances, both, drawn)
                                    ratio += np.where(kept[:, self._shown(group)], told, 0.0)
                                yield from (np.where(kept[:, self._shown(group)], one, np.nan) for one in drawn.T)
                case TopK() as top if each.differs:
                    chosen = top.releases(each.exact[side], count)
                    names = {key: float(place) for place, key in enumerate(top.keys)}
                    for rank in range(top.k):
                        ranked = np.array([names[row[rank]] for row in chosen])
                        yield np.where(kept[:, self._shown(group)], ranked, np.nan)

    def _shown(self, group: int) -> int:
        """Return the column of `_kept` that says whether a group is shown."""
        return group if self.found.groups else 0


def parts_of(found: Transcript) -> Iterator[NoisyPart]:
    """Yield the integers of every statistic and group."""
    groups = max(1, len(found.groups))
    for each in found.heard:
        if isinstance(each.mechanism, Statistic):
            pairs = list(zip(*each.exact, strict=True))
            for place, pair in enumerate(pairs):
                # A table of bins has several entries for each group, one after the other.
                yield NoisyPart(each.mechanism, place * groups // len(pairs), pair)


def _ratio(law: str, moved: Floats, step: float) -> Floats:
    """Return the logarithm of how much likelier an output is where the integer is `step` higher, in units of noise."""
    if law == "laplace":
        return np.asarray(np.abs(moved) - np.abs(moved - step))
    return np.asarray((moved**2 - (moved - step) ** 2) / 2)


def _chances_ratio(chances: Callable[[Any], Mapping[Any, Chance]], both: tuple[Any, Any], drawn: Floats) -> Floats:
    """Return the same for a choice, from the exact chances of all points."""
    before, after = (chances(each) for each in both)
    points = sorted(before)
    logs = np.array([_log(float(after[point][0]), float(before[point][0])) for point in points])
    return np.asarray(logs[np.searchsorted(np.array(points, dtype=np.float64), drawn[:, 0])])


def _repeated(exact: Any, count: int) -> Any:  # noqa: ANN401  (an integer, or several)
    """Return the exact integers of one group so many times, as Python's own, which do not wrap."""
    once = np.array(exact, dtype=object)
    return np.full(count, once) if once.ndim == 0 else np.tile(once, (count, 1))


def _log(above: float, below: float) -> float:
    if above <= 0 or below <= 0:
        return 0.0 if above == below else math.copysign(_SURE, above - below)
    return max(-_SURE, min(_SURE, math.log(above / below)))
