"""Watches: counts of a table that are looked at one after the other, for one price, as a running release.

`above_threshold` and `sparse_vector` say of each count whether it reaches a threshold, until the cut-off; `counter`
gives running totals along a column with declared keys. A watch is charged once; every look is a part of it, settled
before it is told. What is never told, the noisy threshold or the noise of blocks, is sealed beside the vault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.price import Price
from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.priced import unit_and_reach
from discreet.ask.query import Query, part_keys
from discreet.ask.question import QueryBase, Question
from discreet.ask.registered import engine_of
from discreet.ask.release import charge_of
from discreet.ask.request import some_fields
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.rational import parse_written
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import Conflict, QuestionFailed
from discreet.ledger.running.runs import PartDone
from discreet.mechanisms.counter import Counter
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery
from discreet.plan.nodes import Filter, Plan
from discreet.plan.serial import canonical_text, plan_record
from discreet.plan.to_sql.tally_tables import single, tallied

if TYPE_CHECKING:
    from discreet.ledger.charge import Receipt
    from discreet.noise.draws import Draws

KINDS = ("above_threshold", "sparse_vector", "counter")
# How many looks there are at most, unless it is said, and in any case: bars hold for all of them together.
QUESTIONS, MOST_QUESTIONS = 1000, 10**6

_FIELDS = ("kind", "threshold", "cutoff", "answers", "questions", "by", "resume")
_BETA = Fraction(1, 20)


@dataclass(frozen=True, slots=True)
class WatchTerms:
    """Terms of a watch: its kind, and what that needs. `resume` is the key of one that goes on."""

    kind: str
    threshold: int | None = None
    cutoff: int | None = None
    answers: Fraction | None = None
    questions: int | None = None
    by: str | None = None
    resume: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadParameter("kind", self.kind, why="there is no such watch", fix=f"use one of {', '.join(KINDS)}")
        wanted = {
            "above_threshold": ("threshold",),
            "sparse_vector": ("threshold", "cutoff"),
            "counter": ("by",),
        }[self.kind]
        optional = {"above_threshold": ("questions",), "sparse_vector": ("answers", "questions"), "counter": ()}[
            self.kind
        ]
        for name in ("threshold", "cutoff", "answers", "questions", "by"):
            given = getattr(self, name) is not None
            if given and name not in (*wanted, *optional):
                why = f"{self.kind} has no such term"
                raise BadParameter(name, getattr(self, name), why=why, fix=f"leave {name} out")
            if not given and name in wanted:
                raise BadParameter(name, None, why=f"{self.kind} needs it", fix=f"give {name}=")
        for name, least in (("threshold", None), ("cutoff", 1), ("questions", 1)):
            value = getattr(self, name)
            if value is not None and (
                type(value) is not int or (least is not None and not least <= value <= MOST_QUESTIONS)
            ):
                why = "it is a whole number" if least is None else f"it is a whole number from 1 to {MOST_QUESTIONS:,}"
                raise BadParameter(name, value, why=why, fix=f"use {name}=100")
        if self.answers is not None and not 0 < self.answers < 1:
            why = "it is the share of the price that pays for noisy counts of what is above"
            raise BadParameter("answers", self.answers, why=why, fix="use answers=0.5, or leave it out")

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values, exact."""
        found = {name: getattr(self, name) for name in _FIELDS}
        return {**found, "answers": None if self.answers is None else str(self.answers)}

    @classmethod
    def from_record(cls, record: object) -> WatchTerms:
        """Read what `record` returned; what is left out stays as usual."""
        found = dict(some_fields("spec", record, _FIELDS, ("kind",)))
        for name in ("kind", "by", "resume"):
            if found.get(name) is not None and not isinstance(found[name], str):
                raise BadParameter(name, "...", why="it is a text", fix="leave it out")
        share = found.get("answers")
        if isinstance(share, str):
            found["answers"] = parse_written("answers", share)
        elif share is not None:
            raise BadParameter("answers", "...", why="a share is exact text", fix='write "1/2"')
        return cls(**found)


