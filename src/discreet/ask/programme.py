"""Programme: the steps of a priced question, in order: what the engine is asked, and what is drawn where.

There is one list of steps. A release runs it, a preview writes it down, and an audit runs it on made-up rows: what an
audit sees is what answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.column import SampledRows
from discreet.answers.quantity import BracketedValue
from discreet.ask.registered import unit_words
from discreet.ask.remaining import notes_of
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.measures.measure import Measure, drawn_once
from discreet.measures.request import Found, KeyRequest, MeasureScope, Request, RowsRequest, TallyRequest, picked
from discreet.measures.totals import TotalMeasure
from discreet.noise.bits import current
from discreet.plan.keys import NO_KEYS, Keys, Tally, TallyQuery

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.answers.quantity import Quantity
    from discreet.ask.priced import PricedQuestion
    from discreet.core.exact import Exact
    from discreet.measures.request import ExactSource, StatementWriter
    from discreet.noise.draws import Draws
    from discreet.plan.nodes import Datum


_SELECTED = "<a selected key>"


@dataclass(frozen=True, slots=True)
class ProgrammeState:
    """How far a programme has come: the question, for the bound that was bought; its keys; the columns it has."""

    asked: PricedQuestion
    keys: Keys
    mark: str = ""
    columns: Mapping[str, Sequence[Quantity]] = field(default_factory=dict)

    @property
    def scope(self) -> MeasureScope:
        """Whose rows are asked about."""
        return MeasureScope(self.asked.report.query.plan, self.keys, self.asked.unit)

    def _in_order(self) -> Mapping[str, Sequence[Quantity]]:
        """Return the columns, those of quantiles in the order of their ranks."""
        if not any(isinstance(each, BracketedValue) for column in self.columns.values() for each in column):
            return self.columns
        from discreet.ask.rank_order import in_order

        return in_order(self.asked.measures, self.columns)

    def answer(self) -> Answer:
        """Put the columns together, in the order in which they were asked for."""
        asked, keys = self.asked, self.keys
        listed = keys.listed() if keys.columns else ((),)
        rows: list[tuple[Any, ...]] = [
            tuple(key.shown(value) for key, value in zip(keys.columns, row, strict=True)) for row in listed
        ]
        names = list(keys.names)
        for each in asked.measures:
            if each.title is not None:
                names.append(each.title)
                rows = [(*row, label) for row in rows for label in each.labels]
        columns, shown = self._in_order(), frozenset(asked.columns)
        counted = asked.counted
        if counted is not None:
            columns = asked.frequency.withheld(asked.measures, columns, counted)
        return Answer(
            keys=tuple(names),
            rows=tuple(rows),
            columns=tuple(
                self._column(each, name, columns[name])
                for each in asked.measures
                for name in each.columns
                if name in shown
            ),
            loss=asked.loss,
            asked={name: value for name, value in asked.price.record().items() if value not in (None, "0")},
            unit=unit_words(asked.unit),
            notes=notes_of(asked),
        )

    def _column(self, measure: Measure, name: str, quantities: Sequence[Quantity]) -> AnswerColumn:
        return AnswerColumn(
            name,
            tuple(quantities),
            kind=measure.kind,
            words=measure.about,
            mechanism=measure.word,
            noise=measure.noise,
            price=f"{measure.price}{measure.shared}",
            sampled=sampled_rows_of(measure, self.asked.unit),
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """What is drawn at one label of a debit's draws, and the loss that was promised for it."""

    label: str
    loss: PrivacyLoss
    words: str


class Step(ABC):
    """One request to the engine, and what is drawn from what it finds."""

    __slots__ = ()

    @abstractmethod
    def request(self, at: ProgrammeState) -> Request:
        """Return what is asked."""

    @abstractmethod
    def claims(self, at: ProgrammeState) -> Iterator[Claim]:
        """Yield what is drawn, label by label."""

    @abstractmethod
    def drawn(self, at: ProgrammeState, found: Found, draws: Draws) -> ProgrammeState:
        """Put what was found through its mechanism.

        Guarantee: what is returned depends on rows through the losses of `claims` alone.
        """

    def run(self, at: ProgrammeState, engine: ExactSource, draws: Draws) -> ProgrammeState:
        """Ask, and draw."""
        with self.request(at).found(engine) as found:
            return self.drawn(at, found, draws)

    def supposed(self, at: ProgrammeState) -> ProgrammeState:
        """Return how far the programme has come after this step, where nothing was asked or drawn."""
        return at


