"""Averaging: ask the same question again and again, until the noise is averaged away.

Fresh noise for every call, and no account of the calls: the error of the mean of k answers falls like 1/sqrt(k), and k
answers cost k epsilon whether or not anyone adds them up (Dwork, McSherry, Nissim and Smith 2006). Discreet replays
what was answered before, and charges what is drawn again.

Theorem. To an attacker who knows everyone else, an answer with discrete Laplace noise at epsilon is one coin of
randomized response: it speaks for the person's presence or against it by exactly e^epsilon, whatever it is. The
majority of k such coins is the best guess there is, and is right with probability P[Bin(k, p) > k/2] + P[= k/2]/2 at
p = e^epsilon/(1 + e^epsilon): 0.9936 for 21 answers at ln 3. The same holds of a randomized response asked again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, positive, whole
from discreet.lab import attacker_choice
from discreet.lab.attacks.averaging.local_reports import Surveyed, surveyed
from discreet.lab.attacks.averaging.majority import majority
from discreet.lab.attacks.averaging.vault import Ledgered, ledgered
from discreet.lab.defence import ceiling
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves
from discreet.lab.table_copy import TableCopy
from discreet.mechanisms.laplace import Laplace
from discreet.noise.bernoulli import bernoulli

__all__ = ["Averaging", "Ledgered", "Surveyed", "averaging", "expose", "ledgered", "majority", "surveyed"]


@dataclass(frozen=True, slots=True, eq=False)
class Averaging:
    """Answers of a system that draws fresh noise for every call and keeps no account.

    `answers` are the noisy counts of one attack, `exact` is the count; `right` says in how many of `runs` attacks the
    majority told whether one person is among those counted.
    """

    epsilon: float
    exact: int
    answers: NDArray[np.float64] = field(repr=False)
    runs: int
    right: int

    @property
    def times(self) -> int:
        """How often the question was asked."""
        return len(self.answers)

    @property
    def total(self) -> float:
        """What the answers cost together."""
        return self.times * self.epsilon

    @property
    def success(self) -> float:
        """The share of attacks in which the person was told."""
        return self.right / self.runs

    @property
    def errors(self) -> NDArray[np.float64]:
        """How far the mean of the first 1, 2, 3, ... answers is off."""
        return np.abs(np.cumsum(self.answers) / np.arange(1, self.times + 1) - self.exact)

    def expected(self, times: int) -> float:
        """Return the standard deviation of the mean of so many answers: 1/(sqrt(2) sinh(epsilon/2) sqrt(times))."""
        return 1 / (math.sqrt(2 * whole("times", times)) * math.sinh(self.epsilon / 2))

    @property
    def outcome(self) -> Outcome:
        """The attack in a sentence, with the picture of the error as it falls."""
        once, most = majority(self.epsilon, 1), ceiling(self.total)
        return Outcome(
            attack="averaging",
            target=f"fresh noise, epsilon {self.epsilon:g} a call",
            evidence=Counted(self.right, self.runs, "attacks that told whether a person is counted"),
            chance=0.5,
            told=f"One answer tells whether a person is counted with {once:.1%}; {self.times} answers to the same "
            f"question cost epsilon {self.total:.3g} together, and their mean is within {self.errors[-1]:.2g} of the "
            "count.",
            ceiling=most,
            figures={
                "count": self.exact,
                "times": self.times,
                "epsilon": self.total,
                "once": once,
                "computed": majority(self.epsilon, self.times),
                "error": float(self.errors[-1]),
                "expected_error": self.expected(self.times),
            },
            picture=self.picture,
        )

    @property
    def picture(self) -> Curves:
        """The error of the mean against the number of answers, and the line it follows."""
        places = sorted({round(1.15**step) for step in range(200) if 1.15**step <= self.times} | {self.times})
        errors = self.errors
        return Curves(
            title=f"The same count, asked again at epsilon {self.epsilon:g}: noise averages away",
            series=(
                ("error of the mean", [(k, max(float(errors[k - 1]), 1e-3)) for k in places]),
                ("its standard deviation", [(k, self.expected(k)) for k in places]),
            ),
            across="answers",
            up="error, in people",
            dots=frozenset({"error of the mean"}),
            logarithmic="xy",
        )


def averaging(
    copied: TableCopy,
    secret: str,
    epsilon: Number = Fraction(1, 2),
    times: int = 400,
    *,
    value: object = None,
    runs: int = 200,
) -> Averaging:
    """Ask a system without a memory how many rows have `secret` at `value`, so many times, at epsilon each.

    In each of the runs a fair coin puts one more person among those counted, or not; the attacker knows the rest, and
    guesses from the majority of the answers.
    """
    bits = copied.people().bits(secret, value)
    count, asked, again = int(bits.sum()), whole("times", times), whole("runs", runs)
    each = float(positive("epsilon", epsilon))
    noise = Laplace(epsilon=epsilon)
    there = bernoulli(1 / 2, again)
    votes = np.array([(np.asarray(noise.releases(count + bit, asked)) > count).sum() for bit in there.tolist()])
    guesses = np.where(2 * votes == asked, bernoulli(1 / 2, again), 2 * votes > asked)
    answers = np.asarray(noise.releases(count, asked), np.float64)
    return Averaging(each, count, answers, again, int((guesses == there).sum()))


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "a column of 2 to 30 values, to ask about one of them"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Average a count of the table: without an account, from a vault, and in a survey that is asked again."""
    people = attacker_choice.crowd(copied, 2000)
    secret = attacker_choice.secret(people)
    if secret is None:
        return []
    say(f"averaging: {secret}, fresh noise for every call")
    naive = averaging(people, secret).outcome
    say(f"averaging: {secret}, a vault that keeps an account")
    kept = ledgered(people, secret).outcome
    say(f"averaging: {secret}, a survey asked again")
    survey = [surveyed(people, secret, memo=memo).outcome for memo in (False, True)]
    return [naive, replace(kept, picture=kept.picture or naive.picture), *survey]
