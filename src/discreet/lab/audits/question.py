"""The auditor for questions: the release that answers, on worst-case neighbours that nobody is in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.account.numeric.checks import whole
from discreet.answers.answer import Answer
from discreet.ask.priced import PricedQuestion, Rows
from discreet.ask.programme import Programme
from discreet.ask.registered import unit_words
from discreet.ask.report import Report
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.schema import Table
from discreet.curator.curator import Curator
from discreet.curator.session import Session
from discreet.lab.audits.audit import ALARM, settled_rate
from discreet.lab.audits.finding import AuditFailed, Finding, Verdict, weakest, worst
from discreet.lab.audits.neighbours import Neighbours, neighbours
from discreet.lab.audits.release.comparison import Way, at_price, on_pair, once_each
from discreet.lab.audits.release.listener import Listener, hearing
from discreet.lab.audits.release.noise import noise_finding
from discreet.lab.audits.release.transcript import Transcript, transcript
from discreet.lab.audits.stage import Currency, Staged

# Of the record that `AuditedQuestion` writes. 1 had the verdict "consistent".
RECORD_VERSION = 2

SAMPLES = 100_000
_SLACK = 1e-6  # the delta at which a price in rho is told as an epsilon, beyond its own
_FEWEST = 100


@dataclass(frozen=True, slots=True)
class Tried:
    """One pair of neighbours, or the question itself, looked at in one way.

    - release: the question released on both neighbours, mechanisms returning the same on both: what else differs, in
      answers, errors, replays; and whether each noisy integer has the noise that was drawn for it;
    - integers: how far the exact integers move that are handed to the mechanisms, against the noise really asked for;
    - choices: the exact chances of what is chosen, on both neighbours;
    - debit: what the ledger was charged for it;
    - price: what the mechanisms of the question cost, by themselves;
    - noise: what many releases draw, against the laws that the claim rests on.
    """

    pair: str
    way: Way
    finding: Finding

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"neighbours": self.pair, "way": self.way, **self.finding.record()}


@dataclass(frozen=True, slots=True)
class AuditedQuestion:
    """What an audit saw of a question: what was promised to whom, and each pair of neighbours in each way."""

    question: str
    price: str
    unit: str
    claimed: float
    delta: float
    tried: tuple[Tried, ...]

    @property
    def worst(self) -> Finding:
        """The most telling finding."""
        return worst(tuple(each.finding for each in self.tried))

    @property
    def lower(self) -> float:
        """The largest epsilon that was found to be spent, at whichever delta."""
        return max(each.finding.lower for each in self.tried)

    @property
    def violated(self) -> bool:
        """Whether the promise is refuted."""
        return any(each.finding.violated for each in self.tried)

    @property
    def verdict(self) -> Verdict:
        """The verdict in a word: what is drawn is only ever "not shown" to be wrong, and so is the question."""
        found = weakest(each.finding.verdict for each in self.tried)
        return "not shown" if found == "bounded" else found

    @property
    def open(self) -> tuple[Tried, ...]:
        """What no proof bounds, but for the noise, which is drawn: where there is any, something was not looked at."""
        return tuple(each for each in self.tried if each.finding.verdict == "not shown" and each.way != "noise")

    @property
    def sees(self) -> str:
        """The smallest defect of the noise that would have been seen."""
        return next((each.finding.sees for each in self.tried if each.way == "noise"), "")

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "record_version": RECORD_VERSION,
            "question": self.question,
            "price": self.price,
            "unit": self.unit,
            "claimed": self.claimed if math.isfinite(self.claimed) else "infinity",
            "delta": self.delta,
            "verdict": self.verdict,
            "sees": self.sees,
            "tried": [each.record() for each in self.tried],
        }

    def plot(self, path: str | Path) -> bool:
        """Draw the trade-off curve of the claim and the most telling point; return whether there was one."""
        drawn = tuple(each.finding for each in self.tried if each.finding.point is not None)
        if drawn:
            worst(drawn).plot(path)
        return bool(drawn)


def audit_question(
    build: Callable[[Session], Report],
    tables: Curator | Table | Iterable[Table],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    *,
    max_rows: Rows = None,
    samples: int = SAMPLES,
    runs: int | None = None,
    alarm: float = ALARM,
    groups: Mapping[str, str] | None = None,
    withhold: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> AuditedQuestion:
    """Try to refute the promise of a question about declared tables: their schema and unit, never their rows.

    `build` makes the question of a session, as an analyst would: `lambda session: session.table("visits").agg(...)`.
    `tables` is a curator, of whose vault only the declarations are read, or tables declared for the purpose, which
    share people unless `groups` names an account for each; groups of fewer people than `withhold` are withheld, by
    default as the vault has it. The question is planned, bounded, paid, computed and settled
    by the code that answers analysts, in a vault of its own on made-up rows. `runs` is how often its programme draws
    (0: never; by default as often as shows noise that is a fifth too narrow); `samples` are draws of the noise
    functions that it used, at the parameters that it used. What is refuted without chance is not drawn for.

    Guarantee: an honest release is accused with probability at most `alarm`. All but the noise is compared without
    chance; every event of the noise has an equal share of `alarm`, and a union bound adds them up.
    """

    def made(session: Session) -> StagedQuestion:
        def ask(fresh: bool) -> Answer:
            return build(session).release(epsilon, delta, rho, max_rows=max_rows, fresh=fresh)

        report = build(session)
        return StagedQuestion(" ".join(str(report).split()), report.asked(epsilon, delta, rho, max_rows=max_rows), ask)

    declared, effort = tables_of(tables, groups), Effort.of(samples, runs, alarm)
    return audited(made, *declared, currency_of(delta, rho), effort, say, withheld_below(tables, withhold))


@dataclass(frozen=True, slots=True)
class StagedQuestion:
    """A question of one session: in words, with its price, and how it is asked, freshly or not."""

    text: str
    asked: PricedQuestion
    ask: Callable[[bool], Answer]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is drawn, and how often an honest release may be accused."""

    samples: int
    runs: int | None
    alarm: float

    @classmethod
    def of(cls, samples: int, runs: int | None, alarm: float) -> Effort:
        """Return it, checked."""
        count = None if runs is None else whole("runs", runs, least=0)
        return cls(whole("samples", samples, least=_FEWEST), count, settled_rate(alarm))


