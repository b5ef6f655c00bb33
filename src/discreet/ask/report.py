"""Report: a question with its aggregates: preview it for nothing, find its price, release it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.account.budgets.price import Price
from discreet.ask.priced import PricedQuestion, Rows, asked
from discreet.ask.question import Question
from discreet.core.rational import Number
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.ask.for_error import Offer
    from discreet.ask.preview import Preview


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
    ) -> Preview:
        """Show what the answer would cost and how far it would be off; free, and made without any data.

        `rows` is how many rows you suppose each group to have, for what depends on that (means, variances). `sql` shows
        what the engine would be asked too; the vault's secret is a name in it, and so are the sources.
        """
        from discreet.ask.preview import previewed

        return previewed(self, Price.of(epsilon, delta, rho), rows, max_rows, sql=sql)

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
        fresh: bool = False,
    ) -> Answer:
        """Pay, and return the answer. The same question about the same version of the data is answered again for free.

        `max_rows` lowers the rows that one person counts for; "auto" buys a good number with a tenth of the price.
        `fresh=True` pays again, for new noise.

        Guarantee: the price is in the ledger, on disk, before the data are read; whatever happens after, it is spent,
        and the answer of this question is the only one that it will ever have.
        """
        from discreet.ask.release import answered

        return answered(self, Price.of(epsilon, delta, rho), max_rows, fresh=fresh)

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
