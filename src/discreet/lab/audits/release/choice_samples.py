"""Choice samples: the choices that a release makes, made many times over on made-up numbers, in groups that are alike.

What a release chooses depends on its rows, and a choice that is nearly certain shows little. Here the same mechanisms
choose where they are undecided, in so many groups at once that a choice which is a little too sure shows, and so do
groups that share their coins.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.lab.audits.release.known_laws import EventChance, ranked_law, selected_chance
from discreet.lab.audits.release.laws import CountedEvent
from discreet.mechanisms.joint_quantiles import search_together
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.parts.refinement import Cells, RefinementRequest
from discreet.mechanisms.quantile import Quantile

_LEAST_GROUPS = 50
# About how often a key is shown that so many have, and on how many times as many keys that is looked at: where keys are
# as likely shown as not, one person more or less moves the chance most: at a small epsilon by less than a hundredth.
_OFTEN = {0.2: 1, 0.5: 4, 0.8: 1}
_EVENTS = 8  # single outcomes that are looked at


def choice_events(mechanism: object, samples: int) -> Iterator[CountedEvent]:
    """Yield what is looked at when a mechanism that chooses is used on groups that are alike.

    Guarantee: every event, and its probability under the claimed law, is fixed before anything is drawn.
    """
    match mechanism:
        case KeySelection() as selection:
            for people, times in _undecided(selection).items():
                yield from _selected(selection, people, times * samples)
        case tuple() as bought if all(isinstance(each, Quantile) and len(each.quantiles) == 1 for each in bought):
            yield from _ranked(bought, max(_LEAST_GROUPS, samples // 100))


def _undecided(selection: KeySelection) -> dict[int, int]:
    """Return how many people a key needs to be shown about so often, and how many times as many such keys there are."""
    found: dict[int, int] = {}
    for often, times in _OFTEN.items():
        enough = (many for many in range(selection.threshold + 1) if float(selection.probability(many)) >= often)
        people = next(enough)
        found[people] = max(times, found.get(people, 0))
    return found


def _selected(selection: KeySelection, people: int, samples: int) -> Iterator[CountedEvent]:
    """Select among many keys of equally many people."""
    count = samples - samples % 2
    chosen = {*selection.release(dict.fromkeys(range(count), people))}
    shown = np.array([key in chosen for key in range(count)], dtype=bool)
    chance, words = selected_chance(selection, people), f"keys of {people} people"
    yield CountedEvent(f"{words} are shown", int(shown.sum()), count, chance)
    yield from _side_by_side(words, shown, chance)


def _ranked(bought: Sequence[Quantile], groups: int) -> Iterator[CountedEvent]:
    """Choose in groups with the same two values, as far apart as the grid has."""
    grid = bought[0].grid
    # As many at each end as one unit has: a choice of one rank more or less is then far from certain.
    values = sorted([grid.low, grid.high] * max(2, 2 * bought[0].contributions))
    for at, chosen in enumerate(search_together(bought, _counting(values), groups)):
        law, points = ranked_law(bought[at], values), chosen.reshape(-1).tolist()
        if law is None:
            continue
        words = f"choice {at + 1} of {len(bought)} in groups that are alike"
        times = law.times(points)
        for text, members, chance in law.events(_EVENTS):
            yield CountedEvent(f"{text} ({words})", int(times[members].sum()), groups, chance)
        if (half := law.half()) is not None:
            yield from _side_by_side(words, law.places(points) <= half[0], half[1])


def _side_by_side(words: str, happened: Any, chance: EventChance) -> Iterator[CountedEvent]:  # noqa: ANN401  (an array)
    """Yield what tells that two groups side by side share their coins."""
    first, second = happened[0 : len(happened) // 2 * 2 : 2], happened[1::2]
    both, apart = chance.and_(chance), chance.and_(chance.opposite)
    yield CountedEvent(f"side by side, both ({words})", int((first & second).sum()), len(first), both)
    yield CountedEvent(f"side by side, the first alone ({words})", int((first & ~second).sum()), len(first), apart)


def _counting(values: Sequence[int]) -> Any:  # noqa: ANN401  (`Counts`, whose own groups do not matter here)
    """Answer requests about groups that all have the same values."""

    def counts(requests: list[RefinementRequest]) -> Cells:
        known: dict[Hashable, dict[int, int]] = {}
        found = []
        for request in requests:
            place = request[1:]
            if place not in known:
                cells = [(value - request.low) // request.width for value in values]
                known[place] = {cell: cells.count(cell) for cell in cells if 0 <= cell < request.cells}
            found.append(known[place])
        return found

    return counts
