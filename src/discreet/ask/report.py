"""Report: a question with its aggregates: preview it for nothing, find its price, release it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.account.budgets.price import Price
from discreet.ask.priced import PricedQuestion, Rows, asked, unit_and_reach
from discreet.ask.question import Question
from discreet.ask.request import AskTerms, DeskRequest, Fresh, part_of
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import LimitExceeded

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.ask.for_error import Offer
    from discreet.ask.preview import Preview


# The share of the price that `cut` takes.
CUT = Fraction(1, 10)


def _divided(price: Price) -> tuple[Price, Price]:
    """Return what is left for the answer, and what buys the least that bounding cut, which has no use for a delta."""
    return price.share(1 - CUT), replace(price.share(CUT), delta=Fraction(0))


@dataclass(frozen=True, slots=True, repr=False)
class Report(Question):
    """Aggregates of a query, each a column of the answer. Nothing is paid before `release`."""

    def preview(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        rows: int | None = None,
        max_rows: Rows = None,
        sql: bool = False,
        cut: bool | int = False,
    ) -> Preview:
        """Show what the answer would cost and how far it would be off; free, and made without any data.

        `rows` is how many rows you suppose each group to have, for what depends on that (means, variances). `sql` shows
        what the engine would be asked too; the vault's secret is a name in it, and so are the sources. `cut` is that of
        `release`.
        """
        price = Price.of(epsilon, delta, rho)
        if cut is not False:
            beyond = self._beyond(cut, max_rows)
            price, part = _divided(price)
            other: Preview = self.query.desk.preview(DeskRequest("ask", beyond, AskTerms(), part))
        found: Preview = self.query.desk.preview(DeskRequest("ask", self, AskTerms(max_rows, rows, sql), price))
        if cut is False:
            return found
        width = " and ".join(f"{name} ± {other[name].within}" for name in ("people", "rows"))
        words = f"a tenth of the price, {part}, buys the least that bounding cuts: {width}"
        return replace(found, stability=(*found.stability, words))

    def for_error(
        self,
        *,
        delta: Number | None = None,
        rows: int | None = None,
        max_rows: Rows = None,
        beta: float = 0.05,
        **half_widths: Number,
    ) -> Offer:
        """Find the least price at which each named column stays within its half-width, with probability 1 - beta.

        Every column is named. With a `delta` Gaussian noise is tried too, and taken where it is cheaper.
        """
        from discreet.ask.for_error import offer

        return offer(self, half_widths, delta=delta, rows=rows, max_rows=max_rows, beta=beta)

    def release(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        max_rows: Rows = None,
        fresh: Fresh = False,
        cut: bool | int = False,
    ) -> Answer:
        """Pay, and return the answer. The same question about the same version of the data is answered again for free.

        `max_rows` lowers the rows that one person counts for; "auto" buys a good number with a tenth of the price.
        `fresh=True` pays again, for new noise; `fresh="run 7"` does so once under that name, so a retry is a replay.

        `cut=True` spends a tenth of the price on the least that bounding cut, as `cut()` asks for it: it is then
        `answer.cut`. `cut=200` looks at up to 200 rows of a person.

        Guarantee: the price is in the ledger, on disk, before the data are read; whatever happens after, it is spent,
        and the answer of this question is the only one that it will ever have.
        """
        price = Price.of(epsilon, delta, rho)
        if cut is False:
            request = DeskRequest("ask", self, AskTerms(max_rows), price)
            found: Answer = self.query.desk.run(request, fresh=fresh).answer
            return found
        beyond, again = self._beyond(cut, max_rows), part_of(fresh, "cut")
        price, part = _divided(price)
        found = self.query.desk.run(DeskRequest("ask", self, AskTerms(max_rows), price), fresh=fresh).answer
        try:
            bought = self.query.desk.run(DeskRequest("ask", beyond, AskTerms(), part), fresh=again).answer
        except LimitExceeded:  # the answer is paid for, and worth more than what it lacks
            return replace(found, notes=(*found.notes, "nothing is left of the budget for what bounding cut"))
        return replace(found, cut=bought)

    def cut(self, most: int | None = None, *, max_rows: int | None = None) -> Report:
        """Ask for the least that bounding cuts off this question: how many people have more rows than count, and how
        many rows they have beyond these, looking at `most` rows of each person (ten times as many as count).

        One person changes the first by 1, and the second by as many rows as are looked at beyond the bound.
        """  # noqa: D205
        from discreet.plan.person_plans import FARTHER, cut_aggregates, cut_plan

        unit, _ = unit_and_reach(self, max_rows)
        farther = FARTHER * unit.max_rows if most is None else most
        plan = cut_plan(self.query.plan, self.query.keys, unit, farther)
        return Report.of(replace(self.query, plan=plan, keys=None), cut_aggregates(unit.max_rows, farther))

    def _beyond(self, cut: bool | int, max_rows: Rows) -> Report:
        if max_rows == "auto":
            why = "a bound that is bought is not known before the answer"
            raise BadParameter("cut", cut, why=why, fix="give max_rows as a number, or ask for cut() afterwards")
        return self.cut(None if cut is True else cut, max_rows=max_rows)

    def asked(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        max_rows: Rows = None,
    ) -> PricedQuestion:
        """Return the question with its price: which mechanisms, at which share of it."""
        return asked(self, Price.of(epsilon, delta, rho), max_rows)
