"""Tracing: tell from published averages whether a person is among those who were averaged.

Homer et al. (2008) found single people in the averages of a mixture of genomes. With d attributes and n people the
score of a member stands about sqrt(d/n) standard deviations above that of an outsider: d = n attributes begin to tell,
and d = 10 n tell nearly everything (Sankararaman et al. 2009; Dwork, Smith, Steinke, Ullman, Vadhan 2015).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.tracing.people import Matrix, Numbers, attributes_of, people, population
from discreet.lab.attacks.tracing.private_answers import least_noise as least_noise
from discreet.lab.attacks.tracing.private_answers import most
from discreet.lab.attacks.tracing.scores import SCORES
from discreet.lab.defence import Defence, ExactDefence, LaplaceDefence, RoundedDefence
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves, GuideLine, Picture
from discreet.lab.table_copy import TableCopy
from discreet.noise.bernoulli import bernoulli

RATE = 1e-3  # of false alarms at which members are counted
MEMBERS, OTHERS = 100, 2000
MANY = 1000  # averages: the Gaussian errs least on so many
_FEW = 8  # people whose averages say nothing about tracing
_CURVE = 200  # points of a curve that is drawn


@dataclass(frozen=True, slots=True, eq=False)
class Tracing:
    """Scores of people who were averaged and of people who were not: high where someone seems to be a member."""

    defence: Defence
    attributes: int
    inside: Numbers
    outside: Numbers
    told: int  # members who score above the outsider they are set against, ties decided by a coin
    made: bool = False

    @property
    def pairs(self) -> int:
        """How many members are set against an outsider, each against another."""
        return min(len(self.inside), len(self.outside))

    @property
    def area(self) -> float:
        """The area under the curve: how often a member scores above an outsider, ties counted half."""
        others = np.sort(self.outside)
        above = np.searchsorted(others, self.inside, "left") + np.searchsorted(others, self.inside, "right")
        return float(above.sum() / (2 * len(self.inside) * len(others)))

    def caught(self, rate: float = RATE) -> float:
        """Return the share of members above a threshold that at most this share of outsiders exceeds."""
        allowed = math.floor(rate * len(self.outside))
        threshold = np.sort(self.outside)[len(self.outside) - allowed - 1]
        return float((self.inside > threshold).mean())

    def curve(self) -> list[tuple[float, float]]:
        """Return points (false alarms, members found), one for each of many thresholds."""
        thresholds = np.unique(np.concatenate([self.inside, self.outside]))[::-1]
        thresholds = thresholds[np.linspace(0, len(thresholds) - 1, min(_CURVE, len(thresholds))).astype(int)]
        inside, outside = np.sort(self.inside), np.sort(self.outside)
        found = 1 - np.searchsorted(inside, thresholds, "left") / len(inside)
        alarms = 1 - np.searchsorted(outside, thresholds, "left") / len(outside)
        return [(0.0, 0.0), *zip(alarms.tolist(), found.tolist(), strict=True)]

    @property
    def outcome(self) -> Outcome:
        """What it means, in words, against a guess and against what was promised."""
        caught, limit = self.caught(), most(self.defence)
        return Outcome(
            attack="tracing",
            target=self.defence.name,
            evidence=Counted(self.told, self.pairs, "members told from an outsider"),
            chance=0.5,
            told=self._told(caught),
            ceiling=limit,
            demonstration=self.made,
            figures={
                "people": len(self.inside),
                "outsiders": len(self.outside),
                "attributes": self.attributes,
                "area": self.area,
                "caught": caught,
                "false_alarms": RATE,
            },
            picture=curves([self]),
        )

    def _told(self, caught: float) -> str:
        few = f"no false alarm among {len(self.outside):,} outsiders"
        alarms = f"one false alarm in {1 / RATE:,.0f}" if RATE * len(self.outside) >= 1 else few
        return (
            f"An attacker who knows people's attributes sees the averages of {self.attributes:,} attributes of "
            f"{len(self.inside)} people ({self.defence.name}). Over all pairs of a member and an outsider the member "
            f"scores higher in {self.area:.1%}, and {caught:.1%} of the members are named with {alarms}."
        )


def tracing(
    members: ArrayLike,
    outsiders: ArrayLike,
    population: ArrayLike,
    defence: Defence | None = None,
    *,
    score: str = "product",
) -> Tracing:
    """Average the attributes of the members, as the defence answers, and score members and outsiders against it.

    Members and outsiders are rows of bits from one population. The attacker knows the attributes of whom they look for,
    and of the population either the frequencies (a vector) or other people (rows of bits). Scores are "product", the
    inner product of Dwork et al. (2015) with every attribute in units of its spread; "likelihood", the ratio of
    Sankararaman et al. (2009); and "whitened", the product for correlated attributes, which needs other people.
    """
    inside, outside = _rows("members", members), _rows("outsiders", outsiders)
    known = np.asarray(population)
    known = known.astype(np.float64) if known.ndim == 1 else _rows("population", known)
    for name, given in (("outsiders", outside), ("population", known)):
        if given.shape[-1] != inside.shape[1]:
            why = f"members have {inside.shape[1]} attributes, and it has {given.shape[-1]}"
            raise BadParameter(name, given.shape, why=why, fix="give everyone the same attributes")
    if score not in SCORES:
        raise UnknownName("score", score, SCORES)
    chosen = defence or ExactDefence()
    # Anyone who has attribute j is the group of question j: each member moves each answer by at most one.
    target = chosen.protect(np.ones(len(inside), np.int64), inside.shape[1])
    answers = target.sums(inside.T) / len(inside)
    heard = ~np.isnan(answers)
    scored = SCORES[score](answers[heard], known[..., heard], len(inside))
    scores = scored(inside[:, heard]), scored(outside[:, heard])
    return Tracing(chosen, inside.shape[1], *scores, _told_apart(*scores))


def _told_apart(inside: Numbers, outside: Numbers) -> int:
    """Count the members who score above an outsider of their own: trials of which answers that tell nothing win half.

    Members and outsiders come from one population. If the answers do not depend on who of a pair was averaged, a coin
    has decided that, so the count is binomial at 1/2 exactly.
    """
    pairs = min(len(inside), len(outside))
    one, other = inside[:pairs], outside[:pairs]
    coin = np.asarray(bernoulli(1 / 2, pairs)) == 1
    return int(((one > other) | ((one == other) & coin)).sum())


def made(defence: Defence | None = None, *, members: int = MEMBERS, attributes: int = 10_000) -> Tracing:
    """Trace made-up people with so many independent attributes, whose frequencies the attacker knows."""
    frequencies = population(attributes)
    found = tracing(people(members, frequencies), people(OTHERS, frequencies), frequencies, defence)
    return replace(found, made=True)


def climb(
    defences: Sequence[Defence], sizes: Sequence[int] = (10, 100, 1000, 10_000), *, members: int = MEMBERS
) -> Curves:
    """Draw the area against the number of attributes that are averaged, for each defence."""
    series = [
        (each.name, [(float(size), made(each, members=members, attributes=size).area) for size in sizes])
        for each in defences
    ]
    title = f"Tracing one of {members} people from averages"
    limits = [GuideLine(0.5, "a guess")]
    return Curves(title, series, "attributes averaged", "area under the curve", limits, logarithmic="x", reach=(0.4, 1))


def curves(results: Sequence[Tracing]) -> Picture:
    """Draw the curves of several defences into one picture."""
    series = [(f"{each.defence.name} ({each.area:.2f})", each.curve()) for each in results]
    guess = ("a guess (0.50)", [(0.0, 0.0), (1.0, 1.0)])
    title = f"Who was averaged? {results[0].attributes:,} attributes, {len(results[0].inside)} people"
    return Curves(title, [*series, guess], "outsiders taken for members", "members found", reach=(0, 1.02))


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "people enough for two crowds, and values that some of them have and others have not"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Trace people of a copy: half of them, 100 at most, are averaged, and others are known to the attacker."""
    answering: list[Defence] = [ExactDefence(), RoundedDefence(5), LaplaceDefence(1), least_noise(MANY)]
    results = traced(copied, answering, say=say)
    return together(results) if results else []


