"""Differencing: ask about everyone, then about everyone but one person, and subtract.

Both groups are large, so no rule about small groups stops it; each answer by itself is harmless, and their
difference is one person's secret (Denning, Denning and Schwartz 1979, "The tracker"). Against noise the attacker
repeats it with other crowds around the same person, and averages.

Theorem. Let both answers have discrete Laplace noise at epsilon each, t = tanh(epsilon/2), and let the person's bit be
a fair coin. The answer without the person says nothing of the bit, so anyone who sees both, and knows everyone else,
is right with probability at most (1 + t)/2, which one answer attains. From the difference alone the best guess is right
with probability exactly (1 + t (1 + t^2)/2)/2: the difference of two such noises is symmetric with one peak, the
distance between it and itself moved by one is its peak, and the peak is the sum of squares t^2 coth(epsilon). Over k
pairs the person is in k of the 2k answers, so any attacker is held to half of the epsilon that all answers cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.lab import attacker_choice
from discreet.lab.attacks._person import Description, found_row, singled_out
from discreet.lab.attacks.differencing.bound import pair_success as pair_success
from discreet.lab.attacks.differencing.bound import promised as promised
from discreet.lab.attacks.differencing.rollup import rollup as rollup
from discreet.lab.attacks.differencing.sums import amounts as amounts
from discreet.lab.defence import (
    Defence,
    ExactDefence,
    LaplaceDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
)
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars, GuideLine
from discreet.lab.table_copy import Bits, TableCopy
from discreet.lab.vault_copy import Vaulted
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform

_RUNS = 500
_CROWD = 2000  # people around the one in question, where a table is exposed
_VAULTS = 5  # a vault is a real one, and takes its time
_MOST = 400  # crowds
# What a table is exposed to, and runs enough to see.
_PLANS: tuple[tuple[Defence, int], ...] = (
    (ExactDefence(), 20),
    (SuppressedDefence(10), 20),
    (RoundedDefence(5), 50),
    (SampledDefence(0.5), 200),
    (NoisyDefence(3), 50),
    (LaplaceDefence(0.5), 1000),
)


@dataclass(frozen=True, slots=True)
class Differencing:
    """What came of it: how often the bit was guessed, in worlds where it is 1 and in worlds where it is 0."""

    who: Description
    secret: str
    target: str
    pairs: int
    runs: int
    right: tuple[int, int]  # where the bit is 0, and where it is 1; who learns nothing throws a coin
    ceiling: float | None

    @property
    def success(self) -> float:
        """How often the guess is right, where both bits are equally likely."""
        return sum(self.right) / (2 * self.runs)

    @property
    def advantage(self) -> float:
        """How much more likely the guess 1 is where the bit is 1: zero for a coin, one for certainty."""
        return 2 * self.success - 1

    @property
    def outcome(self) -> Outcome:
        """The attack on this target, in a sentence and a picture."""
        crowds = "everyone" if self.pairs == 1 else f"{self.pairs} crowds"
        return Outcome(
            attack="differencing",
            target=self.target,
            evidence=Counted(sum(self.right), 2 * self.runs, "tries that told the bit"),
            chance=0.5,
            told=f"Asked about {crowds} with and without the person {self.who.words}, to learn {self.secret}.",
            ceiling=self.ceiling,
            figures={"pairs": self.pairs, "runs": self.runs, "right": list(self.right), "advantage": self.advantage},
            picture=None,
        )


def differencing(
    copied: TableCopy,
    person: object,
    secret: str,
    defence: Defence,
    *,
    value: object = None,
    describe: Sequence[str] | None = None,
    pairs: int | None = None,
    runs: int | None = None,
) -> Differencing:
    """Ask about a crowd with and without one person, and guess whether `secret` is `value` (its most common) for them.

    `person` is a value of the identifier, a row number where there is none, or a mapping of attributes; `describe`
    names the columns by which the questions leave the person out. The first crowd is everyone; each of the other
    `pairs` takes half of the people at random, and there are as many as the defence takes to beat. Half of the runs put
    the person's bit at 0 and half at 1, so only the answers tell it. The guess is 1 where the mean difference is
    nearer to 1.
    """
    people = copied.people()
    row = found_row(people, person)
    who = singled_out(people, row, describe, apart=secret)
    bits = people.bits(secret, value)
    asked = whole("pairs", pairs) if pairs is not None else crowds(defence)
    usual = _VAULTS if isinstance(defence, Vaulted) else _RUNS if asked == 1 else _RUNS // 10
    count = whole("runs", runs) if runs is not None else usual
    right = [sum(_right(defence, bits, row, bit, asked) for _ in range(count)) for bit in (0, 1)]
    called = f"whether {secret} is {_called(people, secret, bits, value)}"
    return Differencing(who, called, defence.name, asked, count, (right[0], right[1]), promised(defence))


def crowds(defence: Defence) -> int:
    """Return around how many crowds an attacker asks: until rounding has shown an edge, or noise has averaged away.

    One crowd in `base` lies at an edge. The mean of k differences of even noise has variance 2 width (width + 1)/(3k).
    Where the answers share one promise, more of them tell no more.
    """
    match defence:
        case RoundedDefence(base):
            return min(_MOST, 8 * base)
        case NoisyDefence(width):
            return min(_MOST, 9 * width * width)
    return 1


def _right(defence: Defence, bits: Bits, row: int, bit: int, pairs: int) -> bool:
    values = bits.copy()
    values[row] = bit
    with_person = np.concatenate([np.ones((1, len(bits)), bool), bernoulli(1 / 2, (pairs - 1, len(bits))) == 1])
    with_person[:, row] = True
    without = with_person.copy()
    without[:, row] = False
    answers = defence.protect(values, 2 * pairs).sums(np.concatenate([with_person, without]))
    told = answers[:pairs] - answers[pairs:]
    told = told[np.isfinite(told)]
    # Who is refused everything, or sees just a half, throws a coin.
    mean = float(told.mean()) if len(told) else 0.5
    guess = bernoulli(1 / 2) == 1 if mean == 0.5 else mean > 0.5
    return bool(guess == bool(bit))


def _called(people: TableCopy, secret: str, bits: NDArray[Any], value: object) -> str:
    return str(value) if value is not None else str(people.column(secret)[int(bits.argmax())])


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "two people, and a column of 2 to 30 values or of ten different amounts"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Single out a person of the table and take a bit, an amount and suppressed cells out of it by subtracting."""
    people = attacker_choice.crowd(copied)
    secret = attacker_choice.secret(people)
    outcomes: list[Outcome] = []
    if people.rows >= 2 and secret is not None:
        outcomes += _bits(attacker_choice.crowd(people, _CROWD), secret, say)
    amount = attacker_choice.amount(people)
    if people.rows >= 2 and amount is not None:
        say(f"differencing: {amount}, through sums")
        outcomes += [
            amounts(people, amount, each).outcome for each in (ExactDefence(), SuppressedDefence(10), LaplaceDefence(1))
        ]
    say("differencing: suppressed cells, through totals")
    return outcomes + rollup(people)


def _bits(people: TableCopy, secret: str, say: Callable[[str], None]) -> list[Outcome]:
    row = uniform(people.rows)
    person = people.column(people.identifier)[row] if people.identifier else row
    results = []
    for defence, runs in _PLANS:
        say(f"differencing: {secret}, {defence.name}")
        results.append(differencing(people, person, secret, defence, runs=runs))
    return pictured(results)


def pictured(results: Sequence[Differencing]) -> list[Outcome]:
    """Return the outcomes of several targets, each with the picture of them all."""
    outcomes = [each.outcome for each in results]
    if not outcomes:
        return []
    bounds = {each.ceiling for each in outcomes if each.ceiling is not None}
    picture = Bars(
        title=f"One person's bit from two answers: {results[0].secret}",
        names=[each.target for each in outcomes],
        values=[each.success for each in outcomes],
        label="guessed right",
        kinds=[each.kind for each in outcomes],
        lines=[GuideLine(0.5, "coin"), *(GuideLine(at, "   promise") for at in sorted(bounds))],
        percent=True,
        most=1.0,
    )
    return [replace(each, picture=picture) for each in outcomes]
