"""Synthesize: synthetic data of a question's rows, from marginals the engine counts; paid once, replayed for free."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.account.budgets.price import Price
from discreet.account.losses.composition import under
from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.priced import unit_and_reach
from discreet.ask.question import QueryBase, Question
from discreet.ask.registered import engine_of, unit_words
from discreet.ask.release import pay
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.ledger.artefacts.settlement import Filed
from discreet.plan.serial import plan_record
from discreet.plan.to_sql.marginals import Axis, marginals
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Counts, Measure
from discreet.publish.coding import DEFAULT_BINS, Coding
from discreet.publish.domain import Clique, Domain
from discreet.publish.expected_error import Expected, expected
from discreet.publish.kernels import filled
from discreet.publish.method import MarginalWorkload, check_cells, check_method
from discreet.publish.stages import Progress, Stage, stages_of
from discreet.publish.synthesis import WorkloadLike, chosen, synthesized
from discreet.publish.synthetic_data import SyntheticData
from discreet.publish.zeros import Zero

if TYPE_CHECKING:
    from discreet.ask.request import Fresh
    from discreet.ask.runner import Runner
    from discreet.ledger.charge import Receipt
    from discreet.noise.draws import Draws


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Requested synthetic data, with its price. All of it is a function of the question and the schema.

    Guarantee: `loss` is what the synthetic data costs, under the unit's relation, for any behaviour of its method.
    """

    query: QueryBase
    method: str
    price: Price
    unit: Unit
    allowance: Allowance
    coding: Coding
    workload: WorkloadLike
    zeros: tuple[Zero, ...]
    size: int | None
    words: tuple[str, ...]

    @property
    def domain(self) -> Domain:
        """The codes of its columns."""
        return self.coding.domain

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs, all of it charged before any row is read."""
        return under(self.allowance.loss, self.unit.relation)

    @property
    def expected(self) -> Expected:
        """How far noise alone would put its marginals."""
        return expected(self.domain, self.allowance, MarginalWorkload.of(self.domain, self.workload), self.size)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The steps it will go through, and about how long they take."""
        return stages_of(self.method, self.domain, MarginalWorkload.of(self.domain, self.workload))

    @property
    def label(self) -> str:
        """A few words for people who read the ledger."""
        return f"synthetic data of {', '.join(self.query.tables)} by {self.method}"

    @property
    def question(self) -> str:
        """The question and its parameters as one canonical line of JSON: what the ledger knows it by."""
        workload = MarginalWorkload.of(self.domain, self.workload).weights
        asked = {
            "method": self.method,
            "workload": [[*self.domain.named(clique)] for clique in workload],
            "coding": self.coding.record(),
            "zeros": [[[*zero.clique], np.flatnonzero(zero.never).tolist()] for zero in self.zeros],
        }
        return json.dumps(
            {
                "synthesize": asked,
                "plan": plan_record(self.query.plan),
                "price": self.price.record(),
                "unit": self.unit.record(),
                "tables": {name: table.record() for name, table in self.query.tables.items()},
            },
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def release(self, progress: Progress | None = None, *, fresh: Fresh = False) -> tuple[SyntheticData, Receipt]:
        """Pay once, and return the only synthetic data of this question; `progress` is called as stages start.

        Guarantee: stages follow from the question. Of a run that was broken off nobody has paid to know more. It is
        begun once: fits in floats differ from one processor to the next, so that nobody tries to repeat its draws.
        """

        def work(runner: Runner, _: Draws) -> Filed:
            axes = [Axis(code.key, code.column.nullable) for code in self.coding.codes]
            plan, relations = self.query.plan, runner.relations
            with marginals(runner.engine, plan, axes, relations, runner.dialect, self.unit) as counted:

                def measure(cliques: Sequence[Clique]) -> list[Exact[Counts]]:
                    found = zip(cliques, counted(cliques), strict=True)
                    return [cells.map(filled, self.domain.shape(clique)) for clique, cells in found]

                return Filed(self._made(measure, progress).to_json(), alone=True)

        text, receipt = pay(self.query, self.question, self.loss, self.label, work, fresh=fresh, once=True)
        return self._told(SyntheticData.from_json(text)), receipt

    def _made(self, measure: Measure, progress: Progress | None) -> SyntheticData:
        synthetic = synthesized(measure, self.domain, self.allowance, self.method, self.workload, progress, self.zeros)
        return self._told(replace(synthetic, coding=self.coding, loss=self.loss))

    def _told(self, synthetic: SyntheticData) -> SyntheticData:
        """Add the notes of this question to those of the method."""
        return replace(synthetic, words=tuple(dict.fromkeys((*self.words, *synthetic.words))))


@dataclass(frozen=True, slots=True)
class SynthesisPreview:
    """The cost and expected error of synthetic data; free, and computed without any data."""

    method: str
    price: str
    expected: Expected
    remaining: tuple[str, ...]
    words: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return the preview as plain JSON values."""
        told = {"method": self.method, "price": self.price, "expected": self.expected.record()}
        return {**told, "remaining": [*self.remaining], "words": [*self.words]}

    @classmethod
    def from_record(cls, record: object, expected: Expected) -> Self:
        """Read what `record` returned; what is expected follows from the question."""
        found = records.fields("preview", record, ("method", "price", "expected", "remaining", "words"))
        return cls(found["method"], found["price"], expected, tuple(found["remaining"]), tuple(found["words"]))

    def __str__(self) -> str:
        return "\n".join([f"method: {self.method}", f"price: {self.price}", *self.remaining, *self.words])

    __repr__ = __str__


def synthesis(
    query: QueryBase,
    method: str,
    price: Price,
    *,
    workload: WorkloadLike = None,
    bins: int = DEFAULT_BINS,
    columns: Iterable[str] | None = None,
    zeros: Iterable[Mapping[str, object]] = (),
) -> Synthesis:
    """Decide what synthetic data is made from, and refuse what cannot be made, before anything is charged."""
    query = query.frozen()
    if query.keys is not None:
        why = "synthetic data is made from rows, and these are grouped"
        raise BadParameter("group_by", query.keys.names, why=why, fix="synthesize before group_by, with that column")
    engine_of(query.registered)
    unit, reach = unit_and_reach(Question(query, ()), None)
    listed, named = [*zeros], _named(columns)
    if named is not None and unit.identifier in named:
        why = "it identifies people, and synthetic data contains none of them"
        raise BadParameter("columns", unit.identifier, why=why, fix="leave it out")
    known = {name: column for name, column in query.columns.items() if name != unit.identifier}
    coding = Coding.of(known, bins=bins, only=named, zeros=listed)
    allowance = _allowance(price, reach.rows)
    wanted = MarginalWorkload.of(coding.domain, workload)
    words: tuple[str, ...] = ()
    if method == "auto":
        method, why = chosen(coding.domain, allowance, wanted)
        words = (f"chosen automatically: {why}",)
    check_method(method, coding.domain)
    check_cells(method, coding.domain, wanted)
    found = Synthesis(
        query, method, price, unit, allowance, coding, workload, coding.zeros(listed), reach.size, words=()
    )
    protects = f"protects {unit_words(unit)}"
    return replace(found, words=(*words, *coding.left_out, protects, *found.expected.words))


def preview(asked: Synthesis) -> SynthesisPreview:
    """Show what synthetic data would cost, what would remain, and the expected error."""
    from discreet.ask.preview import remaining_after

    remaining = tuple(remaining_after(asked.query, asked.loss))
    return SynthesisPreview(asked.method, str(asked.price), asked.expected, remaining, asked.words)


def _named(columns: Iterable[str] | None) -> list[str] | None:
    if isinstance(columns, str):
        raise BadParameter("columns", columns, why="it is a list of names", fix=f"write [{columns!r}]")
    return None if columns is None else [*columns]


def _allowance(price: Price, rows: int) -> Allowance:
    """Return what a method may spend: in epsilon, or in the rho of an account of that epsilon and delta."""
    if price.rho is not None:
        return Allowance("rho", price.rho, rows)
    assert price.epsilon is not None
    rho = price.outright().rho if price.delta else None
    return Allowance("epsilon", price.epsilon, rows) if rho is None else Allowance("rho", rho, rows)
