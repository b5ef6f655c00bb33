"""Private multiplicative weights: many counts, asked one after the other, of which only the surprising ones cost.

Hardt and Rothblum (2010). A public histogram of all attributes guesses every answer. The sparse vector compares guess
and truth; where they are near, the guess is the answer. Where they are not, one of a declared number of noisy answers
is given, and the histogram is moved, by multiplicative weights, to where it agrees. It begins as independent
attributes, from noisy counts of each; the number of rows is bought too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.account.budgets.budget import Budget
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter, Refusal
from discreet.core.exact import Exact
from discreet.core.rational import Number, as_written
from discreet.core.unit import Relation, check_relation
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.publish.allowance import Allowance, Currency, Spending
from discreet.publish.code_table import Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import number
from discreet.publish.model.fit import NoisyMarginal

# The histogram is held in memory, and multiplied out at every update.
MOST_CELLS = 1 << 21

# What part of the budget buys the beginning, and what part the noisy answers; the rest compares. Gaussian noise is so
# much smaller than Laplace noise of many answers that they need less of it.
SHARES: Mapping[Currency, tuple[Fraction, Fraction]] = {
    "epsilon": (Fraction(1, 10), Fraction(3, 10)),
    "rho": (Fraction(1, 20), Fraction(1, 10)),
}


class TooManyCells(Refusal):
    """A domain whose histogram would not fit."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The terms of a session: what may be spent, how near guesses have to be, how many may turn out wrong.

    `alpha` is the share of all rows by which a guess may be off and still be the answer; `updates` how many guesses may
    be further off; `questions` how many there are in all, and `beta` the probability that any answer is beyond its bar.
    One person moves at most `allowance.rows` rows; under replace those of a removal and of an addition, twice as many
    as a person has.

    Guarantee: `loss` for everything that a session ever says, however its questions depend on earlier answers. All of
    it is spent when the session begins, whether or not the updates are used up.
    """

    domain: Domain
    allowance: Allowance
    alpha: Fraction
    updates: int
    questions: int
    beta: Fraction
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        if self.relation == "replace" and self.allowance.rows % 2:
            why = "under replace as many rows leave a cell as enter another, so an even number changes"
            raise BadParameter("rows", self.allowance.rows, why=why, fix="use Weights.of, which counts both")
        for share in self._shares:  # what is too little to be spent is refused before anything is paid
            self._part(share)

    @classmethod
    def of(
        cls,
        domain: Domain,
        budget: Budget,
        *,
        alpha: Number = 0.05,
        updates: int = 48,
        questions: int = 1000,
        beta: Number = 0.05,
        rows: int = 1,
        relation: Relation = "add_remove",
    ) -> Weights:
        """Read terms for people with at most `rows` rows; a budget with a delta is spent in rho, as in all publishing.

        Guarantee: under replace all noise is for the rows that leave and those that enter, twice `rows`.
        """
        near, failing = as_written("alpha", alpha), as_written("beta", beta)
        for name, value in (("alpha", near), ("beta", failing)):
            if not 0 < value < 1:
                why = "it is a share of all rows" if name == "alpha" else "it is a probability"
                raise BadParameter(name, value, why=why, fix="use 0.05")
        check(domain)
        many, most = whole("updates", updates), whole("questions", questions)
        moved = whole("rows", rows) * (2 if check_relation(relation) == "replace" else 1)
        return cls(domain, Allowance.of(budget, moved), near, many, most, failing, relation)

    @property
    def loss(self) -> PrivacyLoss:
        """What a session costs, in full, when it begins."""
        kind = Zcdp if self.allowance.currency == "rho" else Pure
        return kind(self.allowance.amount, relation=self.relation)

    @property
    def comparing_error(self) -> float:
        """How far a comparison of guess and truth may be off, in rows, except for half of beta."""
        # Each watch has a threshold of its own, and the questions are shared among them: with the chances of a part of
        # both, no threshold and no question is beyond the bound, whichever watch it falls to.
        watches = 1 if self.allowance.currency == "epsilon" else self.updates
        return self.comparison(0).error(self.beta / 2 / watches, queries=-(-self.questions // watches))

    @property
    def answering_error(self) -> float:
        """How far noisy answers may be off, in rows, except for half of beta for all of them."""
        rows, part = self.allowance.rows, self._answering
        noise: Gaussian | Laplace
        if self.allowance.currency == "rho":
            noise = Gaussian(rho=part, sensitivity=rows, dimension=2, relation=self.relation)
        else:
            noise = Laplace(epsilon=part, sensitivity=rows, relation=self.relation)
        return noise.error(self.beta / 2, dimension=self.updates)

    def comparison(self, threshold: int) -> SparseVector:
        """Return what compares guess and truth: for all updates where epsilon is spent, for one where rho is.

        Guarantee: comparisons for all updates cost what the other two `SHARES` leave; of rho each costs
        epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4).
        """
        part, cutoff = self.allowance.amount * (1 - sum(self._shares)), self.updates
        if self.allowance.currency == "rho":
            square, cutoff = 2 * part / self.updates, 1
            part = Fraction(math.isqrt((square.numerator << 120) // square.denominator), 1 << 60)
        return SparseVector(
            threshold=threshold,
            epsilon=part,
            cutoff=cutoff,
            sensitivity=self.allowance.rows,
            relation=self.relation,
        )

    def begin(self, measure: Measure) -> tuple[NoisyMarginal, ...]:
        """Measure the number of rows and every attribute, which a histogram begins with.

        Guarantee: the first of the `SHARES`; what is returned may be shown to anyone.
        """
        cliques: list[Clique] = [(), *((place,) for place in range(len(self.domain)))]
        purse = Spending(self._part(self._shares[0]))
        part = purse.left / len(cliques)
        found = zip(cliques, measure(cliques), strict=True)
        return tuple(purse.measure(clique, exact, part) for clique, exact in found)

    def answers(self) -> Spending:
        """Return the purse that pays for all noisy answers of one session."""
        return Spending(self._part(self._shares[1]))

    def answered(self, purse: Spending, exact: Exact[int]) -> NoisyMarginal:
        """Return a count with noise, for one update's share of the purse."""
        return purse.measure((), exact.map(number), self._answering)

    def answered_before(self, purse: Spending) -> float:
        """Count an update that was paid and answered before, and return the scale of its noise."""
        purse.count(self._answering)
        return self._part(self._shares[1]).scale(self._answering)

    def words(self, rows: float) -> tuple[str, ...]:
        """Say what a session promises, given the noisy number of rows."""
        noise, share = self.comparing_error, float(self.alpha)
        price = f"{self.allowance.currency} {float(self.allowance.amount):.6g}"
        easy = math.floor(self.alpha * round(rows)) + noise
        return (
            f"up to {self.questions:,} counts of about {rows:,.0f} rows, for {price}, all of it spent at the start",
            f"a guess within {easy:,.0f} rows is an answer: {share:.3g} of all rows, and {noise:,.0f} for noise",
            f"up to {self.updates:,} that are further off are answered within {self.answering_error:,.0f} rows",
            f"all of this with probability {float(1 - self.beta):.3g}; after the last of those the session ends",
        )

    @property
    def _answering(self) -> Fraction:
        return self.allowance.amount * self._shares[1] / self.updates

    @property
    def _shares(self) -> tuple[Fraction, Fraction]:
        return SHARES[self.allowance.currency]

    def _part(self, share: Fraction) -> Allowance:
        return Allowance(self.allowance.currency, self.allowance.amount * share, self.allowance.rows)


def check(domain: Domain) -> None:
    """Refuse a domain whose histogram would not fit."""
    cells = math.prod(domain.sizes)
    if cells > MOST_CELLS:
        why = f"its histogram of all attributes would have {cells:.3g} cells, and {MOST_CELLS:,} are the most"
        raise TooManyCells("a session", why=why, fix="name fewer columns, or use fewer bins", value=cells)


def picked(domain: Domain, where: Mapping[str, int | Sequence[int]]) -> dict[int, tuple[int, ...]]:
    """Return the codes that a question names, sorted, by the place of their attribute."""
    found = {}
    for name, codes in where.items():
        (place,) = domain.clique(name)
        listed: set[int] = set()
        for code in codes if isinstance(codes, Iterable) else [codes]:  # one by one: a range may be of any length
            if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code < domain.sizes[place]:
                why = f"the codes of {name!r} are 0 to {domain.sizes[place] - 1}"
                raise BadParameter(name, code, why=why, fix="use one of them")
            listed.add(code)
        if not listed:
            raise BadParameter(name, [], why="no row has one of no codes", fix="name at least one code")
        found[place] = tuple(sorted(listed))
    return found
