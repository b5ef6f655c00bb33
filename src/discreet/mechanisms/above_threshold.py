"""Above threshold: of many questions, the first whose answer is large; the others cost nothing more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import Number, whole
from discreet.core.doors import opened
from discreet.core.exact import Exact
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import threshold as _threshold
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.threshold import Comparison, ThresholdWatch


@dataclass(frozen=True, slots=True, init=False)
class AboveThreshold:
    """Compares noisy answers with one noisy threshold, and stops at the first that reaches it.

    `sensitivity` is the most that one unit can move any one answer by, under `relation`; answers and threshold are
    integers. `monotone=True` promises that between neighbours all answers move in the same direction, which halves
    the noise on them. `queries` declares how many answers there will be at most, for `error` alone.

    Guarantee: pure epsilon, however many answers are compared (Dwork and Roth 2014, Theorem 3.23; with the better split
    of epsilon of Lyu, Su, Li 2017). The proof moves the threshold's noise by one sensitivity and the winner's by two,
    integers both, so it holds for discrete noise as it stands.
    Error: with probability at least 1 - beta, every answer said to be below is at most threshold + `error(beta)`, and
    the one said to be above is at least threshold - `error(beta)`.
    """

    comparison: Comparison
    queries: int | None

    def __init__(
        self,
        *,
        threshold: int,
        epsilon: Number,
        sensitivity: int = 1,
        monotone: bool = False,
        queries: int | None = None,
        relation: Relation = "add_remove",
    ) -> None:
        made = Comparison(
            threshold=threshold,
            epsilon=epsilon,
            sensitivity=sensitivity,
            cutoff=1,
            monotone=monotone,
            relation=relation,
        )
        object.__setattr__(self, "comparison", made)
        object.__setattr__(self, "queries", None if queries is None else whole("queries", queries))

    @property
    def epsilon(self) -> Fraction:
        """The epsilon, exactly."""
        return self.comparison.epsilon

    @property
    def loss(self) -> Pure:
        """Pure epsilon, for the whole sequence."""
        return self.comparison.loss

    def error(self, beta: Number = 0.05, *, queries: int | None = None) -> float:
        """Return how far on the wrong side of the threshold an answer may be, except with probability beta."""
        return self.comparison.error(beta, self.queries, queries)

    def session(self) -> ThresholdWatch:
        """Return a watch over one sequence: its `above(exact)` is asked once for each answer, until it says yes.

        Guarantee: `loss` for everything the watch ever says; it refuses to go on afterwards.
        """
        return ThresholdWatch(self.comparison)

    def release(self, exact: Exact[Iterable[int]] | Iterable[int]) -> int | None:
        """Return the place of the first answer that is above, and read no further; None if none is.

        Guarantee: `loss`. How many answers there are is public.
        """
        watch = self.session()
        return next((place for place, answer in enumerate(opened(exact)) if watch.above(answer)), None)

    def releases(self, exact: Iterable[int], count: int) -> NDArray[np.int64]:
        """Return the places found in `count` independent runs, -1 for none, for audits and simulations."""

        def first(above: NDArray[np.bool_]) -> NDArray[np.int64]:
            # A last column that is always above stands for none.
            places = np.argmax(np.column_stack([above, np.ones(len(above), dtype=np.bool_)]), axis=1)
            return np.where(places == above.shape[1], -1, places)

        return _threshold.repeated(self.comparison, exact, whole("count", count, least=0), first)

    def chances(self, exact: Iterable[int]) -> Chances:
        """Return bounds on the probability of every place, except for far tails below 2**-72; -1 stands for none."""
        answers = list(exact)
        patterns: dict[Hashable, tuple[bool, ...]] = {-1: (False,) * len(answers)}
        patterns |= {place: (False,) * place + (True,) for place in range(len(answers))}
        return self.comparison.chances(answers, patterns)


def trials() -> Trials:
    """Yield answers that all move against the one that is found."""
    many = 20
    last = AboveThreshold(threshold=0, epsilon=1, queries=many + 1)
    yield Trial("last against all others", last, [-1] * many + [1], [0] * many + [0])
    first = AboveThreshold(threshold=2, epsilon=2, queries=4)
    yield Trial("a few answers", first, (0, 0, 0, 3), (1, 1, 1, 2))
    monotone = AboveThreshold(threshold=1, epsilon=1, monotone=True, queries=many + 1)
    yield Trial("monotone", monotone, [0] * many + [1], [1] * many + [1])
    wide = AboveThreshold(threshold=0, epsilon=1, sensitivity=2, queries=4, relation="replace")
    yield Trial("sensitivity 2", wide, (-3, -3, 1, 0), (-1, -1, -1, 0))