def currency_of(delta: Number | None, rho: Number | None) -> Currency:
    """Return the currency that a price is in."""
    return "rho" if rho is not None else "pure" if delta is None else "epsilon"


def audited(
    made: Callable[[Session], StagedQuestion],
    declared: Mapping[str, Table],
    accounts: Mapping[str, str],
    currency: Currency,
    effort: Effort,
    say: Callable[[str], None],
    withhold: int = 0,
) -> AuditedQuestion:
    """Stage tables, make a question of their session, and look at it in every way."""
    with Staged(declared, accounts, currency, withhold) as staged:
        question = made(staged.session)
        asked = question.asked
        say("making up neighbours")
        pairs, programme = neighbours(asked, staged), Programme(asked)
        tried = [Tried("any", "price", at_price(asked))]
        heard: list[tuple[Neighbours, Transcript]] = []
        with hearing(Listener()) as ear:
            for turn, pair in enumerate(pairs):
                say(f"release: {pair.name}")
                heard.append((pair, transcript(programme, staged, question.ask, pair, ear, turn)))
        failed = [each.failed for _, each in heard if each.failed is not None and each.fault is None]
        if failed and len(failed) == len(heard):
            why = f"{2 * len(heard)} of {2 * len(heard)} releases raised {type(failed[0]).__name__}: {failed[0]}"
            raise AuditFailed("the question", why) from failed[0]
        tried += [
            Tried(pair.name, *each) for pair, found in heard for each in on_pair(programme, pair, found, currency)
        ]
        tried.append(Tried("any", "release", once_each(asked, [found for _, found in heard])))
        if effort.runs != 0 and not any(each.finding.violated for each in tried):
            say("noise: many releases")
            found = noise_finding(programme, staged, heard, effort.runs, effort.samples, effort.alarm)
            if found is not None:
                tried.append(Tried("made-up rows", "noise", found))
    claimed, slack = _claimed(asked)
    return AuditedQuestion(question.text, str(asked.price), unit_words(asked.unit), claimed, slack, tuple(tried))


def _claimed(asked: PricedQuestion) -> tuple[float, float]:
    """Return the epsilon that was promised, and its delta: a price in rho has one at every delta above its own."""
    slack = float(asked.price.delta) + (0.0 if asked.price.rho is None else _SLACK)
    return asked.loss.epsilon(slack), slack


def tables_of(
    tables: Curator | Table | Iterable[Table], groups: Mapping[str, str] | None
) -> tuple[dict[str, Table], dict[str, str]]:
    """Return the declared tables, and the account of each."""
    if isinstance(tables, Curator):
        registered = [tables.table(name) for name in tables.tables()]
        found = {each.name: each.table for each in registered}
        accounts = {each.name: each.account for each in registered}
    else:
        listed = [tables] if isinstance(tables, Table) else list(tables)
        found = {each.name: each for each in listed}
        accounts = {name: (groups or {}).get(name, "everyone") for name in found}
    if not found:
        why, fix = (
            "nothing is declared that could be asked about",
            "register a table, or pass Table(name, unit, columns)",
        )
        raise BadParameter("tables", (), why=why, fix=fix)
    return found, accounts


def withheld_below(tables: Curator | Table | Iterable[Table], withhold: int | None) -> int:
    """Return how many people a group needs to be shown: as many as were given, or as the vault has it."""
    if withhold is not None:
        return withhold
    return tables.withhold().below if isinstance(tables, Curator) else 0
