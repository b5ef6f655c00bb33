"""Offer: the least price at which an answer is as exact as was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.account.budgets.price import Price
from discreet.account.numeric.checks import whole
from discreet.ask.priced import AUTO, PricedQuestion, Rows, asked, unit_and_reach
from discreet.ask.question import Question
from discreet.ask.request import AskTerms, DeskRequest, Fresh
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.core.value import dataclass, replace
from discreet.measures.measure import Measure, measure_of
from discreet.measures.pool import Pool, pools
from discreet.measures.reach import Reach
from discreet.plan.aggregates import Aggregate

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.ask.preview import Preview

_LEAST, _MOST = Fraction(1, 10**6), Fraction(10**4)
_FINE = Fraction(1001, 1000)


@dataclass(frozen=True, slots=True)
class Offer:
    """A report at the least epsilon that keeps every column within its half-width; `release()` takes it.

    `delta` is 0 where Laplace noise, which needs none, is cheaper.
    """

    report: Question
    epsilon: Fraction
    delta: Fraction
    max_rows: Rows
    rows: int | None

    def preview(self) -> Preview:
        """Show what the offer would buy."""
        found: Preview = self.report.query.desk.preview(self._request)
        return found

    def release(self, *, fresh: Fresh = False) -> Answer:
        """Pay the offer, and return the answer.

        Guarantee: that of `Report.release`.
        """
        found: Answer = self.report.query.desk.run(self._request, fresh=fresh).answer
        return found

    @property
    def _request(self) -> DeskRequest:
        price = Price(self.epsilon, self.delta, None)
        return DeskRequest("ask", self.report, AskTerms(self.max_rows, self.rows), price)

    @property
    def asked(self) -> PricedQuestion:
        """The question at its price."""
        return asked(self.report, Price(self.epsilon, self.delta, None), self.max_rows)

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {float(weight):.4g}" for name, weight in self.report.weights)
        return f"epsilon {float(self.epsilon):.4g} ({shares})\n{self.preview()}"

    __repr__ = __str__


def offer(
    report: Question,
    half_widths: Mapping[str, Number],
    *,
    delta: Number | None,
    rows: int | None,
    max_rows: Rows,
    beta: float,
) -> Offer:
    """Find for each column the least epsilon that does: their sum is the price, their shares the weights.

    Columns that are measured together need as much as the most demanding of them. Each by itself is looked at as well,
    and with a delta Gaussian noise: what is cheapest in epsilon is taken.
    """
    names = [name for name, _ in report.aggregates]
    for name in half_widths:
        if name not in names:
            raise UnknownName("aggregate", name, names)
    missing = [name for name in names if name not in half_widths]
    if missing:
        why = "without a half-width there is no least price for it"
        raise BadParameter(
            missing[0], None, why=why, fix=f"name them all: for_error({', '.join(f'{n}=...' for n in names)})"
        )
    if report.query.keys is not None and report.query.keys.selected:
        why = "the number of selected keys depends on the price"
        raise BadParameter("keys", report.query.keys.names, why=why, fix="declare the keys, or choose epsilon yourself")
    beta = _beta(beta)
    report = replace(report, query=report.query.frozen())
    _, reach = unit_and_reach(report, max_rows)
    size = reach.size if rows is None else whole("rows", rows)
    wanted = {name: _wanted(name, half_widths[name]) for name in names}
    slack = Fraction(0) if delta is None else as_written("delta", delta)
    kept = 1 - AUTO if max_rows == "auto" else Fraction(1)

    equal = dict.fromkeys(names, Fraction(1))

    def priced(made: Callable[[Fraction], Price], together: Sequence[Pool]) -> tuple[Question, Fraction]:
        pooled = {name: pool for pool in together for name in pool.names}
        needed = {}
        for name, aggregate in report.aggregates:

            def measure(paid: Price, name: str = name, aggregate: Aggregate = aggregate) -> Measure:
                pool = pooled.get(name)
                return (
                    measure_of(name, aggregate, paid, reach)
                    if pool is None
                    else pool.measure(name, aggregate, paid, reach)
                )

            needed[name] = _least(name, wanted[name], size, beta, lambda amount: measure(made(amount)))
        shared = {name: max(needed[each] for each in pool.names) / len(pool.names) for name, pool in pooled.items()}
        weights = needed | shared
        return report.weighted(**weights), sum(weights.values(), Fraction(0))

    def enough(found: Offer) -> bool:
        return all(part.half_width(beta, size or 1) <= wanted[part.name] for part in found.asked.measures)

    found = []
    for together in _ways(report, equal, reach, normal=False):
        plain, epsilon = priced(lambda amount: Price(amount, Fraction(0), None), together)
        found.append(Offer(plain, epsilon / kept, Fraction(0), max_rows, rows))
    if slack:
        for together in _ways(report, equal, reach, normal=True):
            weighted, rho = priced(lambda amount: Price(None, Fraction(0), amount), together)
            # All of rho is bought by one epsilon and one delta, and what the bound costs comes off before.
            total = _search(lambda amount, rho=rho: _rho(amount, slack) >= rho, _MOST)  # type: ignore[misc]
            found.append(Offer(weighted, total / kept, slack, max_rows, rows))
    found.sort(key=lambda each: each.epsilon)
    for each in found:
        if enough(each):
            return each
    # Weights decide what is measured together: where that is not what was planned, more is paid until it is enough.
    (last,) = found[-1:]
    factor = _search(lambda amount: enough(replace(last, epsilon=last.epsilon * amount)), _MOST)
    return replace(last, epsilon=last.epsilon * factor)


def _ways(report: Question, shares: dict[str, Fraction], reach: Reach, *, normal: bool) -> Iterator[Sequence[Pool]]:
    """Yield what may be measured together: as a question with equal shares does it, and each column by itself."""
    together = [pool for pool in pools(report.aggregates, shares, reach, normal=normal) if len(pool.names) > 1]
    if together:
        yield together
    yield ()


def _rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    found = Price(epsilon, delta, None).concentrated().rho
    assert found is not None
    return found


def _wanted(name: str, given: Number) -> Fraction:
    wanted = as_written(name, given)
    if wanted <= 0:
        raise BadParameter(name, given, why="noise is never zero", fix="use a positive half-width")
    return wanted


def _beta(given: Number) -> float:
    """Return the chance of a larger error as a float; from one half on it would say next to nothing."""
    beta = as_written("beta", given)
    if not Fraction(1, 10**15) <= beta < Fraction(1, 2):
        why = "it is the chance of a larger error, at least 1e-15 and below one half"
        raise BadParameter("beta", given, why=why, fix="use 0.05, for example")
    return float(beta)


def _least(
    name: str, wanted: Fraction, rows: int | None, beta: float, measure: Callable[[Fraction], Measure]
) -> Fraction:
    def enough(amount: Fraction) -> bool:
        found = measure(amount)
        if found.sized and rows is None:
            why = "its error depends on how many rows there are"
            fix = "pass rows=, or declare the table's size when it is registered"
            raise BadParameter("rows", None, why=why, fix=fix)
        if beta < (told := found.least_beta):
            why = f"probabilities below {told:g} are beyond what the law of {name} is known to"
            raise BadParameter("beta", beta, why=why, fix=f"use {told:g} or more, or a smaller half-width")
        return found.half_width(beta, rows or 1) <= wanted

    if not enough(_MOST):
        why = f"no epsilon up to {int(_MOST):,} is enough"
        raise BadParameter(name, wanted, why=why, fix="ask for a wider half-width, or narrow the declared bounds")
    return _search(enough, _MOST)


def _search(enough: Callable[[Fraction], bool], most: Fraction) -> Fraction:
    """Return the least amount that is enough, to a thousandth of itself and with few digits."""
    low, high = _LEAST, most
    while high / low > _FINE:
        # The middle in ratio; three digits more than are needed keep the fractions short.
        middle = Fraction(f"{float(low * high) ** 0.5:.6g}")
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
