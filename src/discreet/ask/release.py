"""Answering: charge, compute exact integers in the engine, add noise, settle, and only then tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.exceeded import rounded_down
from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.quantity import Quantity
from discreet.ask.declaration import unit_words
from discreet.ask.priced import PricedQuestion, Rows
from discreet.ask.rehearsal import rehearse
from discreet.ask.remaining import left_after, reworded
from discreet.ask.words import notes_of
from discreet.core.errors import Refusal
from discreet.ledger.charge import Charge
from discreet.ledger.refusals import LimitExceeded
from discreet.measures.bins import BinMeasure
from discreet.measures.quantiles import QuantileMeasure
from discreet.measures.sums import SumMeasure
from discreet.noise.bits import current
from discreet.plan.keys import NO_KEYS, Key, Keys
from discreet.plan.tallies import Tally, TallyQuery

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.query_base import QueryBase
    from discreet.ask.runner import Runner
    from discreet.ledger.charge import Receipt
    from discreet.noise.draws import Draws


def release(asked: PricedQuestion, max_rows: Rows = None, *, fresh: bool = False) -> Answer:
    """Pay for a question, once, and return its one answer; a refusal says which price would fit, at the same rows.

    Guarantee: see `Report.release`.
    """
    query = asked.report.query

    def work(runner: Runner, draws: Draws) -> str:
        return answer(asked, runner, draws).to_json()

    rehearse(asked)
    try:
        text, receipt = pay(query, asked.question, asked.loss, asked.label, work, fresh=fresh)
    except LimitExceeded as refusal:
        with suppress(Refusal):  # a vault that cannot be read now leaves the ledger's own words
            reworded(refusal, asked, max_rows)
        raise
    told = Answer.from_json(text, receipt=proof(receipt), remaining=left(query, asked.loss, receipt))
    return told.arranged(asked.columns)


def pay(
    query: QueryBase,
    question: str,
    loss: PrivacyLoss,
    label: str,
    work: Callable[[Runner, Draws], str],
    *,
    fresh: bool,
    once: bool = False,
) -> tuple[str, Receipt]:
    """Charge every account under a query, work on its tables, settle and return what was settled.

    Work that is not done `once` draws all its noise from the `Draws` it is given, each number at a label of its own.

    Guarantee: `work` begins only when the debit is durable, and what it returns is told only once it is settled; an
    exception out of it is never told, and settles the debit as failed (`Ledger.run`).
    """
    query = query.frozen()
    session, registered = query.desk, query.registered
    session.check(registered)
    charge = Charge(
        question=question,
        losses=dict.fromkeys(query.accounts, loss),
        tables={name: found.version for name, found in registered.items()},
        analyst=session.analyst,
        grant=session.grant,
        label=label,
        once=once,
    )

    def worked(draws: Draws) -> str:
        with session.runner(registered) as runner:
            text = work(runner, draws)
        session.check(registered)  # rows that changed meanwhile answered for no version
        return text

    return session.run(charge, worked, fresh=fresh, engine=lambda: session.engine(registered))


def answer(asked: PricedQuestion, runner: Runner, draws: Draws) -> Answer:
    """Compute and perturb; what comes back may be shown to anyone who may ask.

    Guarantee: on the same rows the same draws give the same answer, whatever the order in which an engine returns rows.
    """
    with draws.at("mark"):
        mark = f"{current().bits(64):016x}"
    keys = _keys(asked, runner, draws)
    if asked.bound is not None:
        people = runner.rows_by_person(asked.report.query.plan, asked.bound.most)
        with draws.at("rows/quantile"):
            asked = asked.at_bound(asked.bound.release(people))
    rows, columns = _columns(asked, runner, keys, mark, draws)
    names = list(keys.names)
    if isinstance(asked.measures[0], BinMeasure):
        names.append(asked.measures[0].title)
    return Answer(
        keys=tuple(names),
        rows=tuple(rows),
        columns=tuple(columns),
        loss=asked.loss,
        asked={name: value for name, value in asked.price.record().items() if value not in (None, "0")},
        unit=unit_words(asked.unit),
        notes=notes_of(asked),
    )


def _keys(asked: PricedQuestion, runner: Runner, draws: Draws) -> Keys:
    """Return the keys of the answer: declared, or selected by how many people have each, as many as there is room."""
    keys = asked.report.query.keys or NO_KEYS
    if asked.selection is None:
        return keys
    found = runner.tallies(TallyQuery(asked.report.query.plan, keys, (Tally("people"),)), asked.unit)
    width = len(keys.columns)
    people = {tuple(row[:width]): int(row[width] or 0) for row in found}
    with draws.at("keys/selection"):
        kept = asked.selection.release(people)
    return keys.chosen(kept[: keys.room])


def _columns(
    asked: PricedQuestion, runner: Runner, keys: Keys, mark: str, draws: Draws
) -> tuple[list[tuple[Any, ...]], list[AnswerColumn]]:
    plan, first = asked.report.query.plan, asked.measures[0]
    groups = keys.listed() if keys.columns else ((),)
    shown = [tuple(key.shown(value) for key, value in zip(keys.columns, row, strict=True)) for row in groups]
    if isinstance(first, BinMeasure):
        labels = first.rows()
        counts = _bins(asked, first, runner, keys, len(groups))
        with draws.at(f"column {first.name}/bins"):
            column = _column(first, first.name, first.answers(counts, mark))
        return [(*row, label) for row in shown for label in labels], [column]
    columns: list[AnswerColumn] = []
    sums = [each for each in asked.measures if isinstance(each, SumMeasure)]
    tallied = _tallied(asked, sums, runner, keys) if sums and groups else {}
    for each in asked.measures:
        if isinstance(each, SumMeasure):
            with draws.at(f"column {each.name}/noise"):
                noisy = each.noisy(tallied.get(each.name, []))
            found = each.quantities(noisy, mark)
            columns.append(_column(each, each.name, found))
        elif isinstance(each, QuantileMeasure):
            found_columns: list[list[Quantity]] = [[] for _ in each.columns]
            if groups:
                with (
                    runner.counts(plan, keys, each.of, asked.unit) as counts_of,
                    draws.at(f"column {each.name}/quantile"),
                ):
                    found_columns = each.answers(counts_of, len(groups))
            columns += [_column(each, name, cells) for name, cells in zip(each.columns, found_columns, strict=True)]
    return shown, columns


def _tallied(
    asked: PricedQuestion, sums: Sequence[SumMeasure], runner: Runner, keys: Keys
) -> Mapping[str, list[tuple[int, ...]]]:
    """Return the exact tallies of all groups for every measure, from one scan."""
    question, places = tallied_question(asked, sums, keys)
    rows = runner.in_order(question, asked.unit)
    return {name: [tuple(row[place] for place in at) for row in rows] for name, at in places.items()}


def tallied_question(
    asked: PricedQuestion, sums: Sequence[SumMeasure], keys: Keys
) -> tuple[TallyQuery, dict[str, list[int]]]:
    """Return what the engine is asked for all measures, each tally once, and where every measure finds its own."""
    wanted: list[Tally] = []
    places: dict[str, list[int]] = {}
    for each in sums:
        places[each.name] = []
        for tally in each.tallies:
            known = [number for number, other in enumerate(wanted) if tally.same_as(other)]
            if not known:
                wanted.append(tally)
            places[each.name].append(known[0] if known else len(wanted) - 1)
    return TallyQuery(asked.report.query.plan, keys, tuple(wanted)), places


def binned_question(asked: PricedQuestion, measure: BinMeasure, keys: Keys) -> TallyQuery:
    """Return what the engine is asked for a table of bins."""
    return TallyQuery(measure.plan(asked.report.query.plan), _with(keys, measure.bin), (Tally("rows"),))


def _bins(asked: PricedQuestion, measure: BinMeasure, runner: Runner, keys: Keys, groups: int) -> list[list[int]]:
    """Return the exact count of every bin in every group, from one scan."""
    rows = runner.in_order(binned_question(asked, measure, keys), asked.unit)
    width = len(rows) // groups if groups else 0
    return [[row[0] for row in rows[place * width : (place + 1) * width]] for place in range(groups)]


def _with(keys: Keys, bin_: Key) -> Keys:
    """Return keys with one more column, which varies fastest."""
    only = None if keys.only is None else tuple((*row, value) for row in keys.only for value in bin_.values or ())
    return Keys((*keys.columns, bin_), only)


def _column(
    measure: SumMeasure | QuantileMeasure | BinMeasure, name: str, quantities: Sequence[Quantity]
) -> AnswerColumn:
    return AnswerColumn(
        name,
        tuple(quantities),
        kind=measure.kind,
        words=measure.about,
        mechanism=measure.word,
        noise=measure.noise,
        price=str(measure.price),
    )


def proof(receipt: Receipt) -> dict[str, Any]:
    """Return what an answer shows of its receipt."""
    return {"sequence": receipt.sequence, "head": receipt.head, "key": receipt.key, "replayed": receipt.replayed}


def left(query: QueryBase, loss: PrivacyLoss, receipt: Receipt) -> str:
    """Say what is left of the tightest limit; where that cannot be read, of every account, as its filter counts."""
    if found := left_after(query, loss):
        return found
    parts = [
        f"{rounded_down(Fraction(left['loss']))} {left['currency']}"
        + (f", delta {rounded_down(Fraction(left['delta']))}" if Fraction(left["delta"]) else "")
        + (f" of {account}" if len(receipt.remaining) > 1 else "")
        for account, left in receipt.remaining.items()
    ]
    return "; ".join(parts)