@dataclass(frozen=True, slots=True)
class KeyStep(Step):
    """Selects the keys of the answer by how many people have each, as many as there is room for."""

    def request(self, at: ProgrammeState) -> Request:
        """Ask how many people have each key."""
        query = TallyQuery(at.scope.plan, at.keys, (Tally("people"),))
        return KeyRequest("how many people have each key, for private selection", query, at.asked.unit)

    def claims(self, at: ProgrammeState) -> Iterator[Claim]:
        """Yield the selection."""
        assert at.asked.selection is not None
        yield Claim("keys/selection", at.asked.selection.loss, "keys")

    def drawn(self, at: ProgrammeState, found: Exact[Mapping[tuple[Datum, ...], int]], draws: Draws) -> ProgrammeState:
        """Keep the keys that pass."""
        assert at.asked.selection is not None
        with draws.at("keys/selection"):
            kept = at.asked.selection.release(found)
        return replace(at, keys=at.keys.chosen(kept[: at.keys.room]))

    def supposed(self, at: ProgrammeState) -> ProgrammeState:
        """Let one key stand for all, since which there are is not known."""
        one = tuple(_SELECTED if key.values is None else key.values[0] for key in at.keys.columns)
        return replace(at, keys=at.keys.chosen([one]))


@dataclass(frozen=True, slots=True)
class BoundStep(Step):
    """Buys the number of rows that one person counts for."""

    def request(self, at: ProgrammeState) -> Request:
        """Ask how many people have each number of rows."""
        assert at.asked.bound is not None
        title = "how many people have each number of rows, for max_rows"
        return RowsRequest(title, at.scope.plan, at.asked.bound.most, at.asked.unit)

    def claims(self, at: ProgrammeState) -> Iterator[Claim]:
        """Yield the bound."""
        assert at.asked.bound is not None
        yield Claim("rows/quantile", at.asked.bound.loss, "max_rows")

    def drawn(self, at: ProgrammeState, found: Exact[Mapping[int, int]], draws: Draws) -> ProgrammeState:
        """Make the noise of all measures for the bound that is drawn."""
        assert at.asked.bound is not None
        with draws.at("rows/quantile"):
            most = at.asked.bound.release(found)
        return replace(at, asked=at.asked.at_bound(most))


@dataclass(frozen=True, slots=True)
class MeasureStep(Step):
    """Answers measures, known by their places in the question: one alone, or all that share a scan."""

    places: tuple[int, ...]

    def measures(self, at: ProgrammeState) -> list[Measure]:
        """Return the measures, for the bound that holds by now."""
        return [at.asked.measures[place] for place in self.places]

    def request(self, at: ProgrammeState) -> Request:
        """Ask what the one measure asks."""
        (only,) = self.measures(at)
        return only.request(at.scope)

    def claims(self, at: ProgrammeState) -> Iterator[Claim]:
        """Yield every label, once for all measures that are drawn there."""
        for alike in drawn_once(self.measures(at)):
            yield Claim(alike[0].label, alike[0].loss, ", ".join(dict.fromkeys(each.kind for each in alike)))

    def run(self, at: ProgrammeState, engine: ExactSource, draws: Draws) -> ProgrammeState:
        """Ask, and draw; where no key was selected, there is nothing to ask about."""
        if at.scope.groups:
            return Step.run(self, at, engine, draws)
        return _with(at, {name: () for each in self.measures(at) for name in each.columns})

    def drawn(self, at: ProgrammeState, found: Found, draws: Draws) -> ProgrammeState:
        """Make what was found noisy."""
        columns: dict[str, Sequence[Quantity]] = {}
        own = {each.name: part for each, part in zip(self.measures(at), self.parts(at, found), strict=True)}
        for alike in drawn_once(self.measures(at)):
            with draws.at(alike[0].label):
                columns |= alike[0].noisy_together(alike, own[alike[0].name], at.scope.groups, at.mark)
        return _with(at, columns)

    def parts(self, at: ProgrammeState, found: Found) -> list[Found]:
        """Return what was found for each measure."""
        return [found for _ in self.measures(at)]


