"""Sparse vector: of many questions, those few whose answers are large, with or without the answers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts import threshold as _threshold
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.threshold import Comparison, ThresholdWatch
from discreet.noise.laplace import laplace


@dataclass(frozen=True, slots=True, init=False)
class SparseVector:
    """Says for each answer whether it is above a threshold, until `cutoff` of them were.

    As `above_threshold`, with one noisy threshold for all and `cutoff` times the noise on the answers. With
    `answers_epsilon` the answers above are also given, with fresh noise of their own, for so much more epsilon in all.

    Guarantee: pure epsilon for the comparisons, however many are below (Lyu, Su, Li 2017, Theorem 2); with answers, the
    loss of `cutoff` releases of discrete Laplace noise on top. The session counts and refuses to go beyond.
    Error: with probability at least 1 - beta, all comparisons are right for answers further than `error(beta)` from the
    threshold, and all answers given are that close.
    """

    comparison: Comparison
    answers_epsilon: Fraction | None
    queries: int | None

    def __init__(
        self,
        *,
        threshold: int,
        epsilon: Number,
        cutoff: int,
        sensitivity: int = 1,
        monotone: bool = False,
        answers_epsilon: Number | None = None,
        queries: int | None = None,
        relation: Relation = "add_remove",
    ) -> None:
        made = Comparison(
            threshold=threshold,
            epsilon=epsilon,
            sensitivity=sensitivity,
            cutoff=cutoff,
            monotone=monotone,
            relation=relation,
        )
        extra = None if answers_epsilon is None else Fraction(positive("answers_epsilon", answers_epsilon))
        object.__setattr__(self, "comparison", made)
        object.__setattr__(self, "answers_epsilon", extra)
        object.__setattr__(self, "queries", None if queries is None else whole("queries", queries))

    @property
    def loss(self) -> PrivacyLoss:
        """Pure epsilon for the comparisons, and the loss of the answers if they are given."""
        scale = self._scale
        if scale is None:
            return self.comparison.loss
        sensitivity, relation = self.comparison.sensitivity, self.comparison.relation
        answers = DiscreteLaplace(scale, sensitivity=sensitivity, relation=relation) * self.comparison.cutoff
        return self.comparison.loss + answers

    @property
    def _scale(self) -> Fraction | None:
        """The scale of the answers' own noise."""
        if self.answers_epsilon is None:
            return None
        return self.comparison.cutoff * self.comparison.sensitivity / self.answers_epsilon

    def error(self, beta: Number = 0.05, *, queries: int | None = None) -> float:
        """Return how far from the threshold, and from given answers, the truth may be, except with probability beta."""
        scale = self._scale
        if scale is None:
            return self.comparison.error(beta, self.queries, queries)
        half = tails.chance(beta) / 2
        answers = up(Fraction(tails.laplace(scale, half / self.comparison.cutoff)))
        return max(self.comparison.error(half, self.queries, queries), answers)

    def session(self) -> SparseSession:
        """Return a session over one sequence: its `ask(exact)` answers each question, until the cut-off.

        Guarantee: `loss` for everything the session ever says; it refuses to go on afterwards.
        """
        return SparseSession(ThresholdWatch(self.comparison), self._scale)

    def resumed(self, threshold: int, left: int) -> SparseSession:
        """Return the session that had this noisy threshold and so many answers left, and is used no more elsewhere."""
        return SparseSession(ThresholdWatch.resumed(self.comparison, threshold, left), self._scale)

    def release(self, exact: Exact[Iterable[int]] | Iterable[int]) -> list[bool | int | None]:
        """Return what is said of each answer, up to the last that is above: True or False, or a number or None.

        Guarantee: `loss`. How many answers there are is public; those after the cut-off are not read.
        """
        session, said = self.session(), []
        for answer in opened(exact):
            said.append(session.ask(answer))
            if not session.left:
                break
        return said

    def releases(self, exact: Iterable[int], count: int) -> NDArray[np.int64]:
        """Return 0, 1, or -1 after the cut-off, for each answer in `count` independent runs, for audits.

        Without answers; those are Laplace releases, audited as such.
        """
        self._refuse_answers("releases")

        def summary(above: NDArray[np.bool_]) -> NDArray[np.int64]:
            found: NDArray[np.int64] = np.cumsum(above, axis=1, dtype=np.int64) - above
            return np.where(found < self.comparison.cutoff, above.astype(np.int64), -1)

        return _threshold.repeated(self.comparison, exact, whole("count", count, least=0), summary)

    def chances(self, exact: Iterable[int]) -> Chances:
        """Return bounds on the probability of every sequence of 0 and 1, padded by -1, up to tails below 2**-72."""
        self._refuse_answers("chances")
        answers = list(exact)
        patterns: list[tuple[bool, ...]] = [()]
        for _ in answers:
            patterns = [
                longer
                for pattern in patterns
                for longer in (
                    [(*pattern, False), (*pattern, True)] if sum(pattern) < self.comparison.cutoff else [pattern]
                )
            ]
            _chances.limited(len(patterns))
        padded = {tuple(map(int, each)) + (-1,) * (len(answers) - len(each)): each for each in patterns}
        return self.comparison.chances(answers, dict(padded.items()))

    def _refuse_answers(self, view: str) -> None:
        if self.answers_epsilon is not None:
            why = f"{view} shows the comparisons alone"
            raise BadParameter("answers_epsilon", self.answers_epsilon, why=why, fix="leave answers_epsilon out")


class SparseSession:
    """One sequence of questions, answered as they come until the cut-off."""

    __slots__ = ("_scale", "_watch")

    def __init__(self, watch: ThresholdWatch, scale: Fraction | None) -> None:
        self._watch, self._scale = watch, scale

    @property
    def kept(self) -> tuple[int, int]:
        """The noisy threshold, which is kept secret, and how many answers are left."""
        return self._watch.kept

    @property
    def left(self) -> int:
        """How many more answers may be found above."""
        return self._watch.left

    def ask(self, exact: Exact[int] | int) -> bool | int | None:
        """Say whether an answer is above; with answers paid for, give it with fresh noise, or None if it is below.

        Guarantee: that of the mechanism, for all that the session ever says; after the cut-off it refuses.
        """
        above = self._watch.above(exact)
        if self._scale is None:
            return above
        return int(opened(exact)) + laplace(self._scale) if above else None


def trials() -> Trials:
    """Yield answers that all move against those that are found."""
    two = SparseVector(threshold=0, epsilon=1, cutoff=2, queries=4)
    yield Trial("two of four", two, (-1, 1, -1, 1), (0, 0, 0, 0))
    monotone = SparseVector(threshold=1, epsilon=2, cutoff=2, monotone=True, queries=4)
    yield Trial("monotone", monotone, (0, 1, 0, 1), (1, 2, 1, 2))
    replaced = SparseVector(threshold=0, epsilon=1, cutoff=1, sensitivity=2, queries=3, relation="replace")
    yield Trial("sensitivity 2", replaced, (-2, -2, 2), (0, 0, 0))
