"""Laws: whether what a release draws follows the laws that its claim rests on, group by group.

The programme that answers is run many times on made-up rows, each time with the draws of a debit of its own. Every
event that is looked at is fixed beforehand, and its probability under the claimed law is known: how often it happened
is binomial, and accuses an honest release with at most the probability that it is given.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ask.programme import Programme
from discreet.lab.audits.release.known_laws import LISTED, ChoiceLaw, EventChance, NoiseLaw, ranked_law, selected_chance
from discreet.lab.audits.release.listener import Ear, Listener, Passage, hearing
from discreet.lab.audits.subject import Output
from discreet.measures.nested_quantiles import NestedQuantiles
from discreet.measures.request import ExactSource
from discreet.mechanisms.contribution_bound import ContributionBound
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.parts.mechanism import Chance
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.top_k import TopK
from discreet.noise.draws import Draws, new_key

Bits = NDArray[np.bool_]

_CELLS = 48  # noisy integers that are looked at one by one; all are looked at together
_ALL_PAIRS = 12  # up to so many, every two are compared; beyond, only those that lie side by side
_MIXED = 4  # choices, and noisy integers, that are compared with each other
_SHOWN = 24  # outcomes of a choice that are looked at one by one


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """An event that was fixed beforehand: how often it happened in so many trials, and how likely it is."""

    words: str
    hits: int
    trials: int
    chance: EventChance

    @property
    def surprise(self) -> float:
        """The probability, under the claimed law, of so many hits or more, or of so few or fewer, at most."""
        from scipy.special import betainc, betaincc

        most = float(betainc(self.hits, self.trials - self.hits + 1, self.chance.high)) if self.hits else 1.0
        few = float(betaincc(self.hits + 1, self.trials - self.hits, self.chance.low))
        return min(most, few if self.hits < self.trials else 1.0)


@dataclass(frozen=True, slots=True)
class LabelDraws:
    """What was drawn at one label in many runs on the same rows: by what, from what, and each result."""

    label: str
    mechanism: Output
    exact: Output
    made: tuple[Output, ...]


class MemorySource:
    """An engine whose findings are remembered, so that a programme can be run on them again and again."""

    def __init__(self, engine: ExactSource) -> None:
        self._engine = engine
        self._found: dict[str, Any] = {}

    def in_order(self, *asked: Any) -> Any:  # noqa: ANN401  (as `ExactSource` has it)
        """Return what the engine found the first time."""
        return self._kept("in_order", asked)

    def people_by_key(self, *asked: Any) -> Any:  # noqa: ANN401
        """Return what the engine found the first time."""
        return self._kept("people_by_key", asked)

    def rows_by_person(self, *asked: Any) -> Any:  # noqa: ANN401
        """Return what the engine found the first time."""
        return self._kept("rows_by_person", asked)

    def counts(self, *asked: Any) -> AbstractContextManager[Any]:  # noqa: ANN401
        """Give a function that counts, and remembers what it counted."""

        @contextmanager
        def lent() -> Iterator[Any]:
            def count(requests: Sequence[Any]) -> Any:  # noqa: ANN401
                place = repr(("counts", asked, list(requests)))
                if place not in self._found:
                    with self._engine.counts(*asked) as counts:
                        self._found[place] = counts(requests)
                return self._found[place]

            yield count

        return lent()

    def _kept(self, name: str, asked: tuple[Any, ...]) -> Any:  # noqa: ANN401
        place = repr((name, asked))
        if place not in self._found:
            self._found[place] = getattr(self._engine, name)(*asked)
        return self._found[place]


def drawn(programme: Programme, engine: ExactSource, script: Mapping[str, Output], runs: int) -> list[LabelDraws]:
    """Run a programme so often, each time with fresh draws, and return what every mechanism made.

    Where keys or a bound are chosen, the programme goes on with those of the `script`, so that all runs are alike. Of
    the points of nested quantiles, around which cells are counted, it goes on with the exact ones, and the same cells
    get noise in every run. What was chosen is kept all the same, beside the noise that was drawn after.
    """
    source, found = MemorySource(engine), dict[str, list[Passage]]()
    with hearing(Listener()) as ear:
        script = {**script, **_points(programme, source, script, ear)}
        for number in range(runs):
            ear.listener = Listener(script, only_made=number > 0)
            programme.drawn(source, Draws(new_key()))
            times: Counter[str] = Counter()
            for each in ear.listener.passages:
                times[each.label] += 1
                found.setdefault(f"{each.label} {times[each.label]}", []).append(each)
    return [LabelDraws(e[0].label, e[0].mechanism, e[0].exact, tuple(p.made for p in e)) for e in found.values()]


def _points(
    programme: Programme, source: ExactSource, script: Mapping[str, Output], ear: Ear
) -> dict[str, tuple[NDArray[np.int64]]]:
    """Return the exact quantiles of every group, in place of points that are drawn; they follow from the rows alone."""
    nested = {each.label for each in programme.asked.measures if isinstance(each, NestedQuantiles)}
    if not nested:
        return {}
    ear.listener = Listener(script)
    programme.drawn(source, Draws(new_key()))
    return {
        each.label: (np.array([_exact_quantiles(each.mechanism[0], values) for values in each.exact], dtype=np.int64),)
        for each in ear.listener.passages
        if each.label in nested and isinstance(each.mechanism, tuple)
    }


def _exact_quantiles(mechanism: Quantile, values: Sequence[int]) -> list[int]:
    grid, last = mechanism.grid, len(values) - 1
    middle = (grid.low + grid.high) // 2
    return sorted(values[min(last, int(q * len(values)))] if values else middle for q in mechanism.quantiles)


def counted(sides: Sequence[Sequence[LabelDraws]], groups: Sequence[Hashable]) -> Iterator[CountedEvent]:
    """Yield every event that is looked at, in what was drawn on several tables."""
    for number, side in enumerate(sides):
        cells: list[NoiseCell] = []
        halves: list[Half] = []
        for each in side:
            match each.mechanism:
                case Statistic():
                    cells += noise_cells(each)
                case KeySelection() as selection:
                    halves += (shown := _shown(each, selection, groups))
                    yield from (CountedEvent(e.words, int(e.happened.sum()), len(each.made), e.chance) for e in shown)
                case tuple() as mechanisms:
                    for group, values in enumerate(each.exact):
                        for place, one in enumerate(mechanisms):
                            points = [int(np.asarray(made[place]).reshape(-1)[group]) for made in each.made]
                            law, words = ranked_law(one, values), f"{each.label}, group {group}"
                            yield from _chosen(words, points, law)
                            halves += _halved(words, points, law)
                case ContributionBound() | TopK() as one if _outcomes(one) <= LISTED:
                    known: Mapping[Any, Chance] = one.chances(each.exact)
                    found = {outcome: (float(low) + float(high)) / 2 for outcome, (low, high) in known.items()}
                    law = ChoiceLaw.listed(found)
                    yield from _chosen(each.label, list(each.made), law)
                    halves += _halved(each.label, list(each.made), law)
        where = "" if number == 0 else f", table {number + 1}"
        yield from _noise(cells, where)
        for first, second in _pairs(halves):
            yield from _together(first, second, where)
        for first, second in product(_spread(halves, _MIXED), [_risen(each) for each in _spread(cells, _MIXED)]):
            yield from _together(first, second, where)


# Noise ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class NoiseCell:
    """One noisy integer: at which label it was drawn, what was added to it in every run, by which law."""

    label: str
    words: str
    law: NoiseLaw
    added: NDArray[Any]


def noise_cells(each: LabelDraws) -> list[NoiseCell]:
    """Return the noise of every integer of every group: what came out less what went in."""
    statistic: Statistic = each.mechanism
    laws = [NoiseLaw.of(noise.law, noise.scale) for noise, size in statistic.noises for _ in range(size)]
    inner = np.array([statistic.inner(group) for group in each.exact], dtype=object).reshape(len(each.exact), -1)
    added = np.array([np.asarray(made, dtype=object) - inner for made in each.made], dtype=object)
    return [
        NoiseCell(each.label, f"{each.label}, group {group}, integer {place}", laws[place], added[:, group, place])
        for group in range(inner.shape[0])
        for place in range(inner.shape[1])
    ]


def _noise(cells: Sequence[NoiseCell], where: str) -> Iterator[CountedEvent]:
    together: dict[NoiseLaw, list[NoiseCell]] = {}
    for cell in cells:
        together.setdefault(cell.law, []).append(cell)
    some = _spread(cells, _CELLS)
    for cell in some:
        yield from law_events(cell.law, cell.added, cell.words + where)
    for law, alike in together.items():
        if len(alike) > 1:
            yield from law_events(law, np.concatenate([c.added for c in alike]), f"all {len(alike)} integers{where}")
    for one, other in _pairs(some):
        yield from _joint(one, other, where)
    if len(some) > _ALL_PAIRS:  # what is drawn first at every label, which other labels may have drawn as well
        firsts = [
            next(each for each in cells if each.label == label) for label in dict.fromkeys(c.label for c in cells)
        ]
        for one, other in _pairs(firsts):
            yield from _joint(one, other, where)


def _spread(things: Sequence[Any], most: int) -> Sequence[Any]:
    """Return things to look at one by one: all of them, or the first, the last and some between."""
    if len(things) <= most:
        return things
    return [things[place] for place in np.linspace(0, len(things) - 1, most).astype(int)]


def law_events(law: NoiseLaw, added: NDArray[Any], words: str) -> Iterator[CountedEvent]:
    """Yield the events that noise of a law is judged by: tails on either side, zero, odd numbers."""
    values, total = added.astype(np.float64), len(added)
    odd = np.array([int(value) % 2 for value in added.tolist()], dtype=bool)
    for threshold in law.thresholds:
        tail = law.tail(threshold)
        yield CountedEvent(f"noise >= {threshold} ({words})", int((values >= threshold).sum()), total, tail)
        yield CountedEvent(f"noise <= -{threshold} ({words})", int((values <= -threshold).sum()), total, tail)
        both = int((np.abs(values) >= threshold).sum())
        yield CountedEvent(f"noise of {threshold} or more, up or down ({words})", both, total, tail.times(2))
    yield CountedEvent(f"noise is odd ({words})", int(odd.sum()), total, law.odd)
    yield CountedEvent(f"noise is 0 ({words})", int((values == 0).sum()), total, law.zero)


def _joint(one: NoiseCell, other: NoiseCell, where: str) -> Iterator[CountedEvent]:
    """Yield what tells that two noises are not independent: both up, both down, one up and the other down."""
    up, down = (
        [each.added >= each.law.usual for each in (one, other)],
        [each.added <= -each.law.usual for each in (one, other)],
    )
    chance = one.law.tail(one.law.usual).and_(other.law.tail(other.law.usual))
    words = f"({one.words} and {other.words}{where})"
    pairs = {"both rise": (up[0], up[1]), "both fall": (down[0], down[1])}
    pairs |= {"the first rises, the other falls": (up[0], down[1]), "the other way round": (down[0], up[1])}
    for text, (first, second) in pairs.items():
        hits = int((first.astype(bool) & second.astype(bool)).sum())
        yield CountedEvent(f"{text} {words}", hits, len(first), chance)


# Choices --------------------------------------------------------------------------------------------------------------


def _outcomes(choice: ContributionBound | TopK) -> int:
    return choice.most if isinstance(choice, ContributionBound) else choice.sequences


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """An event of one choice in every run: whether it happened, and how likely it is."""

    words: str
    happened: Bits
    chance: EventChance


def _shown(each: LabelDraws, selection: KeySelection, groups: Sequence[Hashable]) -> list[Half]:
    """Return of every key whether it was shown."""
    return [
        Half(
            f"the key {group!r} is shown",
            np.array([group in made for made in each.made], dtype=bool),
            selected_chance(selection, int(each.exact.get(group, 0))),
        )
        for group in groups
    ]


def _halved(words: str, outcomes: Sequence[Hashable], law: ChoiceLaw | None) -> list[Half]:
    """Return an event of a choice that is about as likely as not, if there is one."""
    found = None if law is None else law.half()
    if law is None or found is None:
        return []
    last, chance = found
    return [Half(words, law.places(outcomes) <= last, chance)]


def _risen(cell: NoiseCell) -> Half:
    """Return whether noise rose, as an event beside those of choices."""
    usual = cell.law.usual
    return Half(f"noise >= {usual}, {cell.words}", (cell.added >= usual).astype(bool), cell.law.tail(usual))


def _together(one: Half, other: Half, where: str) -> Iterator[CountedEvent]:
    """Yield what tells that two choices are not independent: both events, and one without the other."""
    words, runs = f"({one.words} and {other.words}{where})", len(one.happened)
    first, second = one.happened, other.happened
    yield CountedEvent(f"both happen {words}", int((first & second).sum()), runs, one.chance.and_(other.chance))
    apart = one.chance.and_(other.chance.opposite)
    yield CountedEvent(f"the first happens alone {words}", int((first & ~second).sum()), runs, apart)


def _pairs(some: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield every two of a few; beyond, those that lie side by side."""
    yield from combinations(some, 2) if len(some) <= _ALL_PAIRS else pairwise(some)


