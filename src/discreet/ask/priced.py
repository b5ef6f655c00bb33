"""Asked: a question with its price: which mechanism answers each column, at which share, and what all of it costs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from discreet.account.budgets.price import Price
from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.question import Question
from discreet.ask.registered import engine_of
from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.core.unit import Unit, check_relation
from discreet.core.value import dataclass, replace
from discreet.measures.measure import Measure, drawn_once, measure_of
from discreet.measures.minimum_frequency import COUNTED, MinimumFrequency
from discreet.measures.pool import Pool, pools
from discreet.measures.reach import Reach
from discreet.mechanisms.parts.integer_noise import total
from discreet.plan.aggregates import Aggregate, Correlation, Covariance, Mean, Std, Variance
from discreet.plan.nodes import (
    Derive,
    Filter,
    Join,
    MarkJoin,
    PerPerson,
    PersonJoin,
    Plan,
    Project,
    Scan,
    Union,
    tables_of,
)
from discreet.plan.serial import plan_record
from discreet.plan.stability import groups_of_one, has_one_each, partners, reach, stability, unit_of

if TYPE_CHECKING:
    from discreet.mechanisms.contribution_bound import ContributionBound
    from discreet.mechanisms.key_selection import KeySelection

Rows = int | Literal["auto"] | None

AUTO = Fraction(1, 10)  # the share of the price that max_rows="auto" takes


@dataclass(frozen=True, slots=True)
class PricedQuestion:
    """A priced question. All of it is a function of the question and the schema: nothing here has seen data.

    Guarantee: `loss` is what a release costs, under the unit's relation.
    """

    report: Question
    price: Price
    unit: Unit
    reach: Reach
    measures: tuple[Measure, ...]
    selection: KeySelection | None
    bound: ContributionBound | None
    frequency: MinimumFrequency = MinimumFrequency()
    pools: tuple[Pool, ...] = ()

    @property
    def loss(self) -> PrivacyLoss:
        """The sum of what the parts cost.

        Where the bound on rows is bought first, the noise is not known yet, only what it costs at most: pure epsilon
        for Laplace noise of any scale that goes with its sensitivity, rho for Gaussian noise.
        """
        drawn = [alike[0] for alike in drawn_once(self.measures)]
        parts = [each.loss if self.bound is None else each.most_loss for each in drawn]
        parts += [each.loss for each in (self.selection, self.bound) if each is not None]
        return total(parts)

    @property
    def label(self) -> str:
        """A few words for people who read the ledger."""
        query = self.report.query
        asked = ", ".join(part.about for part in self.measures)
        by = f" by {', '.join(query.keys.names)}" if query.keys is not None else ""
        return f"{asked}{by} from {', '.join(query.tables)}"

    @property
    def withheld(self) -> tuple[str, ...]:
        """Which groups are withheld, in words; nothing where none are."""
        return tuple(self.frequency.words(each) for each in self.measures if self.counted in each.columns)

    @property
    def counted(self) -> str | None:
        """The column by whose noisy values groups are withheld; None where none are."""
        return self.frequency.column(self.report.aggregates) if self.frequency.below else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the measured columns of the answer, in the order in which they were asked for."""
        return tuple(name for each in self.measures for name in each.columns if name != COUNTED)

    @property
    def question(self) -> str:
        """The question and its parameters as one canonical line of JSON: what the ledger knows it by."""
        query = self.report.query
        return json.dumps(
            {
                "plan": plan_record(query.plan),
                "keys": None if query.keys is None else query.keys.record(),
                "aggregates": {name: each.record() for name, each in self.report.aggregates},
                "weights": {name: str(weight) for name, weight in self.report.weights},
                "price": self.price.record(),
                "unit": self.unit.record(),
                "auto": self.bound is not None,
                "tables": {name: table.record() for name, table in query.tables.items()},
                **({"withheld": self.frequency.record()} if self.frequency.below else {}),
            },
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def at_bound(self, max_rows: int) -> PricedQuestion:
        """Return the question for a bound that was bought, with the mechanisms that were charged."""
        unit = bounded(self.unit, max_rows)
        reach = _reach(self.report, unit)
        prices = {part.name: part.price for part in self.measures}
        measures = _made(self.report.aggregates, self.pools, prices, reach)
        return replace(self, unit=unit, reach=reach, measures=measures)


def spelled(report: Question, price: Price, max_rows: Rows) -> str:
    """Return all that an answer depends on but the declarations of its tables, in one text."""
    query = report.query
    keys = None if query.keys is None else query.keys.record()
    aggregates = [(name, each.record()) for name, each in report.aggregates]
    weights = [(name, str(weight)) for name, weight in report.weights]
    return f"{json.dumps([plan_record(query.plan), keys, aggregates, weights, price.record()])} {max_rows!r}"


def asked(report: Question, price: Price, max_rows: Rows) -> PricedQuestion:
    """Choose mechanisms and split the price, for the tables as they are declared now."""
    frequency = report.query.desk.minimum_frequency()
    counted = frequency.counted(report.aggregates) if frequency.below else report.aggregates
    report = replace(report, query=report.query.frozen(), aggregates=counted)
    engine_of(report.query.registered)
    unit, bound = _unit(report, price, max_rows)
    _check_averages(report, unit)
    rest = price if bound is None else price.share(1 - AUTO)
    reach = _reach(report, unit)
    weights = dict(report.weights)
    selected = report.query.keys is not None and report.query.keys.selected
    names = [name for name, _ in report.aggregates] + (["keys"] if selected else [])
    whole = sum((weights.get(name, Fraction(1)) for name in names), Fraction(0))
    shares = {name: weights.get(name, Fraction(1)) / whole for name in names}
    selection = None
    if selected:
        share = shares.pop("keys")
        selection, rest = _selection(rest, share, unit, reach)
        shares = {name: part / (1 - share) for name, part in shares.items()}
    measures, pooled = _measures(report.aggregates, shares, rest, reach)
    _check_names(report, measures)
    return PricedQuestion(report, price, unit, reach, measures, selection, bound, frequency, pooled)


def _check_averages(report: Question, unit: Unit) -> None:
    """Refuse averages over people under replace: how many people pass the conditions was not declared."""
    if unit.relation == "add_remove" or not has_one_each(report.query.plan):
        return
    for name, each in report.aggregates:
        if isinstance(each, Mean | Variance | Std | Covariance | Correlation):
            why = "under replace an average divides by a public number of rows, and one row a person has none declared"
            fix = "ask for dp.sum and dp.count and divide the answers, or register with relation='add_remove'"
            raise BadParameter(name, each.word, why=why, fix=fix)


def _check_names(report: Question, measures: Sequence[Measure]) -> None:
    """Refuse, before anything is paid, an answer two of whose columns would have one name."""
    keys = report.query.keys.names if report.query.keys is not None else ()
    names = [*keys, *(part.title for part in measures if part.title is not None)]
    for part in measures:
        for column in part.columns:
            names += [column, f"{column}_low", f"{column}_high"]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        why = "two columns of the answer, or their interval ends, would have this name"
        raise BadParameter("aggregates", twice[0], why=why, fix="give one of them another name")


def _measures(
    aggregates: Sequence[tuple[str, Aggregate]], shares: dict[str, Fraction], price: Price, reach: Reach
) -> tuple[tuple[Measure, ...], tuple[Pool, ...]]:
    """Return the measures at their shares: Laplace or Gaussian noise, whichever is off by less, where both may be had.

    Gaussian noise is bought for all columns or for none: one delta turns all of their rho into epsilon. Aggregates of
    one column are measured together where that is better, for the shares of all of them.
    """

    def made(paid: Price) -> tuple[tuple[Measure, ...], tuple[Pool, ...]]:
        found = tuple(pools(aggregates, shares, reach, normal=paid.rho is not None))
        together = shares | {name: sum(shares[each] for each in pool.names) for pool in found for name in pool.names}
        prices = {name: paid.share(Fraction(part)) for name, part in together.items()}
        return _made(aggregates, found, prices, reach), found

    plain = made(replace(price, delta=Fraction(0)))
    if price.rho is not None or not price.delta:
        return plain
    paid = price.concentrated()
    if paid.rho is None or paid.rho <= 0:  # so small a delta leaves nothing for it
        return plain
    normal = made(paid)
    return min((plain, normal), key=lambda each: _badness(each[0]))


def _made(
    aggregates: Sequence[tuple[str, Aggregate]], together: Sequence[Pool], prices: Mapping[str, Price], reach: Reach
) -> tuple[Measure, ...]:
    """Return the measures at their prices, which are those of whole pools."""
    pooled = {name: each for pool in together for name, each in pool.measures(prices[pool.names[0]], reach).items()}
    return tuple(pooled.get(name) or measure_of(name, each, prices[name], reach) for name, each in aggregates)


def _badness(measures: tuple[Measure, ...]) -> float:
    """Return the product of half-widths: what is better by half for one column may be worse by half for another."""
    # At a very high price the half-width of integer noise is 0, for both laws.
    return math.fsum(math.log(max(each.spread, 1e-9)) for each in measures)


def _selection(rest: Price, share: Fraction, unit: Unit, reach: Reach) -> tuple[KeySelection, Price]:
    """Return the selection of keys, and what is left for the rest; delta is halved where Gaussian noise may use it."""
    from discreet.mechanisms.key_selection import KeySelection

    if not rest.delta:
        raise BadParameter(
            "delta",
            None,
            why="keys that were not declared are found by private selection, which fails with a small probability",
            fix="give delta=1e-9 (well below one over the number of people), or declare the keys: group_by(..., keys=)",
        )
    if unit.is_row and reach.groups > (1 if unit.relation == "add_remove" else 2):
        # Its partners may all have one key, which then gains several at once: the rule is proven for one.
        why = "keys are selected by how many different rows have them, and here one row becomes several"
        fix = "declare the keys: group_by(..., keys=), or join with a table that has one row for each key"
        raise BadParameter("keys", reach.groups, why=why, fix=fix)
    part = rest.share(share)
    # Pure epsilon is rho = epsilon^2 / 2, and `selecting` is sqrt(8 rho).
    epsilon = part.epsilon if part.epsilon is not None else part.selecting / 2
    delta = rest.delta if rest.rho is not None else rest.delta / 2
    groups = reach.groups if unit.relation == "add_remove" else -(-reach.groups // 2)
    selection = KeySelection(epsilon=epsilon, delta=delta, groups=groups, relation=unit.relation)
    return selection, replace(rest.share(1 - share), delta=rest.delta - delta)


def _unit(report: Question, price: Price, max_rows: Rows) -> tuple[Unit, ContributionBound | None]:
    """Return the unit that the question is answered for, and what buys its bound."""
    query = report.query
    unit = unit_of(query.plan, query.tables)
    query.desk.work_limits().check_joins(query.plan, query.tables)
    check_relation(unit.relation)
    accounts = query.accounts
    if len(accounts) > 1 and not unit.is_row:
        # Whoever is removed from one account's tables makes room for their own rows in the other's, so that more
        # changes than max_rows. Within one account a person leaves all tables at once.
        why = "its tables belong to different accounts, which protect a person separately"
        raise BadParameter(
            "tables", accounts, why=why, fix="register tables about the same people in one budget group, with group="
        )
    if max_rows is None:
        return unit, None
    if unit.is_row or unit.bound == "table":
        why = (
            "rows are protected here, and each counts once"
            if unit.is_row
            else "the rows of a person were bounded once, for the whole table"
        )
        raise BadParameter("max_rows", max_rows, why=why, fix="leave max_rows out")
    if max_rows == "auto" and unit.max_rows > 1:
        from discreet.mechanisms.contribution_bound import ContributionBound

        # A weight for the noise of the answer: what its share of the price is in pure epsilon.
        answers = price.share((1 - AUTO) / len(report.aggregates)).selecting
        epsilon = price.share(AUTO).selecting
        bound = ContributionBound(most=unit.max_rows, epsilon=epsilon, answer_epsilon=answers, relation=unit.relation)
        return unit, bound
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or not 1 <= max_rows <= unit.max_rows:
        why = f"a question may lower the declared bound, {unit.max_rows}, but not raise it"
        fix = f"use an integer from 1 to {unit.max_rows}, or 'auto'" if unit.max_rows > 1 else "leave max_rows out"
        raise BadParameter("max_rows", max_rows, why=why, fix=fix)
    return bounded(unit, max_rows), None


def unit_and_reach(report: Question, max_rows: Rows) -> tuple[Unit, Reach]:
    """Return for whom a question is answered and how far one of them reaches, whatever its price."""
    unit, _ = _unit(report, Price.of(epsilon=1), max_rows)
    return unit, _reach(report, unit)


def bounded(unit: Unit, max_rows: int) -> Unit:
    """Return a unit that is bounded to so many rows."""
    cap = None if unit.max_rows_per_group is None else min(unit.max_rows_per_group, max_rows)
    return replace(unit, max_rows=max_rows, max_groups=min(unit.max_groups, max_rows), max_rows_per_group=cap)


def _reach(report: Question, unit: Unit) -> Reach:
    query = report.query
    found = stability(query.plan, unit, query.tables, groups=query.keys is not None)
    sizes = {table.rows for table in query.tables.values()}
    size = sizes.pop() if len(sizes) == 1 and query.keys is None and query.whole else None
    groups = None if unit.is_row else groups_of_one(reach(query.plan, unit, query.tables), unit, query.keys)
    keys = query.keys
    return Reach(
        query.columns,
        found.l1,
        found.l0,
        unit.relation,
        size,
        people=not unit.is_row,
        declared_groups=groups,
        keyed=keys is not None,
        unit=unit,
        cells=1 if keys is None else None if keys.selected else keys.size,
    )


def stability_words(question: PricedQuestion) -> tuple[str, ...]:
    """Say how far one unit reaches: one person changes at most 20 rows, in at most 3 groups; then why, join by join."""
    unit, query = question.unit, question.report.query
    rows, groups = question.reach.rows, min(question.reach.groups, question.reach.rows)
    who = "row" if unit.is_row else "person"
    change = f"one {who} changes" if unit.relation == "add_remove" else f"one {who} replaced by another changes"
    counted = f"at most {_many(rows, 'row')}" if rows > 1 else "one row"
    within = f", in at most {_many(groups, 'group')}" if query.keys is not None and groups < rows else ""
    first = [f"{change} {counted}{within}"]
    cap = question.reach.cap()
    if cap is not None:
        weighed = question.reach.weighed_rows()
        first.append(
            f"counts and sums change by at most {_many(weighed, 'row')} of each person, {cap.each:,} in a group"
        )
    return *first, *dict.fromkeys(_factors(query.plan, unit, query.tables))


def _factors(plan: Plan, unit: Unit, tables: Mapping[str, Table]) -> Iterator[str]:
    """Say what each join does to the rows of one unit, from the tables up."""
    match plan:
        case Scan():
            return
        case PerPerson(source):
            yield from _factors(source, unit_of(source, tables), tables)
            yield "each person is one row, whatever their rows are"
        case Filter(source) | Derive(source) | Project(source):
            yield from _factors(source, unit, tables)
        case Join(source, joined, on):
            yield from _factors(source, unit, tables)
            found = joined.fan_out(theirs for _, theirs in on)
            after = ", and people are bounded after it" if unit.bound == "query" and not unit.is_row else ""
            if found > 1:
                yield f"joined with {joined.name}: at most {_many(found, 'row')} for each{after}"
        case Union(one, other):
            yield from _factors(one, unit, tables)
            yield from _factors(other, unit, tables)
        case PersonJoin(one, other):
            yield from _factors(one, unit, tables)
            yield from _factors(other, unit, tables)
            yield _meeting(plan, unit, tables)
        case MarkJoin(one, other):
            yield from _factors(one, unit, tables)
            ours, theirs = (", ".join(tables_of(side)) for side in (one, other))
            yield f"{ours} looked up in {theirs}: rows of the same person, none of which is repeated"


def _meeting(plan: PersonJoin, unit: Unit, tables: Mapping[str, Table]) -> str:
    ours, theirs = (", ".join(tables_of(side)) for side in (plan.one, plan.other))
    rows, kept = reach(plan.one, unit_of(plan.one, tables), tables), partners(plan, tables)
    pairs = f"{rows:,} x {kept:,} = {_many(rows * kept, 'pair')} of each person's rows"
    words = f"{ours} joined with {theirs}: at most {pairs}"
    most = unit.max_rows
    return f"{words}, of which {most:,} count" if unit.bound == "query" and most < rows * kept else words


def partners_words(plan: Plan, tables: Mapping[str, Table]) -> list[str]:
    """Say how many partners each row was left with, join by join."""
    match plan:
        case Scan():
            return []
        case Union(one, other) | MarkJoin(one, other):
            return partners_words(one, tables) + partners_words(other, tables)
        case PersonJoin(one, other):
            found = partners_words(one, tables) + partners_words(other, tables)
            theirs = ", ".join(tables_of(other))
            return [*found, f"of a row's partners in {theirs} at most {partners(plan, tables):,} count"]
        case Filter(source) | Derive(source) | Project(source) | Join(source) | PerPerson(source):
            return partners_words(source, tables)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
