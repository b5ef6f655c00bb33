"""Partition: different questions about disjoint parts of a table, paid together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.price import Price
from discreet.account.losses.composition import total
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.parallel import parallel
from discreet.answers.answer import Answer
from discreet.ask.priced import PricedQuestion, asked
from discreet.ask.programme import Programme
from discreet.ask.question import QueryBase, Question
from discreet.ask.release import kept, left, pay, proof, rehearse, told
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number
from discreet.core.value import dataclass, replace
from discreet.plan.nodes import Derive, Filter, Join, Project
from discreet.plan.stability import stability

if TYPE_CHECKING:
    from discreet.ask.runner import Runner
    from discreet.noise.draws import Draws

# A function of a part, which is a `Query`, that asks it something.
Ask = Callable[[Any], Question]


@dataclass(frozen=True, slots=True)
class Partition:
    """The parts of a table by the declared keys of one column, each to be asked what it likes.

    Guarantee: a release of all parts costs the dearest of them where a unit lies in one part only: rows, and people
    whose rows were bounded to one for the whole table. Otherwise it costs as many times the dearest as a unit can meet
    parts; and the sum of all, where people are bounded in each question by itself, or units are replaced.
    """

    query: QueryBase
    column: str
    parts: Mapping[Any, QueryBase]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, key: object) -> QueryBase:
        """Return one part, as a table to ask about."""
        if key not in self.parts:
            raise UnknownName("part", str(key), [str(each) for each in self.parts])
        return self.parts[key]

    def release(
        self,
        ask: Ask | Mapping[Any, Ask],
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        fresh: bool = False,
    ) -> dict[Any, Answer]:
        """Ask every part, or those that are named, at this price each; return the answers by key.

        Guarantee: `loss` in all, in the ledger before the data are read.
        """
        price, query = Price.of(epsilon, delta, rho), self.query.frozen()
        asks = dict(ask) if isinstance(ask, Mapping) else dict.fromkeys(self, ask)
        if not asks:
            raise BadParameter(
                "ask", {}, why="no part has a question", fix="pass a function of a part, or one for each key"
            )
        parts = {}
        for key, each in asks.items():
            report = self._within(key, each)
            parts[key] = asked(replace(report, query=replace(report.query, snapshot=query.snapshot)), price, None)
        question = json.dumps(
            {"partition": self.column, "parts": [[str(key), part.question] for key, part in parts.items()]},
            ensure_ascii=False,
        )

        made: dict[str, Answer] = {}

        def work(runner: Runner, draws: Draws) -> str:
            listed = enumerate(parts.values())
            run = [Programme(part).run(runner, draws.part(str(place))) for place, part in listed]
            return json.dumps([kept(each, made) for each in run])

        for part in parts.values():
            rehearse(part)

        label = f"{len(parts)} parts by {self.column} from {', '.join(query.tables)}"
        loss = self.loss(parts)
        text, receipt = pay(query, question, loss, label, work, fresh=fresh)
        remaining = left(query, loss, receipt)
        return {
            key: told(each, made, proof(receipt), remaining).arranged(part.columns)
            for (key, part), each in zip(parts.items(), json.loads(text), strict=True)
        }

    def _within(self, key: object, ask: Ask) -> Question:
        """Return what a part is asked, refusing whatever looks beyond it: only what lies apart is paid together."""
        part = self[key]
        report = ask(part) if callable(ask) else ask
        if not callable(ask) or not isinstance(report, Question):
            why = "a part is asked by a function that returns a question"
            raise BadParameter("ask", type(report).__name__, why=why, fix="pass lambda part: part.agg(n=dp.count())")
        plan = report.query.plan
        while plan is not part.plan and isinstance(plan, Filter | Derive | Project | Join):
            plan = plan.source
        if plan is not part.plan or report.query.desk is not part.desk:
            why = "the question uses rows outside this part, and parts are charged together because they are disjoint"
            raise BadParameter(
                "ask",
                str(key),
                why=why,
                fix="use the part that the function is given; union and join come before partition",
            )
        return report

    def loss(self, parts: Mapping[Any, PricedQuestion]) -> PrivacyLoss:
        """Return what all parts cost together."""
        losses = [part.loss for part in parts.values()]
        unit = next(iter(parts.values())).unit
        apart = unit.relation == "add_remove" and (unit.is_row or unit.bound == "table")
        if not apart:
            return total(losses)
        tables = next(iter(parts.values())).report.query.tables
        met = min(stability(self.query.plan, unit, tables, groups=True).l1, len(losses))
        return parallel(*losses) * met
