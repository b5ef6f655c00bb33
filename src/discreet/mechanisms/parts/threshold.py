"""Noisy comparisons with a threshold: what above_threshold and sparse_vector share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import Number, finite, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core.doors import opened
from discreet.core.errors import BadParameter, Refusal
from discreet.core.exact import Exact
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails as _tails
from discreet.mechanisms.parts.chances import Chances, Tails
from discreet.mechanisms.parts.grid import add, integers
from discreet.mechanisms.parts.session import MechanismSession
from discreet.noise.laplace import laplace

_MOST_ENTRIES = 1 << 19


class Exhausted(Refusal):
    """A watch that has said "above" as often as was paid for."""


@dataclass(frozen=True, slots=True, init=False)
class Comparison:
    """One noisy threshold, and noisy answers compared with it until `cutoff` of them are above.

    Guarantee: pure epsilon (Lyu, Su, Li 2017, Theorem 2): a share of it moves the threshold's noise by one sensitivity,
    the rest moves the noise of the `cutoff` answers above by two each, or by one if the answers are monotone.
    """

    threshold: int
    epsilon: Fraction
    share: Fraction
    sensitivity: int
    cutoff: int
    monotone: bool
    relation: Relation

    def __init__(
        self,
        *,
        threshold: int,
        epsilon: Number,
        sensitivity: int,
        cutoff: int,
        monotone: bool,
        relation: Relation,
    ) -> None:
        if not isinstance(monotone, bool):
            raise BadParameter("monotone", monotone, why="answers move together or not", fix="use True or False")
        if not isinstance(finite("threshold", threshold), int):
            why = "answers are integers, and are compared with one"
            raise BadParameter("threshold", threshold, why=why, fix="use an int; count in steps if answers are real")
        object.__setattr__(self, "threshold", int(threshold))
        object.__setattr__(self, "epsilon", Fraction(positive("epsilon", epsilon)))
        object.__setattr__(self, "sensitivity", whole("sensitivity", sensitivity))
        object.__setattr__(self, "cutoff", whole("cutoff", cutoff))
        object.__setattr__(self, "monotone", monotone)
        object.__setattr__(self, "relation", check_relation(relation))
        # The split 1 : moves^(2/3) has the least variance of a comparison (Lyu, Su, Li 2017, section 4.2); a short
        # rational near it will do, and 1/1000 where it is less.
        share = Fraction(1 / (1 + min(self._moves, 10**6) ** (2 / 3))).limit_denominator(1000)
        object.__setattr__(self, "share", max(share, Fraction(1, 1000)))

    @property
    def _moves(self) -> int:
        """How many sensitivities the noises of all answers above have to make up for, together."""
        return self.cutoff * (1 if self.monotone else 2)

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the threshold's noise."""
        return self.sensitivity / (self.share * self.epsilon)

    @property
    def answer_scale(self) -> Fraction:
        """The scale of the noise of each answer."""
        return self._moves * self.sensitivity / ((1 - self.share) * self.epsilon)

    @property
    def loss(self) -> Pure:
        """Pure epsilon, for all comparisons together."""
        return Pure(self.epsilon, relation=self.relation)

    def error(self, beta: Number, *queries: int | None) -> float:
        """Return a distance from the threshold beyond which all comparisons are right, except with probability beta.

        Half of beta is for the threshold's noise, half for those of all answers; each comparison sees their sum.
        """
        chance = _tails.chance(beta) / 2
        each = chance / _tails.public_size("queries", *queries)
        return up(Fraction(_tails.laplace(self.threshold_scale, chance) + _tails.laplace(self.answer_scale, each)))

    def noisy_threshold(self) -> int:
        """Draw the threshold to compare with; once, and kept secret."""
        return self.threshold + laplace(self.threshold_scale)

    def chances(self, answers: Sequence[int], patterns: Mapping[Hashable, Sequence[bool]]) -> Chances:
        """Bound the probability that the first answers compare as in each pattern, except for tails below 2**-72."""
        noise = _chances.laplace(self.threshold_scale)
        _chances.limited(len(noise) * sum(map(len, patterns.values())))
        apart = max((abs(self.threshold - answer) for answer in answers), default=0)
        tails = Tails(self.answer_scale, max(noise) + apart + 1)
        found = dict.fromkeys(patterns, (0, _chances.missing(noise)))
        for k, weight in noise.items():
            gaps = [self.threshold + k - answer for answer in answers]
            verdicts = [(tails.below(gap), tails.at_least(gap)) for gap in gaps]
            for key, pattern in patterns.items():
                here = weight
                for verdict, above in zip(verdicts, pattern, strict=False):
                    here = _chances.times(here, verdict[above])
                found[key] = (found[key][0] + here[0], found[key][1] + here[1])
        return _chances.chances(found)


class ThresholdWatch(MechanismSession):
    """One sequence of answers, compared as they come; the only state there is."""

    __slots__ = ("_comparison", "_left", "_threshold")

    def __init__(self, comparison: Comparison) -> None:
        MechanismSession.__init__(self)
        self._comparison, self._left = comparison, comparison.cutoff
        self._threshold = comparison.noisy_threshold()

    @classmethod
    def resumed(cls, comparison: Comparison, threshold: int, left: int) -> Self:
        """Return the watch that had this noisy threshold and so many answers left, and is used no more elsewhere.

        Only a ledger does that, which settles one answer after the other: a second copy would use the same noise.
        """
        made = cls.__new__(cls)
        MechanismSession.__init__(made)
        made._comparison, made._threshold, made._left = comparison, threshold, left  # noqa: SLF001
        return made

    @property
    def kept(self) -> tuple[int, int]:
        """The noisy threshold, which is kept secret, and how many answers are left: all that there is of it."""
        return self._threshold, self._left

    @property
    def left(self) -> int:
        """How many more answers may be found above."""
        return self._left

    def above(self, exact: Exact[int] | int) -> bool:
        """Say whether a noisy answer reaches the noisy threshold.

        Guarantee: that of the comparison, for all that the watch ever says; after the last "above" it refuses.
        """
        with self.turn():
            if not self._left:
                cutoff = self._comparison.cutoff
                raise Exhausted(
                    "one more comparison",
                    why=f"{cutoff} answer{'s' * (cutoff > 1)} above the threshold were paid for and found",
                    fix="start a new session, which costs its epsilon again",
                    value=cutoff,
                )
            answer = integers(opened(exact))
            if not isinstance(answer, int):
                why, fix = "answers are compared one at a time", "pass one int, or use release for a sequence"
                raise BadParameter("exact", np.shape(answer), why=why, fix=fix)
            found = answer + laplace(self._comparison.answer_scale) >= self._threshold
            self._left -= found
            return found


def repeated(
    comparison: Comparison,
    exact: Iterable[int],
    count: int,
    summary: Callable[[NDArray[np.bool_]], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return a summary of each of `count` independent runs, given which answers would be above in each."""
    answers = integers(list(exact))
    size = np.size(answers)
    rows = max(1, _MOST_ENTRIES // max(1, size))
    parts = []
    for start in range(0, max(1, count), rows):  # once for no runs at all, so there is an array to return
        here = min(rows, count - start)
        thresholds = np.asarray(add(comparison.threshold, laplace(comparison.threshold_scale, here)))
        noisy = np.asarray(add(answers, laplace(comparison.answer_scale, (here, size))))
        parts.append(summary(np.asarray(noisy >= thresholds[:, None], dtype=np.bool_)))
    return np.concatenate(parts).astype(np.int64)
