"""Transcripts: a question released on two made-up tables, from its text to the answer, with the same results inside.

The release is the one that answers analysts, with session, ledger and settlement. On the second table every mechanism
is given back what it returned on the first. Then nothing is left by which the two answers may differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from discreet.account.budgets.cost import Amount
from discreet.answers.answer import Answer
from discreet.ask.programme import Programme
from discreet.lab.audits.made_up_rows import Data
from discreet.lab.audits.neighbours import Neighbours
from discreet.lab.audits.release.listener import PATTERNS, Ear, Listener, Passage
from discreet.lab.audits.replay import equal_outputs
from discreet.lab.audits.stage import BUDGETS, Currency, Staged
from discreet.lab.audits.subject import Output, Raised
from discreet.noise.draws import new_key

Ask = Callable[[bool], Answer]  # asks the question, freshly or not
Paid = tuple[Amount, ...]  # what each account was charged, in the order of their names

_NEARLY = 1 - Fraction(1, 10**9)  # amounts are compared with so much room for the rounding of floats
_KEYS, _BOUND = "keys/selection", "rows/quantile"


@dataclass(frozen=True, slots=True)
class Heard:
    """A mechanism that both neighbours used, what each of them handed to it, and both passages."""

    label: str
    mechanism: Output
    exact: tuple[Output, Output]
    passages: tuple[Passage, Passage]

    @property
    def differs(self) -> bool:
        """Whether the neighbours can be told apart here."""
        return not equal_outputs(*self.exact)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A question on two neighbours: what both handed to which mechanism, and how else they differ, if they do."""

    heard: tuple[Heard, ...]
    groups: tuple[tuple[Any, ...], ...]
    paid: Paid
    keys: tuple[bytes, ...]
    script: Mapping[str, Output]
    fault: str | None = None
    failed: Exception | None = None  # that both neighbours ended with


def transcript(programme: Programme, staged: Staged, ask: Ask, pair: Neighbours, ear: Ear, turn: int = 0) -> Transcript:
    """Release a question on both neighbours; keys that are selected are those that either has, a bound is the highest.

    `ear` hears the releases; `turn` says which pattern is fed to statistics in place of noise.

    Guarantee: a `fault` shows that the answers differ by more than what mechanisms returned, or that one neighbour uses
    a mechanism that the other does not: no proof of the programme's loss by composition is left.
    """
    accounts, key, pattern = programme.asked.report.query.accounts, new_key(), PATTERNS[turn % len(PATTERNS)]
    keys: list[bytes] = []

    def run(data: Data, script: Mapping[str, Output], given: Sequence[Passage] | None = None) -> _Run:
        listener = Listener(script, given, pattern, key)
        found = _Run(listener, *_asked(staged, ask, accounts, ear, listener, new=staged.show(data)))
        keys.extend(listener.keys)
        return found

    # The table that is shown already goes first; it is asked about afresh.
    sides = (pair.one, pair.other) if staged.shows(pair.one) else (pair.other, pair.one)
    script: dict[str, Output] = {}
    if programme.asked.bound is not None:
        script[_BOUND] = programme.asked.bound.most
    if programme.asked.selection is not None:
        looks = [run(each, {**script, _KEYS: ()}) for each in sides]
        people = [each.exact for found in looks for each in found.listener.passages if each.label == _KEYS]
        script[_KEYS] = sorted({group for each in people for group in each}, key=repr)
        sides = (sides[1], sides[0])
    first = run(sides[0], script)
    second = run(sides[1], script, first.listener.passages)
    zero, one = (first, second) if sides[0] is pair.one else (second, first)
    pairs = zip(zero.listener.passages, one.listener.passages, strict=False)
    heard = tuple(Heard(a.label, a.mechanism, (a.exact, b.exact), (a, b)) for a, b in pairs)
    failed = zero.error if one.error is not None else None
    fault = _fault(programme, first, second)
    paid = (*first.paid, *second.paid) if second.error is None else first.paid
    return Transcript(heard, tuple(script.get(_KEYS, ())), paid, tuple(keys), script, fault, failed)


# One release ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """One release: what was heard of it, what an analyst sees, what was paid, and what asking again showed."""

    listener: Listener
    output: object
    paid: Paid
    error: Exception | None = None
    again: str | None = field(default=None)


def _asked(
    staged: Staged, ask: Ask, accounts: Sequence[str], ear: Ear, listener: Listener, *, new: bool
) -> tuple[object, Paid, Exception | None, str | None]:
    ledger = staged.curator.ledger

    def spent() -> Paid:
        return tuple(ledger.spent(account) for account in accounts)

    before = spent()
    try:
        with ear.lent(listener):
            answer = ask(not new)
    except Exception as error:
        return Raised(type(error).__name__, str(error)), _less(spent(), before), error, None
    after = spent()
    return visible(answer), _less(after, before), None, _again(answer, ask, spent) if new else None