def traced(
    copied: TableCopy,
    defences: Sequence[Defence],
    *,
    members: int = MEMBERS,
    say: Callable[[str], None] = lambda _: None,
) -> list[Tracing]:
    """Trace people of a copy behind each defence; none where there are too few of them, or nothing to average."""
    everyone = copied.people()
    order = coins().permutation(everyone.rows)
    size = min(members, everyone.rows // 2)
    bits = attributes_of(everyone.taken(order[: size + 2 * OTHERS]))
    if size < _FEW or not bits.shape[1]:
        return []
    rest = (len(bits) - size) // 2
    inside, outside, others = bits[:size], bits[size : size + rest], bits[size + rest :]
    results = []
    for each in defences:
        say(f"{bits.shape[1]} averages of {size} people: {each.name}")
        results.append(tracing(inside, outside, others, each, score="whitened"))
    return results


def together(results: Sequence[Tracing]) -> list[Outcome]:
    """Return the outcomes of several defences; each shows the curves of all of them."""
    return [replace(each.outcome, picture=curves(results)) for each in results]


def _rows(name: str, bits: ArrayLike) -> Matrix:
    found = np.asarray(bits)
    if found.ndim != 2 or not found.size or (found.dtype != bool and not np.isin(found, (0, 1)).all()):
        why = "it is not a table of bits, a row for each person"
        raise BadParameter(name, found.shape, why=why, fix="give 0 or 1 for each attribute of each person")
    return found.astype(bool)
