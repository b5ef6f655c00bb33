"""Intersection: two releases, each of them k-anonymous, and what is left possible for a person who is in both.

"Two hospitals" publish their patients, generalized so that each looks like k - 1 others. Anyone who knows that someone
went to both looks up the class in each, and intersects the sensitive values: few are in both (Ganta, Kasiviswanathan
and Smith 2008). Neither hospital can know, since it depends on what the other publishes.

Differential privacy composes: two releases at epsilon each promise 2 epsilon about anyone who is in both, whatever the
other one is. No value is ruled out, and no guess of a person's value is right more than e^(2 epsilon) times as often as
it would be from the same two releases without that person. Between two values of theirs, of which a coin decides, a
guess is right with probability e^(4 epsilon)/(1 + e^(4 epsilon)) at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, positive
from discreet.core.errors import BadParameter
from discreet.lab import attacker_choice
from discreet.lab.attacks.intersection.lookup import looked_up, met
from discreet.lab.attacks.intersection.mondrian import MondrianRelease, mondrian, release_of
from discreet.lab.defence import ceiling
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars
from discreet.lab.table_copy import Bits, TableCopy
from discreet.mechanisms.laplace import Laplace
from discreet.noise.uniform import uniform

__all__ = ["Intersection", "Release", "expose", "hospitals", "intersection", "mondrian", "noisy", "release_of"]

Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]
_TRIES = 500
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
        return Outcome(
            attack="intersection",
            target=self.target,
            evidence=Counted(
                sum(both == 1 for both in self.together), self.people, f"people for whom one {self.sensitive} is left"
            ),
            chance=self.disclosed_alone,
            told=f"Of {self.people:,} people in both releases, {self.narrowed:.1%} have fewer possible values of "
            f"{self.sensitive} in both together than in either; chance is how many the better of the two releases "
            f"leaves one value by itself.{self._guesses()}",
            figures={
                "people": self.people,
                "narrowed": self.narrowed,
                "disclosed": self.disclosed,
                "disclosed_alone": self.disclosed_alone,
                "guessed_right": self.right,
                "guessed_right_without_the_person": self.expected,
            },
            picture=self.picture,
        )

    def _guesses(self) -> str:
        if self.right is None or self.expected is None or not self.people:
            return ""
        right, expected = self.right / self.people, self.expected / self.people
        return f" The likeliest value is right for {right:.1%}, and for {expected:.1%} had they stayed away."

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

    In each try the attacker knows everyone but one person in both, and of that person two values, of which a coin has
    decided: the one with more people left over is the guess.

    Guarantee: pure epsilon for each hospital and one row more or less, so 4 epsilon for a value that is exchanged in
    both: no guess between two values is right more often than e^(4 epsilon)/(1 + e^(4 epsilon)).
    """
    people, (one, other) = _split(copied)
    groups, values = people.codes([group]), people.codes([sensitive])
    shape = int(groups.max()) + 1, int(values.max()) + 1
    noise = Laplace(epsilon=positive("epsilon", epsilon))
    counts = [_histogram(groups[each], values[each], shape) for each in (one, other)]
    shared = np.flatnonzero(one & other)
    tries = _TRIES if len(shared) and shape[1] > 1 else 0
    right = 0
    for _ in range(tries):
        person = int(shared[uniform(len(shared))])
        place, own = int(groups[person]), int(values[person])
        wrong = (own + 1 + uniform(shape[1] - 1)) % shape[1]
        left = np.sum([np.asarray(noise.release(each), np.int64) - each for each in counts], axis=0)[place]
        apart = int(left[own] + 2 - left[wrong])  # the person is in both counts of their own value
        right += apart > 0 or (apart == 0 and uniform(2) == 1)
    each = float(epsilon)
    return Outcome(
        attack="intersection",
        target=f"Discreet, epsilon {each:g} for each release",
        evidence=Counted(right, tries, f"tries that told a {sensitive} from another one"),
        chance=0.5,
        told=f"Two noisy releases count {sensitive} by {group}. Every value stays possible for each of {len(shared):,} "
        f"people in both, and the promises add up to epsilon {2 * each:g} for anyone who is in both.",
        ceiling=ceiling(4 * each),
        figures={"people": len(shared), "narrowed": 0.0, "disclosed": 0.0, "epsilon": 2 * each},
    )


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "30 people, a column of several values, and another one in which people differ"


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