@dataclass(frozen=True, slots=True)
class PricedWatch:
    """A watch with its price. All of it is a function of the terms and the schema: nothing here has seen data.

    Guarantee: `loss` is what the watch costs, under the unit's relation, whatever is asked in it, and in which order.
    """

    query: QueryBase
    terms: WatchTerms
    epsilon: Fraction
    unit: Unit
    mechanism: SparseVector | Counter
    keys: tuple[Any, ...] = ()

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs, in full, when it begins."""
        return self.mechanism.loss

    @property
    def looks(self) -> int:
        """How many parts there are at most."""
        return len(self.keys) if self.keys else self.terms.questions or QUESTIONS

    @property
    def error(self) -> float:
        """How far off comparisons, answers or totals may be, in rows; all of them together, except with 1 in 20."""
        if isinstance(self.mechanism, Counter):
            return self.mechanism.error(_BETA)
        return self.mechanism.error(_BETA, queries=self.looks)

    @property
    def words(self) -> tuple[str, ...]:
        """Say what a watch promises, and for what it stops."""
        near = f"{self.error:,.0f} rows"
        price = f"for epsilon {float(self.epsilon):.6g}, all of it spent at the start"
        if isinstance(self.mechanism, Counter):
            return (
                f"{self.looks:,} running totals along {self.terms.by}, {price}",
                f"all totals are within {near}, with probability 0.95",
            )
        cutoff = self.mechanism.comparison.cutoff
        said = f"comparisons are right for counts further than {near} from {self.terms.threshold:,}"
        told = (f"counts that are found above are told within {near}",) if self.terms.answers is not None else ()
        return (
            f"up to {self.looks:,} counts are compared with {self.terms.threshold:,}, {price}",
            f"{said}, all of them with probability 0.95",
            *told,
            f"it ends when {cutoff:,} {'was' if cutoff == 1 else 'were'} found above",
        )

    @property
    def question(self) -> str:
        """The terms as one canonical line of JSON: what the ledger shows of the watch."""
        return canonical_text(
            {
                "watch": {**self.terms.record(), "resume": None},
                "plan": plan_record(self.query.plan),
                "price": {"epsilon": str(self.epsilon)},
                "unit": self.unit.record(),
                "tables": {name: table.record() for name, table in self.query.tables.items()},
            }
        )

    def begin(self) -> Receipt:
        """Pay for the whole watch.

        Guarantee: the debit is durable before any row is read.
        """
        query = self.query
        query.desk.access.check(query.registered)
        label = f"{self.terms.kind} on {', '.join(query.tables)}"
        return query.desk.access.runs.begin(charge_of(query, self.question, self.loss, label), self.terms.kind)

    def resumed(self, key: str) -> Receipt:
        """Return the receipt of a watch that was begun on these terms, by the same analyst, on the tables as they are.

        Guarantee: nothing is charged.
        """
        query = self.query
        query.desk.access.check(query.registered)
        charged, receipt = query.desk.access.runs.open(key)
        wanted = charge_of(query, self.question, self.loss, charged.label)
        if charged.question != wanted.question:
            why, fix = "it was begun on other terms, or on another table", "resume it with the terms it was begun with"
            raise Conflict("the watch", why=why, fix=fix, value=key)
        if dict(charged.tables) != dict(wanted.tables):
            why = "its table was refreshed or declared anew since it was begun"
            raise Conflict("the watch", why=why, fix="begin another, which is charged again", value=key)
        return receipt

    def said(self, key: str) -> tuple[dict[str, Any] | None, ...]:
        """Return what the settled parts say; one that failed says nothing."""
        found = self.query.desk.access.runs.parts(key)
        return tuple(None if text is None else json.loads(text) for _, text in found)

    def look(self, key: str, plan: Plan, known: int) -> dict[str, Any]:
        """Settle the next part of a watch: one more count, compared, or one more key, counted up; return what it says.

        A part that was settled after those known, and was asked the same, is returned as it was settled.

        Guarantee: what is told was settled, and paid when the watch began; a part is drawn in one way alone.
        """
        query = self.query
        self.check(plan)
        access = query.desk.access
        access.check(query.registered)
        told = self.said(key)
        asked = self._asked(plan, known)
        if len(told) > known and (found := told[known]) is not None and found["asked"] == asked:
            return {**found, "number": known + 1}
        if self.ended(told):  # only now, so that whoever lost the last part may read it once more
            access.runs.end(key)
            why, fix = "all that was paid for was said", "begin another, which is charged again"
            raise Conflict("the watch", why=why, fix=fix, value=key)

        def work(draws: Draws, private: bytes) -> PartDone:
            with access.runner(query.registered) as runner:
                asked_now = TallyQuery(self._counted(plan, told), NO_KEYS, (Tally("rows"),))
                exact: Exact[int] = tallied(runner.engine, asked_now, runner.relations, runner.dialect, self.unit).map(
                    single
                )
            access.check(query.registered)  # rows that changed meanwhile answered for no version
            with draws.at("look"):
                said, state = self._said(exact, private)
            return PartDone(json.dumps({"asked": asked, **said}), json.dumps(state).encode())

        try:
            number, text = access.runs.part(key, asked, work, query.registered, known)
        except QuestionFailed:  # an engine's failure is a noiseless look at the rows: there is no second one
            access.runs.end(key, failed=True)
            raise
        return {**json.loads(text), "number": number}

    def check(self, plan: Plan) -> None:
        """Refuse a count that is not one of the watch's rows, narrowed by conditions."""
        source = plan
        while isinstance(source, Filter) and source != self.query.plan:
            source = source.source
        if source != self.query.plan or (self.keys and plan != source):
            why = "a watch counts the rows that it was begun with" + (
                ", key by key" if self.keys else ", where conditions hold"
            )
            raise BadParameter("question", "...", why=why, fix="pass conditions alone: watch.look(visits.age >= 65)")

    def _said(self, exact: Exact[int], private: bytes) -> tuple[dict[str, Any], list[Any]]:
        """Return what is told of a count, and the private state after it, which begins here if there is none."""
        kept = json.loads(private) if private else None
        if isinstance(self.mechanism, Counter):
            stream = self.mechanism.session() if kept is None else self.mechanism.resumed(*kept)
            total = stream.add(exact)
            return {"total": total, "at": stream.time}, [*stream.kept]
        session = self.mechanism.session() if kept is None else self.mechanism.resumed(*kept)
        found = session.ask(exact)
        if self.terms.answers is None:
            return {"above": bool(found)}, [*session.kept]
        return {"above": found is not None, "value": found}, [*session.kept]

    def _counted(self, plan: Plan, told: Sequence[Mapping[str, Any] | None]) -> Plan:
        if not self.keys:
            return plan
        done = sum(1 for each in told if each is not None)
        return Filter(plan, Name(str(self.terms.by)) == self.keys[done])

    def _asked(self, plan: Plan, known: int) -> str:
        """Return what tells one question of a watch from another: of the question alone."""
        return sha256(canonical_text([plan_record(plan), known]).encode()).hexdigest()[:32]

    def ended(self, told: Sequence[Mapping[str, Any] | None]) -> bool:
        """Whether all that was paid for was said."""
        done = [each for each in told if each is not None]
        if isinstance(self.mechanism, Counter):
            return len(done) >= self.looks
        return len(told) >= self.looks or sum(each["above"] for each in done) >= self.mechanism.comparison.cutoff


