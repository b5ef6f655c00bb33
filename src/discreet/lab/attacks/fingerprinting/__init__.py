"""Fingerprinting: code words from which a copy that a coalition mixed together tells one of its members.

Tardos (2003) found codes of length O(c^2 log(n/rate)) against c of n users, the shortest that there can be. The score
here is the symmetric one of Skoric, Katzenbeisser and Celik (2008), which learns from zeros as well as from ones and
needs about pi^2/2 c^2 ln(n/rate) positions where Tardos's own asks for 100 c^2 ln(n/rate).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.account.numeric.checks import probability, whole
from discreet.core.errors import BadParameter
from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.fingerprinting.pirates import pirate
from discreet.lab.attacks.tracing.people import Matrix, Numbers
from discreet.lab.attacks.tracing.private_answers import least_noise
from discreet.lab.defence import DELTA, Defence, ExactDefence, GaussianDefence, LaplaceDefence, RoundedDefence
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves, GuideLine
from discreet.lab.table_copy import TableCopy

RATE = 1e-6  # at which any innocent user at all is accused
_CUT = 300  # biases stay 1/(300 c) away from 0 and 1 (Tardos 2003)


@dataclass(frozen=True, slots=True, eq=False)
class FingerprintCode:
    """A word of bits for each user, drawn with a secret bias for each position; `rate` bounds false accusations."""

    biases: Numbers
    words: Matrix
    rate: float = RATE

    @classmethod
    def make(cls, users: int, coalition: int, *, length: int | None = None, rate: float = RATE) -> FingerprintCode:
        """Draw a code against coalitions of so many users, of the length that catches them unless one is given."""
        whole("users", users)
        size = length_of(users, coalition, rate) if length is None else whole("length", length)
        edge = math.asin(math.sqrt(1 / (_CUT * coalition)))
        # The arcsine law: biases near 0 and 1 are frequent, where one user alone differs from all others.
        biases = np.sin(edge + (math.pi / 2 - 2 * edge) * coins().random(size)) ** 2
        return cls(biases, coins().random((users, size)) < biases, rate)

    def scores(self, copy: Matrix) -> Numbers:
        """Return the score of every user: a match counts the more, the rarer it is; a mismatch counts against."""
        # Of a one in the copy: sqrt((1-p)/p) for users who have it, -sqrt(p/(1-p)) for others; mirrored for a zero.
        rare, frequent = self._marks()
        sign = np.where(copy, 1.0, -1.0)
        return np.asarray(self.words @ (sign * (rare + frequent)) - float(sign @ frequent))

    def threshold(self, copy: Matrix) -> float:
        """Return what no innocent user's score exceeds, but with probability `rate` for all of them together.

        Guarantee: given the biases and the copy, the symbols of a user who had no part in it are independent, and
        Chernoff's bound with the moments of exactly these symbols holds for every multiplier; the best is taken.
        """
        rare, frequent = self._marks()
        sign = np.where(copy, 1.0, -1.0)
        wanted = math.log(len(self.words) / self.rate)
        multipliers = np.geomspace(0.2, 5, 41) * math.sqrt(2 * wanted / len(self.biases))
        grown = (
            np.log(self.biases * np.exp(by * sign * rare) + (1 - self.biases) * np.exp(-by * sign * frequent)).sum()
            for by in multipliers
        )
        return float(min((wanted + each) / by for each, by in zip(grown, multipliers, strict=True)))

    def accused(self, copy: Matrix) -> tuple[int, ...]:
        """Return the users whose score no innocent one would have."""
        return tuple(np.flatnonzero(self.scores(copy) > self.threshold(copy)).tolist())

    def _marks(self) -> tuple[Numbers, Numbers]:
        odds = np.sqrt((1 - self.biases) / self.biases)
        return odds, 1 / odds


def length_of(users: int, coalition: int, rate: float = RATE) -> int:
    """Return a length that catches a coalition: pi^2 (c^2 + 2c) ln(n/rate).

    Half of pi^2 c^2 ln(n/rate) lifts the average member to the threshold, which is enough to catch one of many (Skoric
    et al. 2008); twice that catches nearly all of them. The 2c pay for the cut of the biases in small coalitions.
    """
    size = whole("coalition", coalition)
    if not 0 < probability("rate", rate) < 1:
        why = "no finite threshold keeps every innocent safe, and a rate of 1 keeps none"
        raise BadParameter("rate", rate, why=why, fix="use a small rate, such as 1e-6")
    return math.ceil(math.pi**2 * (size**2 + 2 * size) * math.log(whole("users", users) / rate))


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprinting:
    """What a copy told of those who mixed it: the users in the coalition, and those accused."""

    pirate: str
    code: FingerprintCode
    coalition: tuple[int, ...]
    copy: Matrix
    scores: Numbers
    threshold: float
    defence: Defence | None = None

    @property
    def accused(self) -> tuple[int, ...]:
        """Who is accused: all whose score exceeds the threshold."""
        return tuple(np.flatnonzero(self.scores > self.threshold).tolist())

    @property
    def kept(self) -> float:
        """The share of positions, among those where all members agree, that the copy kept: the marking assumption."""
        words = self.code.words[[*self.coalition]]
        same = words.all(axis=0) | ~words.any(axis=0)
        return float((self.copy[same] == words[0, same]).mean()) if same.any() else 1.0

    @property
    def ceiling(self) -> float | None:
        """How likely a row of a private table can be accused: hardly more than if it were in no table at all.

        Were a member exchanged for a user outside, each count would move by at most one and the member be innocent:
        accused with probability at most rate/n, and so, in the table, exp(epsilon) rate/n + delta.
        """
        if self.defence is None or self.defence.epsilon is None:
            return None
        delta = DELTA if isinstance(self.defence, GaussianDefence) else 0.0
        return min(1.0, math.exp(self.defence.epsilon) * self.code.rate / len(self.code.words) + delta)

    @property
    def outcome(self) -> Outcome:
        """What it means: every member of the coalition who is accused is a row that leaked."""
        guilty, named = {*self.coalition}, self.accused
        right = len(guilty.intersection(named))
        return Outcome(
            attack="fingerprinting",
            target=self.pirate,
            evidence=Counted(right, len(guilty), "members of the coalition who are accused"),
            chance=self.code.rate / len(self.code.words),
            told=self._told(len(named) - right),
            ceiling=self.ceiling,
            demonstration=True,
            figures={
                "users": len(self.code.words),
                "coalition": len(guilty),
                "length": len(self.code.biases),
                "accused": len(named),
                "innocents_accused": len(named) - right,
                "unanimous_kept": self.kept,
                "threshold": self.threshold,
            },
            picture=self._picture(),
        )

    def _told(self, wrong: int) -> str:
        users, size, length = len(self.code.words), len(self.coalition), len(self.code.biases)
        mixed = (
            f"The shares of {length:,} attributes among {size} people ({self.pirate})"
            if self.defence
            else f"A copy that {size} of {users} users mixed out of their words of {length:,} bits ({self.pirate})"
        )
        verb = "are scored" if self.defence else "is scored"
        lost = f"; {1 - self.kept:.0%} of what all of them share was lost in the noise" if self.kept < 1 else ""
        return f"{mixed} {verb} against everyone's words, and {wrong or 'no'} innocent users are accused{lost}."

    def _picture(self) -> Curves:
        order = np.argsort(self.scores)
        guilty = np.isin(order, self.coalition)
        ranked = list(enumerate(self.scores[order].tolist()))
        series = [
            ("innocent", [point for point, bad in zip(ranked, guilty, strict=True) if not bad]),
            ("in the coalition", [point for point, bad in zip(ranked, guilty, strict=True) if bad]),
        ]
        line = GuideLine(self.threshold, f"no innocent beyond, but once in {1 / self.code.rate:,.0f}")
        dots = frozenset(name for name, _ in series)
        return Curves(f"Whose copy is it? {self.pirate}", series, "users, by their score", "score", [line], dots)


def fingerprinting(
    users: int = 100,
    coalition: int = 10,
    strategy: str | Defence = "majority",
    *,
    length: int | None = None,
    rate: float = RATE,
) -> Fingerprinting:
    """Give every user a word, let a coalition mix a copy, and accuse anyone who has too much in common with it.

    A strategy is "majority", "minority", "coin", "member" or "ones"; or a defence that answers, for each position, how
    many of the coalition have a one there. At most one run in 1/rate accuses an innocent, whatever the pirate does.
    """
    if not 1 <= whole("coalition", coalition) <= whole("users", users):
        fix = f"let at most all {users} users join"
        raise BadParameter("coalition", coalition, why="a coalition is made of users", fix=fix)
    name, mix = pirate(strategy)
    code = FingerprintCode.make(users, coalition, length=length, rate=rate)
    members = tuple(sorted(coins().permutation(users)[:coalition].tolist()))
    copy = mix(code.words[[*members]])
    defence = None if isinstance(strategy, str) else strategy
    return Fingerprinting(name, code, members, copy, code.scores(copy), code.threshold(copy), defence)


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "two people"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Mark as many made-up people as the copy has, 100 at most, publish shares of ten of them, and accuse."""
    users = min(100, copied.people().rows)
    if users < 2:
        return []
    coalition = min(10, users // 2)
    length = length_of(users, coalition)
    outcomes = []
    for each in ("majority", ExactDefence(), RoundedDefence(2), LaplaceDefence(1), least_noise(length)):
        say(f"shares of {length:,} marked attributes: {each if isinstance(each, str) else each.name}")
        outcomes.append(fingerprinting(users, coalition, each).outcome)
    return outcomes