@dataclass(frozen=True, slots=True)
class SharedStep(MeasureStep):
    """Answers all measures whose integers are found in one scan, each tally once."""

    def request(self, at: ProgrammeState) -> Request:
        """Ask for the tallies of all of them."""
        query = TallyQuery(at.scope.plan, at.keys, tuple(self._tallied(at)[0]), weighed=True)
        return TallyRequest("the sums of every group", query, at.asked.unit)

    def parts(self, at: ProgrammeState, found: Found) -> list[Found]:
        """Return the tallies of each measure, group by group."""
        return [found.map(picked, own) for own in self._tallied(at)[1]]

    def _tallied(self, at: ProgrammeState) -> tuple[list[Tally], list[list[int]]]:
        """Return the tallies that are wanted, each once, and where every measure finds its own."""
        wanted: dict[tuple[object, ...], tuple[int, Tally]] = {}
        places: list[list[int]] = []
        for each in self.measures(at):
            found = [wanted.setdefault(tally.signature, (len(wanted), tally)) for tally in each.tallies]
            places.append([place for place, _ in found])
        return [tally for _, tally in wanted.values()], places


@dataclass(frozen=True, slots=True)
class Programme:
    """The steps of one priced question.

    Guarantee: on the same rows the same draws give the same answer, whatever the order in which an engine returns rows;
    what an answer tells of rows was drawn at the labels of `claims`, whose losses are those of the question.
    """

    asked: PricedQuestion

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is done, in order."""
        numbered = list(enumerate(self.asked.measures))
        shared = tuple(place for place, each in numbered if each.tallies)
        steps: list[Step] = []
        if self.asked.selection is not None:
            steps.append(KeyStep())
        if self.asked.bound is not None:
            steps.append(BoundStep())
        if shared:
            steps.append(SharedStep(shared))
        return (*steps, *(MeasureStep((place,)) for place, each in numbered if not each.tallies))

    def run(self, engine: ExactSource, draws: Draws) -> Answer:
        """Compute and perturb; what comes back may be shown to anyone who may ask."""
        return self.drawn(engine, draws).answer()

    def drawn(self, engine: ExactSource, draws: Draws) -> ProgrammeState:
        """Take every step, and return how far the programme has come: all is drawn, and nothing is written down."""
        with draws.at("mark"):
            mark = f"{current().bits(64):016x}"
        at = replace(self.start, mark=mark)
        for step in self.steps:
            at = step.run(at, engine, draws)
        return at

    def describe(self, writer: StatementWriter) -> list[str]:
        """Write down what the engine would be asked, in the order in which it would run; nothing is asked or drawn."""
        at = self.start
        found: list[str] = []
        for step in self.steps:
            found += step.request(at).written(writer)
            at = step.supposed(at)
        return found

    def claims(self) -> list[Claim]:
        """Return what is drawn, label by label, in order."""
        at = self.start
        found: list[Claim] = []
        for step in self.steps:
            found += step.claims(at)
            at = step.supposed(at)
        return found

    @property
    def start(self) -> ProgrammeState:
        """Where the programme begins: nothing is bought, and keys are as they were asked for."""
        return ProgrammeState(self.asked, self.asked.report.query.keys or NO_KEYS)


def _with(at: ProgrammeState, columns: Mapping[str, Sequence[Quantity]]) -> ProgrammeState:
    return replace(at, columns={**at.columns, **columns})


_COUNTS = ("count", "histogram", "cdf")
_FUNCTIONS = ("mean", "variance", "std")


def sampled_rows_of(measure: Measure, unit: Unit) -> SampledRows | None:
    """Return what a row adds to a column, from declarations alone; None of what has no interval of sampling."""
    most = unit.max_rows
    if measure.kind in _COUNTS:
        return SampledRows(most, Fraction(0), Fraction(1), all_rows=measure.about == "number of rows")
    if measure.kind == "people":
        return SampledRows(unit.max_groups, Fraction(0), Fraction(1))
    if measure.kind == "sum":
        ends = (getattr(getattr(measure, "statistic", None), end, None) for end in ("low", "high"))
        low, high = (None if end is None else Fraction(end) for end in ends)
        # Of clamped totals a person has one.
        return SampledRows(1 if isinstance(measure, TotalMeasure) else most, low, high)
    return SampledRows(most) if measure.kind in _FUNCTIONS else None
