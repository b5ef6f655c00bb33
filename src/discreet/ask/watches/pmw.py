"""Interactive sessions of private multiplicative weights on a table of the vault: one charge, and many answers.

The ledger has one debit for a session, a running release, made before any row is read, under a key of its own. Its
first part is the beginning: noisy counts of single columns. Every answer is a part as well, settled before it is told.
What is never told, the noisy threshold, is sealed beside the vault. So a session that dies is gone on with, by the same
analyst, in any process of the same machine: from its parts, which are public, and from the state after the last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import reduce
from operator import or_
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.price import Price
from discreet.ask.priced import unit_and_reach
from discreet.ask.question import QueryBase, Question
from discreet.ask.registered import engine_of
from discreet.ask.release import charge_of
from discreet.core.errors import BadParameter, Refusal
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import Conflict, QuestionFailed
from discreet.ledger.running.part import RunBehind
from discreet.ledger.running.runs import PartDone
from discreet.plan.expressions import Expression, Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, declared, shown
from discreet.plan.nodes import Datum, Filter, Plan
from discreet.plan.serial import plan_record
from discreet.plan.to_sql.marginals import Axis, marginals
from discreet.plan.to_sql.tally_tables import single, tallied
from discreet.publish.code_table import Counts
from discreet.publish.coding import DEFAULT_BINS, Coding, ColumnCode
from discreet.publish.domain import Clique
from discreet.publish.kernels import filled, number
from discreet.publish.model.fit import NoisyMarginal
from discreet.publish.pmw import Weights, picked
from discreet.publish.pmw_session import Picked, Weighing
from discreet.publish.synthetic_data import SyntheticData, SyntheticEstimate

if TYPE_CHECKING:
    from discreet.ask.desk import RunDoor
    from discreet.ask.runner import Runner
    from discreet.ledger.charge import Receipt
    from discreet.noise.draws import Draws


@dataclass(frozen=True, slots=True)
class Interactive:
    """A session that is asked for, with its price. All of it is a function of the terms and the schema.

    Guarantee: `terms.loss` is what the session costs, under the unit's relation, whatever is asked in it.
    """

    query: QueryBase
    terms: Weights
    unit: Unit
    coding: Coding

    @property
    def question(self) -> str:
        """The terms as one canonical line of JSON: what the ledger shows of the session."""
        terms = self.terms
        return json.dumps(
            {
                "pmw": {
                    "alpha": str(terms.alpha),
                    "beta": str(terms.beta),
                    "updates": terms.updates,
                    "questions": terms.questions,
                    "coding": self.coding.record(),
                },
                "plan": plan_record(self.query.plan),
                "price": {"currency": terms.allowance.currency, "amount": str(terms.allowance.amount)},
                "unit": self.unit.record(),
                "tables": {name: table.record() for name, table in self.query.tables.items()},
            },
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def begin(self) -> Weighed:
        """Pay for the whole session, measure its beginning, and open it.

        Guarantee: the debit is durable before any row is read.
        """
        query = self.query
        query.desk.access.check(query.registered)
        label = f"interactive session on {', '.join(query.tables)}"
        receipt = query.desk.access.runs.begin(charge_of(query, self.question, self.terms.loss, label), "pmw")
        return Weighed(self, receipt)

    def resume(self, key: str) -> Weighed:
        """Go on with a session that was begun on these terms, by the same analyst, on the tables as they are.

        Guarantee: nothing is charged; no answer is drawn a second time in another way.
        """
        query = self.query
        query.desk.access.check(query.registered)
        charged, receipt = query.desk.access.runs.open(key)
        wanted = charge_of(query, self.question, self.terms.loss, charged.label)
        if charged.question != wanted.question:
            why, fix = "it was begun on other terms, or on another table", "resume it with the terms it was begun with"
            raise Conflict("the session", why=why, fix=fix, value=key)
        if dict(charged.tables) != dict(wanted.tables):
            why = "its table was refreshed or declared anew since it was begun"
            raise Conflict("the session", why=why, fix="begin another, which is charged again", value=key)
        return Weighed(self, receipt)

    def measured(self, runner: Runner) -> str:
        """Measure the beginning, and return it as it is settled."""
        axes = [Axis(code.key, code.column.nullable) for code in self.coding.codes]
        with marginals(runner.engine, self.query.plan, axes, runner.relations, runner.dialect, self.unit) as counted:

            def measure(cliques: Sequence[Clique]) -> list[Exact[Counts]]:
                rows = _rows(runner, self.query.plan, self.unit).map(number)
                found = zip(cliques[1:], counted(cliques[1:]), strict=True)
                return [rows, *(cells.map(filled, self.coding.domain.shape(clique)) for clique, cells in found)]

            return _written(self.terms.begin(measure))


class Weighed:
    """Counts of a table, asked one after the other. Made by `session.pmw(...)` or `curator.session(token, pmw=True)`.

    Guarantee: everything it says was paid when it began, and was settled before it is said. No preview, and nothing
    else, says in advance whether a question will be answered by the histogram or by one of the updates. It stops where
    its grant is revoked or its table is changed, and what is left of it is lost. Any failure ends it, in one text.
    While a question is answered, other threads wait until that has taken its pace, whatever they ask of the session;
    other processes that go on with the same session take turns with this one.
    """

    __slots__ = ("_asked", "_failed", "_known", "_lock", "_process", "_weighing", "receipt")

    def __init__(self, asked: Interactive, receipt: Receipt) -> None:
        self._asked, self.receipt = asked, receipt
        self._failed, self._known = False, 0
        self._lock, self._process = RLock(), os.getpid()
        self._weighing = self._rebuilt()

    def answer(self, where: Mapping[str, Any] | None = None, **named: Any) -> SyntheticEstimate:  # noqa: ANN401  (any value)
        """Say how many rows have the given values, with a bar: `answer(ward="A", age=range(18, 65))`.

        A value, a list of them, or a range of numbers; None stands for null. Bins are asked for whole.
        """
        coding = self._asked.coding
        wanted = {**(where or {}), **named}
        codes = {name: coding[name].codes(values) for name, values in wanted.items()}
        found = picked(coding.domain, codes)
        with self._still():
            self._check()
            told = None if self._failed else self._told(found)
        if told is None:
            raise QuestionFailed
        return told

    def _told(self, where: Picked) -> SyntheticEstimate | None:
        """Answer; None if that failed, which ends the session: an engine's failure is a noiseless look at the rows."""
        while True:
            self._weighing.check()
            try:
                found = self._part(where)
            except RunBehind:  # another process went on with the session
                self._weighing = self._rebuilt()
                continue
            except QuestionFailed:
                found = None
            except BaseException:  # what this process learned may not be settled
                self._weighing = self._rebuilt()
                raise
            if found is None:
                self._fail()
            elif not self._weighing.left or self._weighing.asked >= self._asked.terms.questions:
                with suppress(Refusal):  # the custodian's next look ends it
                    self._runs.end(self.receipt.key)
            return found

    def _part(self, where: Picked) -> SyntheticEstimate:
        """Settle one answer as the next part: the histogram moves in this process, and in others by the part's text."""
        weighing = self._weighing
        named = [[place, [*codes]] for place, codes in sorted(where.items())]

        def work(draws: Draws, private: bytes) -> PartDone:
            if private:
                weighing.go_on(private)
            before = weighing.updates
            with draws.at("answer"):
                told = weighing.told(where)
            text = {"where": named, "value": told.value, "bar": told.error, "update": weighing.updates > before}
            return PartDone(json.dumps(text), weighing.private)

        # The guess is public, and part of what is compared: in another process, or release, it may be another.
        asked = json.dumps({"where": named, "guess": round(weighing.guess(where))})
        self._known, text = self._runs.part(self.receipt.key, asked, work, self._asked.query.registered, self._known)
        said = json.loads(text)
        return SyntheticEstimate(said["value"], said["bar"])

    def _rebuilt(self) -> Weighing:
        """Return the session as its settled parts leave it; measure the beginning, if that is not settled yet."""
        if not (parts := self._runs.parts(self.receipt.key)):
            self._begin()
            parts = self._runs.parts(self.receipt.key)
        (_, first), *others = parts
        if first is None:
            self._fail()
            raise QuestionFailed
        found = Weighing(self._asked.terms, _read(first), self._count)
        for _, text in others:
            said = {} if text is None else json.loads(text)
            where = {place: tuple(codes) for place, codes in said.get("where", ())}
            found.relearn(where, said["value"] if said.get("update") else None)
        self._known = len(parts)
        return found

    def _begin(self) -> None:
        query = self._asked.query

        def work(draws: Draws, _: bytes) -> PartDone:
            with query.desk.access.runner(query.registered) as runner, draws.at("beginning"):
                text = self._asked.measured(runner)
            query.desk.access.check(query.registered)  # rows that changed meanwhile answered for no version
            return PartDone(text)

        failed = False
        try:
            self._runs.part(self.receipt.key, "the beginning", work, query.registered, 0)
        except RunBehind:  # another process has begun it
            return
        except QuestionFailed:
            failed = True
        if failed:
            self._fail()
            raise QuestionFailed

    def _fail(self) -> None:
        self._failed = True
        with suppress(Refusal):
            self._runs.end(self.receipt.key, failed=True)

    @property
    def _runs(self) -> RunDoor:
        return self._asked.query.desk.access.runs

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        with self._still():
            return self._weighing.asked

    @property
    def updates(self) -> int:
        """How many of them the histogram could not answer."""
        with self._still():
            return self._weighing.updates

    @property
    def left(self) -> int:
        """How many more of those there may be."""
        with self._still():
            return self._weighing.left

    @property
    def words(self) -> tuple[str, ...]:
        """What the session promises, in sentences."""
        return (*self._weighing.words, *self._asked.coding.left_out)

    def synthetic_data(self) -> SyntheticData:
        """Return the histogram as it is now, as synthetic data: it is free, and its answers have no error bars."""
        with self._still():
            return replace(self._weighing.synthetic_data(), coding=self._asked.coding)

    def __repr__(self) -> str:
        terms = self._asked.terms
        return (
            f"Weighed({self.asked:,} of {terms.questions:,} questions, {self.updates:,} of {terms.updates:,} updates)"
        )

    def _still(self) -> AbstractContextManager[object]:
        """Wait for the answer that is being made; a fork makes none, and its copy of the lock may be taken for ever."""
        return self._lock if os.getpid() == self._process else nullcontext()

    def _check(self) -> None:
        query = self._asked.query
        query.desk.access.admit()
        query.desk.access.check(query.registered)

    def _count(self, where: Picked) -> Exact[int]:
        query, plan = self._asked.query, self._asked.query.plan
        for place, codes in where.items():
            code = self._asked.coding.codes[place]
            if len(codes) < code.size:
                plan = Filter(plan, _condition(code, codes))
        with query.desk.access.runner(query.registered) as runner:
            found = _rows(runner, plan, self._asked.unit)
        self._check()  # rows that changed meanwhile answered for no version
        return found


