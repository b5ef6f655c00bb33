"""Weighing: a session of private multiplicative weights, and the public histogram it moves."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NoReturn

import numpy as np

from discreet.account.budgets.budget import Budget
from discreet.core.errors import Refusal
from discreet.core.exact import Exact
from discreet.core.rational import Number
from discreet.mechanisms.sparse_vector import SparseSession
from discreet.publish.code_table import Coded
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import gap
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import Fit, NoisyMarginal
from discreet.publish.model.junction import Junction, Table, axes_outside
from discreet.publish.pmw import Weights, picked
from discreet.publish.synthetic_data import SyntheticData, SyntheticEstimate

Picked = Mapping[int, tuple[int, ...]]

# The exact count of the rows that have one of some codes in every named attribute.
Count = Callable[[Picked], Exact[int]]


class Ended(Refusal):
    """A session that has said all that was paid for."""


@dataclass(slots=True, eq=False)
class PublicHistogram:
    """A public distribution over all cells of a domain; what several questions need of it is worked out once."""

    table: Table
    _marginals: dict[Clique, Table] = field(default_factory=dict)

    @classmethod
    def of(cls, domain: Domain, begun: Sequence[NoisyMarginal]) -> PublicHistogram:
        """Multiply noisy counts of single attributes, which come after the number of rows."""
        table = np.ones(domain.sizes)
        for place, one in enumerate(begun[1:]):
            # No cell is ruled out: a count below its noise may be anything below it.
            counts = np.maximum(one.values, one.scale / 2)
            table *= (counts / counts.sum()).reshape([-1 if axis == place else 1 for axis in range(len(domain))])
        return cls(table / table.sum())

    def share(self, where: Picked) -> float:
        """Return the share of all rows that have one of some codes in every named attribute."""
        clique = tuple(sorted(where))
        if clique not in self._marginals:
            outside = axes_outside(tuple(range(self.table.ndim)), {*clique})
            self._marginals[clique] = np.asarray(self.table.sum(axis=outside))
        if not clique:
            return 1.0
        return float(self._marginals[clique][np.ix_(*(where[place] for place in clique))].sum())

    def move(self, where: Picked, share: float) -> None:
        """Multiply the cells that are meant, and all others, so the former have a share of it all.

        Of all distributions in which they have that share, this is the nearest (in divergence) to the one before.
        """
        now = self.share(where)
        if not 0 < now < 1 - 1e-9:
            return
        meant = tuple(where.get(place, range(size)) for place, size in enumerate(self.table.shape))
        inside = self.table[np.ix_(*meant)] * (share / now)
        self.table *= (1 - share) / (1 - now)
        self.table[np.ix_(*meant)] = inside
        self._marginals.clear()


class Weighing:
    """Counts, asked one after the other. Made by `weigh(data, ...)` or by a session's `pmw`.

    Guarantee: `terms.loss` for everything it ever says, if `count` is exact and `begun` came from `terms.begin`; all of
    it was paid at the start. It lives in this process alone, and is not copied, stored or carried over a fork: a second
    copy would draw on the same noise. If it dies, what was paid is spent. Whether a question will need an update is not
    told before it is asked; that it needed one is part of its answer, and so is the time it took.
    """

    def __init__(self, terms: Weights, begun: Sequence[NoisyMarginal], count: Count) -> None:
        self.terms = terms
        self.rows = max(1, round(float(begun[0].values)))
        self.asked = self.updates = 0
        self.histogram = PublicHistogram.of(terms.domain, begun)
        self._threshold = int(terms.alpha * self.rows)
        # Of a guess, which was rounded to be compared, and of a noisy answer.
        self._bars = self._threshold + terms.comparing_error + 0.5, terms.answering_error
        self._count, self._purse = count, terms.answers()
        self._watch: SparseSession | None = None  # begun with the first question
        self._told: list[tuple[Picked, float, float]] = []
        self._lock, self._process = Lock(), os.getpid()

    @property
    def left(self) -> int:
        """How many updates are left."""
        return self.terms.updates - self.updates

    @property
    def words(self) -> tuple[str, ...]:
        """What was promised, in sentences."""
        return self.terms.words(self.rows)

    def answer(self, where: Mapping[str, int | Sequence[int]]) -> SyntheticEstimate:
        """Say how many rows have one of the given codes in every named column, with its bar.

        Guarantee: that of the session; there is nothing more to pay.
        """
        return self.told(picked(self.terms.domain, where))

    def told(self, where: Picked) -> SyntheticEstimate:
        """Answer a question by the places and codes that it names."""
        self._check()  # in a forked process another thread may have left the lock taken forever
        with self._lock:
            self._check()
            self.asked += 1  # before anything is looked at: a question that fails was asked
            guess = self.guess(where)
            exact = self._count(where)
            if self._watch is None:
                self._watch = self.terms.comparison(self._threshold).session()
            if not self._watch.ask(exact.map(gap, round(guess))):
                return SyntheticEstimate(guess, self._bars[0])
            self.updates += 1
            if self.left and not self._watch.left:
                self._watch = self.terms.comparison(self._threshold).session()
            noisy = self.terms.answered(self._purse, exact)
            self._learn(where, float(noisy.values), noisy.scale)
            return SyntheticEstimate(max(0.0, float(noisy.values)), self._bars[1])

    def guess(self, where: Picked) -> float:
        """Return how many rows the public histogram gives: what is compared with the truth."""
        return self.histogram.share(where) * self.rows

    @property
    def private(self) -> bytes:
        """What a session knows and never tells: the noisy threshold that is in use, and how often it may be passed."""
        return json.dumps(None if self._watch is None else self._watch.kept).encode()

    def go_on(self, private: bytes) -> None:
        """Take up what `private` was after the last answer, in place of a session that is used no more.

        Guarantee: none by itself. A ledger that settles the answers one by one is the only caller, so that there is
        one session at a time for one noisy threshold.
        """
        kept = json.loads(private or b"null")
        self._watch = None if kept is None else self.terms.comparison(self._threshold).resumed(*kept)

    def relearn(self, where: Picked | None, noisy: float | None) -> None:
        """Count a question that was answered before, elsewhere; `noisy` is its answer where it was an update.

        All of it is public: an answer that was told, and what the histogram learned of it.
        """
        with self._lock:
            self.asked += 1
            if where is not None and noisy is not None:
                self.updates += 1
                self._learn(where, noisy, self.terms.answered_before(self._purse))

    def check(self) -> None:
        """Refuse one more question where all that was paid for is used, or this is another process."""
        self._check()

    def synthetic_data(self) -> SyntheticData:
        """Return the histogram as it is now: synthetic data to sample and query; its answers have no error bars."""
        domain = self.terms.domain
        tree = Junction.of(domain.sizes, [tuple(range(len(domain)))])
        model = Fit(tree, (self.histogram.table.copy(),), float(self.rows), {})
        return SyntheticData(domain, model, Merged.none(domain), (), self.terms.loss, "pmw", self.words)

    def __repr__(self) -> str:
        return f"Weighing({self.asked:,} of {self.terms.questions:,} questions, {self.updates} of {self.terms.updates})"

    def __reduce__(self) -> NoReturn:
        why, fix = "a second copy would use the same noise", "start a session where it is needed"
        raise Ended("a copy of a session", why=why, fix=fix, value=self.asked)

    def _learn(self, where: Picked, noisy: float, scale: float) -> None:
        """Move the histogram to where it agrees with a noisy answer, and again with those before it, oldest first."""
        # A count within its noise of nothing, or of everything, rules no cell out.
        floor = min(0.25, scale / self.rows / 2)
        self._told.append((where, min(max(noisy / self.rows, floor), 1 - floor), floor))
        self.histogram.move(where, self._told[-1][1])
        for earlier, share, near in self._told:
            if abs(self.histogram.share(earlier) - share) > near:
                self.histogram.move(earlier, share)

    def _check(self) -> None:
        if os.getpid() != self._process:
            why = "it was started in another process, and two copies would use the same noise"
            raise Ended("this session", why=why, fix="ask there, or start one here", value=os.getpid())
        if not self.left or self.asked >= self.terms.questions:
            used = self.terms.questions if self.left else self.terms.updates
            why = f"{used:,} {'questions' if self.left else 'updates'} were paid for and used"
            fix = "query synthetic_data(), which has no error bars, or start a new session, which costs the same again"
            raise Ended("one more question", why=why, fix=fix, value=used)


def weigh(
    data: object,
    domain: Mapping[str, int] | Domain,
    *,
    budget: Budget,
    alpha: Number = 0.05,
    updates: int = 48,
    questions: int = 1000,
    beta: Number = 0.05,
) -> Weighing:
    """Begin a session on a table of whole-number codes: a data frame, an Arrow table or a dict of arrays.

    Guarantee: the budget, for the whole session, where adding or removing a row makes neighbours.
    """
    known = domain if isinstance(domain, Domain) else Domain.of(domain)
    terms = Weights.of(known, budget, alpha=alpha, updates=updates, questions=questions, beta=beta)
    coded = Coded.of(data, known)

    def count(where: Picked) -> Exact[int]:
        inside = np.ones(len(coded.columns[0]), bool)
        for place, codes in where.items():
            meant = np.zeros(known.sizes[place] + 1, bool)  # the last is for null, whose code is -1
            meant[[*codes]] = True
            inside &= meant[coded.columns[place]]
        return Exact(int(inside.sum()))

    return Weighing(terms, terms.begin(coded.measure), count)