def _chosen(words: str, outcomes: Sequence[Hashable], law: ChoiceLaw | None) -> Iterator[CountedEvent]:
    """Yield single outcomes, the likeliest ones together, and thresholds; nothing where the law is not known."""
    if law is None:
        return
    times = law.times(outcomes)
    for text, members, chance in law.events(_SHOWN):
        yield CountedEvent(f"{text} ({words})", int(times[members].sum()), len(outcomes), chance)


def exactly_added(each: Passage) -> str | None:
    """Say what is wrong where a statistic did not add the noise that it was fed, each number to its own integer."""
    statistic: Statistic = each.mechanism
    laws = [(noise.law, noise.scale) for noise, size in statistic.noises for _ in range(size)]
    inner = np.array([statistic.inner(group) for group in each.exact], dtype=object).reshape(len(each.exact), -1)
    fed = [value for part in each.fed for value in part.values]
    if len(fed) != inner.size:
        return f"{inner.size} integers need noise of their own, and {len(fed)} numbers are drawn ({each.label})"
    wanted = np.array(fed, dtype=object).reshape(inner.shape[::-1]).T
    added = np.asarray(each.made, dtype=object) - inner
    if wrong := np.argwhere(added != wanted).tolist():
        group, place = wrong[0]
        what = f"{added[group, place]} is added where {wanted[group, place]} was drawn"
        return f"{what} ({each.label}, group {group}, integer {place})"
    used = used_laws(each)
    if any(name != law for (name, _), (law, _) in zip(used, laws, strict=True)):
        return f"noise of another law is drawn ({each.label})"
    return None


def used_laws(each: Passage) -> list[tuple[str, Fraction]]:
    """Return the function and parameter that the noise of each integer of a group was really asked of."""
    groups = max(1, len(each.exact))
    return [(part.name, part.parameter) for part in each.fed for _ in range(len(part.values) // groups)]


def seen_factor(law: NoiseLaw, runs: int, alarm: float) -> float:
    """Return the factor by which noise would have to be too narrow to be flagged with near certainty in so many draws.

    The count of a threshold event is compared at so many standard deviations as `alarm` and a miss of 1e-3 take.
    """
    from scipy.special import ndtri

    wide = -float(ndtri(alarm))
    for percent in range(98, 4, -2):
        narrow = law.scaled(Fraction(percent, 100))
        for threshold in law.thresholds:
            p, q = law.tail(threshold).low, narrow.tail(threshold).high
            if p - q > (wide * math.sqrt(p * (1 - p)) + 3.3 * math.sqrt(q * (1 - q))) / math.sqrt(runs):
                return percent / 100
    return 0.0
