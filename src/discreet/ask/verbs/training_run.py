"""Training run: a model of a question's rows, clipped person by person; paid once, replayed for free."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self, cast

from discreet.account.budgets.price import Price
from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.priced import unit_and_reach
from discreet.ask.question import QueryBase, Question
from discreet.ask.registered import engine_of, unit_words
from discreet.ask.release import pay
from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.learn.allowance import TrainingAllowance
from discreet.learn.descent import Descent, descent_of
from discreet.learn.linear_model import LinearModel
from discreet.ledger.artefacts.settlement import Filed
from discreet.plan.batches import CodeColumn
from discreet.plan.expressions import Name
from discreet.plan.gradients.person_gradients import Objective, design_rows
from discreet.plan.serial import plan_record

if TYPE_CHECKING:
    from discreet.ask.request import Fresh, TrainingTerms
    from discreet.ask.runner import Runner
    from discreet.ledger.charge import Receipt
    from discreet.noise.draws import Draws

OBJECTIVES = ("logistic", "hinge", "squared")
# Batches are kept in memory for all rounds; so many rows of a declared size are one, and of an unknown size all are:
_ROWS, _PARTS, _MOST_PARTS = 1 << 20, 16, 1 << 12


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A requested model, with its price. All of it is a function of the question and the schema.

    Guarantee: `loss` is what the model costs, under the unit's relation, whatever the rows are.
    """

    query: QueryBase
    terms: TrainingTerms
    price: Price
    unit: Unit
    target: Column
    descent: Descent
    words: tuple[str, ...]

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs, all of it charged before any row is read."""
        return self.descent.allowance.loss

    @property
    def label(self) -> str:
        """A few words for people who read the ledger."""
        return f"a {self.descent.objective} model of {self.target.name} in {', '.join(self.query.tables)}"

    @property
    def question(self) -> str:
        """The question and its parameters as one canonical line of JSON: what the ledger knows it by."""
        asked = {
            "fit": {
                "objective": self.descent.objective,
                "target": self.target.record(),
                "features": self.descent.design.record(),
                "people": self.descent.people,
            },
            "plan": plan_record(self.query.plan),
            "price": self.price.record(),
            "unit": self.unit.record(),
            "tables": {name: table.record() for name, table in self.query.tables.items()},
        }
        return json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    @property
    def parts(self) -> int:
        """How many batches the rows come in."""
        people = self.descent.people
        return _PARTS if people is None else min(max(1, people // _ROWS), _MOST_PARTS)

    def release(self, *, fresh: Fresh = False) -> tuple[LinearModel, Receipt]:
        """Pay once, and return the only model of this question.

        Guarantee: rows of a person are clipped together (`gradient_sum`); each round draws at a label of its own from
        the debit's draws. It is begun once: scores in floats differ from one processor to the next, so that nobody
        tries to repeat its draws.
        """

        def work(runner: Runner, draws: Draws) -> Filed:
            names = [each.name for each in self.descent.design.features]
            wanted = {name: Name(name) for name in (*names, str(self.target.name))}
            batches = runner.batches(self.query.plan, wanted, self.unit, parts=self.parts)
            rows = [each.map(design_rows, self.descent.design) for each in batches]
            trained = self.descent.run(rows, draws.at)
            words = (*self.words, *trained.words)
            made = LinearModel(
                self.descent.objective, self.descent.design, self.target, trained.weights, self.loss, words
            )
            return Filed(made.to_json(), alone=True)

        text, receipt = pay(self.query, self.question, self.loss, self.label, work, fresh=fresh, once=True)
        return LinearModel.from_json(text), receipt


@dataclass(frozen=True, slots=True)
class TrainingPreview:
    """The cost of a model and what to expect of it; free, and computed without any data."""

    objective: str
    price: str
    rounds: int | None
    remaining: tuple[str, ...]
    words: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return the preview as plain JSON values."""
        told = {"objective": self.objective, "price": self.price, "rounds": self.rounds}
        return {**told, "remaining": [*self.remaining], "words": [*self.words]}

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Read what `record` returned."""
        found = records.fields("preview", record, ("objective", "price", "rounds", "remaining", "words"))
        told = (found["objective"], found["price"], found["rounds"])
        return cls(*told, tuple(found["remaining"]), tuple(found["words"]))

    def __str__(self) -> str:
        rounds = "as the number of people tells, which is bought" if self.rounds is None else str(self.rounds)
        head = [f"model: {self.objective}", f"price: {self.price}", f"rounds: {rounds}"]
        return "\n".join([*head, *self.remaining, *self.words])

    __repr__ = __str__


def training_run(query: QueryBase, terms: TrainingTerms, price: Price) -> TrainingRun:
    """Decide what a model is trained from, and refuse what cannot be, before anything is charged."""
    query = query.frozen()
    if query.keys is not None:
        why = "a model is trained on rows, and these are grouped"
        raise BadParameter("group_by", query.keys.names, why=why, fix="train before group_by, with that column")
    if terms.objective not in OBJECTIVES:
        raise UnknownName("model", terms.objective, OBJECTIVES)
    engine_of(query.registered)
    unit, reach = unit_and_reach(Question(query, ()), None)
    if unit.is_row and reach.rows > (2 if unit.relation == "replace" else 1):
        why = "single rows are protected, and joins or unions make several of one"
        fix = "leave them out, or register the table with unit=person(...)"
        raise BadParameter("source", reach.rows, why=why, fix=fix)
    columns = _columns(query, terms, unit)
    target = columns.pop(terms.target)
    people = reach.size if unit.is_row or unit.max_rows == 1 else None
    allowance = TrainingAllowance.at(price, unit.relation)
    descent = descent_of(cast(Objective, terms.objective), columns, target, terms.bins, allowance, people)
    for name in (*columns, terms.target):  # what no engine could number is refused now, and not once it is paid
        CodeColumn.of(name, Name(name), query.columns).sql(Name(name), query.columns, DUCKDB)
    words = (f"protects {unit_words(unit)}", *(descent.words(people) if people is not None else ()))
    return TrainingRun(query, replace(terms), price, unit, target, descent, words)


def preview(asked: TrainingRun) -> TrainingPreview:
    """Show what a model would cost, what would remain, and what to expect."""
    from discreet.ask.preview import remaining_after

    people = asked.descent.people
    rounds = None if people is None else asked.descent.schedule(people).rounds
    remaining = tuple(remaining_after(asked.query, asked.loss))
    return TrainingPreview(asked.descent.objective, str(asked.price), rounds, remaining, asked.words)


def _columns(query: QueryBase, terms: TrainingTerms, unit: Unit) -> dict[str, Column]:
    """Return the declarations of the features and the target: those named, or all whose values were declared."""
    known = {name: column for name, column in query.columns.items() if name != unit.identifier}
    if unit.identifier is not None and unit.identifier in (terms.target, *(terms.columns or ())):
        why = "it identifies people, and a model knows none of them"
        raise BadParameter("columns", unit.identifier, why=why, fix="leave it out")
    for name in (terms.target, *(terms.columns or ())):
        if name not in known:
            raise UnknownName("column", name, known)
    if terms.columns is None:
        usable = (name for name, column in known.items() if column.kind != "text")
    else:
        usable = (name for name in dict.fromkeys(terms.columns))
    named = [name for name in usable if name != terms.target]
    return {name: known[name].named(name) for name in (*named, terms.target)}
