"""Intersection: two releases, each of them k-anonymous, and what is left possible for a person who is in both.

"Two hospitals" publish their patients, generalized so that each looks like k - 1 others. Anyone who knows that someone
went to both looks up the class in each, and intersects the sensitive values: few are in both (Ganta, Kasiviswanathan
and Smith 2008). Neither hospital can know, since it depends on what the other publishes.

Differential privacy composes: two releases at epsilon each promise 2 epsilon about anyone who is in both, whatever the
other one is. No value is ruled out, and no guess of a person's value is right more than e^(2 epsilon) times as often as
it would be from the same two releases without that person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, positive
from discreet.core.errors import BadParameter
from discreet.lab import attacker_choice
from discreet.lab.attacks.intersection.lookup import looked_up, met
from discreet.lab.attacks.intersection.mondrian import MondrianRelease, mondrian, release_of
from discreet.lab.outcome import Outcome
from discreet.lab.picture import Bars
from discreet.lab.table_copy import Bits, TableCopy
from discreet.mechanisms.laplace import Laplace
from discreet.noise.uniform import uniform

__all__ = ["Intersection", "Release", "expose", "hospitals", "intersection", "mondrian", "noisy", "release_of"]

Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]
_FEWEST = 30  # people, of whom each hospital has two thirds


@dataclass(frozen=True, slots=True)
class Intersection:
    """What two releases leave possible for people who are in both.

    `alone` has for each of them how many sensitive values the better of the two releases leaves by itself, `together`
    how many are in both; `right` says how many of them a guess got right, and `expected` how many it gets right from
    the same releases without the person, where the truth is known.
    """

    sensitive: str
    target: str
    alone: tuple[int, ...]
    together: tuple[int, ...]
    right: float | None = None
    expected: float | None = None

    @property
    def people(self) -> int:
        """How many people were looked up."""
        return len(self.together)

    @property
    def narrowed(self) -> float:
        """The share for whom both releases leave fewer values than either does."""
        return sum(both < one for one, both in zip(self.alone, self.together, strict=True)) / max(1, self.people)

    @property
    def disclosed(self) -> float:
        """The share for whom a single value is left."""
        return sum(both == 1 for both in self.together) / max(1, self.people)

    @property
    def disclosed_alone(self) -> float:
        """The share for whom one of the releases leaves a single value by itself."""
        return sum(one == 1 for one in self.alone) / max(1, self.people)

    @property
    def outcome(self) -> Outcome:
        """The attack on the two releases, in a sentence and a picture."""
        success = self.disclosed if self.right is None else self.right / max(1, self.people)
        chance = self.disclosed_alone if self.expected is None else self.expected / max(1, self.people)
        return Outcome(
            attack="intersection",
            target=self.target,
            broken=self.narrowed > 0.5 or self.disclosed > self.disclosed_alone,
            success=success,
            chance=chance,
            sentence=f"Of {self.people:,} people in both releases, {self.narrowed:.1%} have fewer possible values of "
            f"{self.sensitive} in both together than in either, and {self.disclosed:.1%} have one left, where a single "
            f"release leaves one to {self.disclosed_alone:.1%}.",
            figures={
                "people": self.people,
                "narrowed": self.narrowed,
                "disclosed": self.disclosed,
                "disclosed_alone": self.disclosed_alone,
            },
            picture=self.picture,
        )

    @property
    def picture(self) -> Bars:
        """How many people have one value left, two, three and so on."""
        sizes = np.bincount(np.array([*self.together, 0]), minlength=2)[1:]
        return Bars(
            title=f"Values of {self.sensitive} that two releases leave possible: {self.target}",
            names=[f"{size} left" for size in range(1, len(sizes) + 1)],
            values=[int(count) / max(1, self.people) for count in sizes],
            label="people in both releases",
            kinds=["bad", *["plain"] * (len(sizes) - 1)],
            percent=True,
        )


def intersection(
    first: MondrianRelease,
    second: MondrianRelease,
    people: Sequence[Sequence[object]] | None = None,
    truth: Sequence[str] | None = None,
) -> Intersection:
    """Intersect two releases, for people whose exact values in the columns `quasi` are known.

    Without people, everyone is taken who may be in both: one for each pair of classes that meet. With `truth`, their
    sensitive values, the attack also guesses, and is marked.
    """
    if first.quasi != second.quasi:
        why = f"the releases generalize {first.quasi} and {second.quasi}"
        raise BadParameter("quasi", list(second.quasi), why=why, fix="name the columns that both have, in one order")
    pairs = met(first, second) if people is None else looked_up(first, second, people)
    alone, together, right, expected = [], [], 0.0, 0.0
    for place, (one, other) in enumerate(pairs):
        both = one.keys() & other.keys()
        if not both:  # nobody with these values is in both releases
            continue
        alone.append(min(len(one), len(other)))
        together.append(len(both))
        if truth is not None:
            value = truth[place]
            right += _guessed({each: one[each] * other[each] for each in both}, value)
            without = {each: (one[each] - (each == value)) * (other[each] - (each == value)) for each in both}
            expected += _guessed(without, value)
    target = f"k-anonymous, k = {first.least} and {second.least}"
    if min(first.diversity, second.diversity) > 1:
        target += f", l = {min(first.diversity, second.diversity)}"
    known = truth is not None
    return Intersection(
        first.sensitive, target, tuple(alone), tuple(together), right if known else None, expected if known else None
    )


def hospitals(
    copied: TableCopy, quasi: Sequence[str], sensitive: str, k: int = 5, *, diversity: int = 1
) -> Intersection:
    """Cut the people of a table into two hospitals that share a third of them, release both, and intersect."""
    people, (one, other) = _split(copied)
    first, _ = mondrian(people.taken(one), quasi, sensitive, k, diversity=diversity)
    second, _ = mondrian(people.taken(other), quasi, sensitive, k, diversity=diversity)
    shared = people.taken(one & other)
    known = list(zip(*(attacker_choice.plain(shared.column(name)) for name in quasi), strict=True))
    return intersection(first, second, known, [str(value) for value in attacker_choice.plain(shared.column(sensitive))])


def noisy(copied: TableCopy, group: str, sensitive: str, epsilon: Number = 0.5) -> Outcome:
    """Let both hospitals publish noisy histograms of the sensitive value in every group instead, and guess from both.

    Guarantee: pure epsilon for each hospital, and 2 epsilon for a person who is in both: no guess of their value is
    right more than e^(2 epsilon) times as often as from the same releases without them.
    """
    people, (one, other) = _split(copied)
    groups, values = people.codes([group]), people.codes([sensitive])
    shape = int(groups.max()) + 1, int(values.max()) + 1
    noise = Laplace(epsilon=positive("epsilon", epsilon))
    counts = [_histogram(groups[each], values[each], shape) for each in (one, other)]
    seen = np.sum([np.asarray(noise.release(each), np.int64) for each in counts], axis=0)
    shared = one & other
    rows, own = seen[groups[shared]], values[shared]
    right = float((rows.argmax(1) == own).mean())
    rows[np.arange(len(rows)), own] -= 2  # the same noise without the person: what others reveal them
    without = float((rows.argmax(1) == own).mean())
    each, number = float(epsilon), int(shared.sum())
    most = min(1.0, math.exp(2 * each) * without)
    return Outcome(
        attack="intersection",
        target=f"Discreet, epsilon {each:g} for each release",
        broken=right > (1 + without) / 2,
        success=right,
        chance=without,
        ceiling=most,
        sentence=f"From two noisy releases the best guess of {sensitive} is right for {right:.1%} of {number:,} "
        f"people in both, and for {without:.1%} had they stayed away; every value stays possible for each of them, and "
        f"the promises add up to epsilon {2 * each:g}.",
        figures={"people": number, "narrowed": 0.0, "disclosed": 0.0, "epsilon": 2 * each},
    )


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Cut the table into two hospitals and intersect what they publish: k-anonymous, diverse too, and with noise."""
    people = attacker_choice.crowd(copied)
    sensitive = attacker_choice.sensitive(people)
    quasi = attacker_choice.known(people, sensitive) if sensitive is not None else []
    if sensitive is None or not quasi or people.rows < _FEWEST:
        return []
    outcomes = []
    for diversity in (1, 2):
        say(f"intersection: {sensitive}, k = 5{', l = 2' if diversity > 1 else ''}")
        try:
            outcomes.append(hospitals(people, quasi, sensitive, 5, diversity=diversity).outcome)
        except BadParameter:  # a half of the table has too few people, or too few values
            continue
    say(f"intersection: {sensitive}, Discreet")
    smallest = min(quasi, key=lambda name: int(people.codes([name]).max()))
    return [*outcomes, noisy(people, smallest, sensitive)]


def _split(copied: TableCopy) -> tuple[TableCopy, Masks]:
    """Send a third of the people to one hospital, a third to the other, and a third to both."""
    people = copied.people()
    where = np.asarray(uniform(3, people.rows))
    return people, (where != 1, where != 0)


def _histogram(groups: Bits, values: Bits, shape: tuple[int, int]) -> Bits:
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, (groups, values), 1)
    return counts


def _guessed(weights: dict[str, int], truth: str) -> float:
    """Return the probability that the most likely value, or one of those that are, is the truth."""
    best = max(weights.values())
    best_values = [value for value, weight in weights.items() if weight == best]
    return (truth in best_values) / len(best_values)
