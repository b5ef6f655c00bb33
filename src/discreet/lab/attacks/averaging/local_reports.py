"""Averaging a survey: the same people are asked the same question again, with fresh coins or with remembered ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.account.numeric.checks import Number, whole
from discreet.core.errors import BadParameter
from discreet.lab.attacks.averaging.majority import majority
from discreet.lab.defence import ceiling
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves
from discreet.lab.table_copy import Bits, TableCopy
from discreet.local.protocol import Client
from discreet.local.protocols.randomized_response import RandomizedResponse, randomized_response
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform

_PEOPLE = 400


@dataclass(frozen=True, slots=True)
class Surveyed:
    """People who answered by randomized response so many times, and how many of them the majority gave away."""

    epsilon: float
    times: int
    people: int
    right: int
    memo: bool

    @property
    def total(self) -> float:
        """What the answers of one person cost together: all of them, or the one that is remembered."""
        return self.epsilon if self.memo else self.times * self.epsilon

    @property
    def success(self) -> float:
        """The share of people whose answer was guessed."""
        return self.right / self.people

    @property
    def computed(self) -> float:
        """The probability that the majority is right, exactly."""
        return majority(self.epsilon, 1 if self.memo else self.times)

    @property
    def outcome(self) -> Outcome:
        """The attack on the survey, in a sentence and a picture."""
        coins = "the coins thrown once and remembered" if self.memo else "fresh coins each time"
        counts = sorted({*range(1, self.times + 1, 2), self.times})
        return Outcome(
            attack="averaging",
            target="survey, remembered answers" if self.memo else "survey, fresh coins each time",
            evidence=Counted(self.right, self.people, "people whose majority of answers was the truth"),
            chance=0.5,
            told=f"Asked {self.times} times with {coins}, {self.people} people paid epsilon {self.total:.3g} each; the "
            f"majority is right with {self.computed:.2%} (computed).",
            ceiling=ceiling(self.total),
            figures={"times": self.times, "epsilon": self.total, "computed": self.computed, "people": self.people},
            picture=Curves(
                title=f"A survey at epsilon {self.epsilon:.3g}, asked again",
                series=(
                    ("fresh coins", [(k, majority(self.epsilon, k)) for k in counts]),
                    ("remembered answers", [(k, majority(self.epsilon, 1)) for k in counts]),
                ),
                across="times asked",
                up="the majority is the truth",
                reach=(0.45, 1.02),
            ),
        )


def surveyed(
    copied: TableCopy,
    secret: str,
    truth: Number = Fraction(3, 4),
    times: int = 21,
    *,
    value: object = None,
    memo: bool = False,
) -> Surveyed:
    """Ask people by randomized response whether `secret` is `value`, so many times, and take the majority of each.

    With two coins the truth is told with probability 3/4, which is ln 3. A memo is the fix: a client that remembers
    its answer repeats it, and says nothing new.

    Guarantee: with a memo, that of one answer; without one, `times` times as much.
    """
    protocol = randomized_response(truth=truth)
    bits = copied.people().bits(secret, value)
    bits = _fair(bits)
    asked = whole("times", times)
    answered = _remembered if memo else _fresh
    counted = np.array([answered(protocol, int(bit), asked) for bit in bits], np.int64)
    guesses = np.where(2 * counted == asked, bernoulli(1 / 2, len(bits)), 2 * counted > asked)
    return Surveyed(float(protocol.epsilon), asked, len(bits), int((guesses == bits).sum()), memo)


def _fair(bits: Bits) -> Bits:
    """Choose people such that every bit is a fair coin's; with repetitions, as few rows make a survey too."""
    places = [np.flatnonzero(bits == bit) for bit in (0, 1)]
    if not all(map(len, places)):
        why = "everyone has the same bit, so there is nothing to learn"
        raise BadParameter("secret", int(bits[0]) if len(bits) else None, why=why, fix="choose another column or value")
    coins = np.asarray(bernoulli(1 / 2, _PEOPLE), np.int64)
    return bits[[places[bit][uniform(len(places[bit]))] for bit in coins.tolist()]]


def _fresh(protocol: RandomizedResponse, bit: int, times: int) -> int:
    """Return how many of the reports say 1."""
    return int(protocol.releases(bit, times)[:, 0].sum())


def _remembered(protocol: RandomizedResponse, bit: int, times: int) -> int:
    client = Client(protocol, bytes(np.asarray(uniform(256, 32), np.uint8)))
    return sum(client.report(bit)[0] for _ in range(times))