def priced_watch(query: QueryBase, terms: WatchTerms, price: Price) -> PricedWatch:
    """Settle what a watch is about, and refuse what cannot be, before anything is paid."""
    query = query.frozen()
    if query.keys is not None:
        why = "it counts rows, and these are grouped"
        raise BadParameter("group_by", query.keys.names, why=why, fix="begin the watch before group_by")
    if price.epsilon is None or price.delta:
        why = "its noise is that of Laplace, which is paid in epsilon alone"
        raise BadParameter("price", str(price), why=why, fix="use epsilon=0.5")
    if query.desk.minimum_frequency().below:
        why = "the policy withholds groups of few people, and a watch has no noisy count of people to judge by"
        raise BadParameter("kind", terms.kind, why=why, fix="ask for the counts one by one, as questions")
    engine_of(query.registered)
    unit, reach = unit_and_reach(Question(query, ()), None)
    rows, relation = reach.rows, unit.relation
    keys: tuple[Any, ...] = ()
    mechanism: SparseVector | Counter
    if terms.kind == "counter":
        if not (unit.is_row or unit.bound == "table"):
            why = (
                "people are bounded for each count anew, and may be in every one of its increments with all their rows"
            )
            raise BadParameter("by", terms.by, why=why, fix="declare the table with person(..., bound='table')")
        name = str(terms.by)
        if name not in query.columns:
            raise BadParameter("by", name, why="there is no such column", fix=f"use one of {', '.join(query.columns)}")
        keys = tuple(part_keys(name, query.columns))
        # Rows of one person may lie in several increments: their changes are at most as many as they have rows, in all.
        sensitivity = rows if relation == "add_remove" else -(-rows // 2)
        mechanism = Counter(horizon=len(keys), epsilon=price.epsilon, sensitivity=sensitivity, relation=relation)
    else:
        share = terms.answers or Fraction(0)
        # Under replace a reach counts what leaves and what enters; one count moves by the larger of the two alone.
        most = rows if relation == "add_remove" else -(-rows // 2)
        # Above threshold is a sparse vector of one answer. One person more moves no count of rows down.
        mechanism = SparseVector(
            threshold=terms.threshold or 0,
            epsilon=price.epsilon * (1 - share),
            cutoff=terms.cutoff or 1,
            sensitivity=most,
            monotone=relation == "add_remove",
            answers_epsilon=price.epsilon * share if share else None,
            relation=relation,
        )
    return PricedWatch(
        query,
        replace(terms, questions=None if keys else terms.questions or QUESTIONS),
        price.epsilon,
        unit,
        mechanism,
        keys,
    )


def watch_of(query: Query, key: str) -> PricedWatch:
    """Return the watch of a key as it was begun: its terms, price and rows are those of the ledger.

    Guarantee: one that another analyst has begun, or on another version of the tables, is refused.
    """
    charged, _ = query.desk.access.runs.open(key)
    try:
        said = json.loads(charged.question)
        terms, price = WatchTerms.from_record(said["watch"]), Price.of(epsilon=Fraction(said["price"]["epsilon"]))
    except (KeyError, TypeError, ValueError):
        why, fix = "it is no watch", "take the key from the receipt of one"
        raise Conflict("the watch", why=why, fix=fix, value=key) from None
    plan = query.plan
    while plan_record(plan) != said["plan"]:
        if not isinstance(plan, Filter):
            why = "a watch counts the rows that it was begun with, where conditions hold"
            raise BadParameter("question", "...", why=why, fix="pass conditions alone: watch.look(visits.age >= 65)")
        plan = plan.source
    made = priced_watch(replace(query, plan=plan), terms, price)
    made.resumed(key)
    return made