def _again(answer: Answer, ask: Ask, spent: Callable[[], Paid]) -> str | None:
    """Ask the same again, which is free and has the same answer; say what is wrong with that."""
    before = spent()
    try:
        second = ask(False)
    except Exception as error:
        return f"the same question asked again raises {type(error).__name__}"
    if spent() != before:
        return "the same question asked again is charged again"
    replayed = second.receipt is not None and second.receipt.get("replayed") is True
    if not replayed or _text(second) != _text(answer):
        return "the same question asked again has another answer"
    return None


# What a receipt says of its place in the ledger, and of the ledger.
_OF_THE_VAULT = ("sequence", "head", "key", "attested")


def visible(answer: Answer) -> object:
    """Return all that an analyst sees of an answer, in order, but the place of its receipt in the ledger.

    What is left of a budget depends on how often was asked: its digits are left out. So does what the vault signs of
    itself with a receipt, of which the fields and the accounts are compared.
    """
    receipt = {name: value for name, value in (answer.receipt or {}).items() if name not in _OF_THE_VAULT}
    signed = (answer.receipt or {}).get("attested") or {}
    receipt["attested"] = sorted(signed), sorted(signed.get("spent", ()))
    said = repr((answer.keys, answer.rows, answer.notes, answer.unit, dict(answer.asked), answer.loss))
    return (
        _text(answer),
        said,
        str(replace(answer, receipt=None, remaining="")),
        sorted(receipt.items()),
        re.sub(r"[\d.,]+", "#", answer.remaining),
    )


def _text(answer: Answer) -> str:
    return replace(answer, receipt=None, remaining="").to_json()


def _less(after: Paid, before: Paid) -> Paid:
    return tuple(a - b for a, b in zip(after, before, strict=True))


def _fault(programme: Programme, one: _Run, zero: _Run) -> str | None:
    """Say how two runs differ beyond what they handed to mechanisms; `one` ran first."""
    listener = zero.listener
    if listener.diverged is not None and not isinstance(one.output, Raised):
        return listener.diverged
    if listener.diverged is not None or isinstance(one.output, Raised) != isinstance(zero.output, Raised):
        return "one neighbour raises an exception, the other does not"
    claims = [each.label for each in programme.claims()]
    labels = [each.label for each in one.listener.passages]
    if unclaimed := [each for each in labels if each not in claims]:
        return f"something is drawn at {unclaimed[0] or 'no label'!r}, where nothing was promised"
    if len(listener.passages) < len(labels):
        return f"nothing is drawn at {labels[len(listener.passages)]!r} on one neighbour"
    if one.output != zero.output:
        return "with the same draws the answers differ"
    if one.paid != zero.paid:
        return "the neighbours are charged differently"
    silent = [each for each in claims if each not in labels]
    if silent and one.error is None and not _empty(one, programme):
        return f"nothing is drawn at {silent[0]!r}, where a mechanism was promised"
    return zero.again or one.again


def _empty(run: _Run, programme: Programme) -> bool:
    """Whether no key was selected, so that nothing was left to be measured."""
    chosen = [each for each in run.listener.passages if each.label == _KEYS]
    return programme.asked.selection is not None and any(not each.returned for each in chosen)


def too_little(paid: Paid, programme: Programme, currency: Currency) -> str | None:
    """Say in words by how much a debit is below what the question costs every account; None where it is not.

    In a pure budget and in one of rho the debit is held against the question's own epsilon and rho; in one of epsilon
    and delta, whose filter counts in Renyi divergence, against what the filter counts for the question's loss.
    """
    loss = programme.asked.loss
    counted = BUDGETS[currency].filter(relation=loss.relation).cost(loss)
    needed = {"pure": loss.epsilon(0), "rho": loss.rho, "epsilon": None}[currency]
    least = Fraction(needed) if needed is not None and math.isfinite(needed) else Fraction(0)
    for each in paid:
        if each.delta < Fraction(loss.slack) * _NEARLY:
            return f"delta {float(each.delta):g} is debited, and {float(loss.slack):g} is spent"
        # Of a union of sums, one that has ended was charged infinitely.
        if not each.reaches(counted, _NEARLY) or (least and each.loss < least * _NEARLY):
            return f"{each.texts()[0]} is debited, and {counted.texts()[0]} is spent, in the currencies of the budget"
    return None
