"""Releases: rehearse, charge, compute exact integers in the engine, add noise, settle, and only then tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.exceeded import rounded_down
from discreet.answers.answer import Answer
from discreet.ask.priced import PricedQuestion, Rows, spelled
from discreet.ask.priced import asked as asked_now
from discreet.ask.programme import Programme
from discreet.ask.registered import with_referred
from discreet.ask.remaining import left_after, notes_of, reworded
from discreet.core.errors import BadParameter, Refusal
from discreet.core.garbage import uncollected
from discreet.ledger.charge import Charge
from discreet.ledger.refusals import LimitExceeded

if TYPE_CHECKING:
    from discreet.account.budgets.price import Price
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.question import QueryBase, Question
    from discreet.ask.request import Fresh
    from discreet.ask.runner import Runner
    from discreet.ledger.artefacts.settlement import Answered
    from discreet.ledger.charge import Receipt
    from discreet.noise.draws import Draws


def rehearse(asked: PricedQuestion) -> None:
    """Refuse a question whose answer could not be written, whatever is read and drawn for it.

    Guarantee: it sees the question and the schema alone. What it refuses costs nothing.
    """
    bounds = [asked]
    if asked.bound is not None:  # the bound that is bought lies between these
        bounds = [asked.at_bound(rows) for rows in {1, asked.bound.most}]
    try:
        _shown(asked)
        for each in bounds:
            json.dumps(notes_of(each))
            for part in each.measures:
                part.rehearse()
    except (OverflowError, ValueError) as error:
        if isinstance(error, BadParameter):
            raise
        why = "its numbers, or those of its noise, are too large to be written"
        fix = "ask in larger units, or at a price nearer to 1"
        raise BadParameter("question", asked.label, why=why, fix=fix) from None


def _shown(asked: PricedQuestion) -> None:
    keys = asked.report.query.keys
    for key in keys.columns if keys is not None else ():
        for value in key.values or ():
            key.shown(value)


def answered(report: Question, price: Price, max_rows: Rows = None, *, fresh: Fresh = False) -> Answer:
    """Return the answer to a question: kept from an earlier replay, settled before, or paid for now.

    Guarantee: see `Report.release`. What is kept is a settled answer, found by the whole question as it was asked, in
    the state of the vault in which it was replayed.
    """
    desk = report.query.desk.access
    if fresh or report.query.snapshot is not None:
        return release(asked_now(report, price, max_rows), max_rows, fresh=fresh)
    said = spelled(report, price, max_rows)
    if isinstance(found := desk.replay(said), Answer):
        return found
    known = desk.known
    priced = asked_now(report, price, max_rows)
    answer = release(priced, max_rows)
    if answer.receipt is not None and answer.receipt["replayed"]:
        desk.keep(said, priced.report.query.registered, answer, known)
    return answer


def release(asked: PricedQuestion, max_rows: Rows = None, *, fresh: Fresh = False) -> Answer:
    """Pay for a question, once, and return its one answer; a refusal says which price would fit, at the same rows.

    Guarantee: see `Report.release`.
    """
    query = asked.report.query

    made: dict[str, Answer] = {}

    def work(runner: Runner, draws: Draws) -> str:
        with uncollected():  # an answer may have very many cells
            return kept(Programme(asked).run(runner, draws), made)

    rehearse(asked)
    try:
        text, receipt = pay(query, asked.question, asked.loss, asked.label, work, fresh=fresh)
    except LimitExceeded as refusal:
        with suppress(Refusal):  # a vault that cannot be read now leaves the ledger's own words
            reworded(refusal, asked, max_rows)
        raise
    return told(text, made, proof(receipt), left(query, asked.loss, receipt)).arranged(asked.columns)


def pay(
    query: QueryBase,
    question: str,
    loss: PrivacyLoss,
    label: str,
    work: Callable[[Runner, Draws], Answered],
    *,
    fresh: Fresh,
    once: bool = False,
) -> tuple[str, Receipt]:
    """Charge every account under a query, work on its tables, settle and return what was settled.

    Work that is not done `once` draws all its noise from the `Draws` it is given, each number at a label of its own.

    Guarantee: `work` begins only when the debit is durable, and what it returns is told only once it is settled; an
    exception out of it is never told, and settles the debit as failed (`Ledger.run`).
    """
    query = query.frozen()
    session, registered = query.desk.access, query.registered
    session.check(registered)
    charge = charge_of(query, question, loss, label, once=once)

    def worked(draws: Draws) -> Answered:
        with session.runner(registered) as runner:
            text = work(runner, draws)
        session.check(registered)  # rows that changed meanwhile answered for no version
        return text

    return session.charge(charge, worked, fresh=fresh, engine=lambda: session.engine(registered))


def charge_of(query: QueryBase, question: str, loss: PrivacyLoss, label: str, *, once: bool = False) -> Charge:
    """Return the charge of a question to every account under a query, for the holder of its session's grant."""
    session, registered = query.desk.access, query.registered
    return Charge(
        question=with_referred(question, registered),
        losses=dict.fromkeys(query.accounts, loss),
        tables={name: found.version for name, found in registered.items()},
        analyst=session.analyst,
        grant=session.grant,
        label=label,
        once=once,
    )


def kept(answer: Answer, made: dict[str, Answer]) -> str:
    """Return the text of an answer, by which it is found among those that were `made` here."""
    text = answer.to_json()
    made[text] = answer
    return text


def told(text: str, made: Mapping[str, Answer], receipt: Mapping[str, Any], remaining: str) -> Answer:
    """Return the answer that was settled: as it was made, if it was made here and just now, or read from its text."""
    answer = made.get(text)
    return (Answer.from_json(text) if answer is None else answer).received(receipt, remaining)


def proof(receipt: Receipt) -> dict[str, Any]:
    """Return what an answer shows of its receipt."""
    shown = {"sequence": receipt.sequence, "head": receipt.head, "key": receipt.key, "replayed": receipt.replayed}
    return {**shown, "attested": dict(receipt.attested)}


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