def interactive(
    query: QueryBase,
    price: Price,
    *,
    columns: Iterable[str] | None = None,
    bins: int = DEFAULT_BINS,
    **terms: Any,  # noqa: ANN401  (checked by Weights.of)
) -> Interactive:
    """Settle what a session is about, and refuse what cannot be, before anything is paid."""
    query = query.frozen()
    if query.keys is not None:
        why = "its questions are about rows, and these are grouped"
        raise BadParameter("group_by", query.keys.names, why=why, fix="start the session before group_by")
    engine_of(query.registered)
    unit, reach = unit_and_reach(Question(query, ()), None)
    known = {name: column for name, column in query.columns.items() if name != unit.identifier}
    coding = Coding.of(known, bins=bins, only=columns)
    paid = price.outright() if price.epsilon is not None and price.delta else price
    budget = Budget(epsilon=paid.epsilon, rho=paid.rho)
    # A reach counts what leaves and what enters under replace; terms are read for the rows of one person.
    rows = reach.rows // 2 if unit.relation == "replace" else reach.rows
    made = Weights.of(coding.domain, budget, rows=rows, relation=unit.relation, **terms)
    return Interactive(query, made, unit, coding)


def _condition(code: ColumnCode, codes: Sequence[int]) -> Expression:
    """Return the condition that a column has one of some codes."""
    name, parts = Name(code.name), []
    values = [each for each in codes if each != code.null]
    if code.edges is None and values:
        listed = declared(code.column) or ()
        parts.append(name.is_in([_shown(code, listed[each]) for each in values]))
    elif code.edges is not None:
        for each in values:
            first, last = (_shown(code, step) for step in code.bin(each))
            parts.append((name >= first) & (name <= last))
    if code.null in codes:
        parts.append(name.is_null())
    return reduce(or_, parts)


def _shown(code: ColumnCode, value: Datum) -> Any:  # noqa: ANN401  (a constant of the column's own kind)
    return shown(code.column, value)


def _rows(runner: Runner, plan: Plan, unit: Unit) -> Exact[int]:
    question = TallyQuery(plan, NO_KEYS, (Tally("rows"),))
    return tallied(runner.engine, question, runner.relations, runner.dialect, unit).map(single)


def _written(begun: Sequence[NoisyMarginal]) -> str:
    return json.dumps([[[*each.clique], each.values.tolist(), each.scale] for each in begun])


def _read(text: str) -> list[NoisyMarginal]:
    return [
        NoisyMarginal(tuple(clique), np.asarray(values, np.float64), scale)
        for clique, values, scale in json.loads(text)
    ]
