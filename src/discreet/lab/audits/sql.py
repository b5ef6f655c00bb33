"""The auditor for questions in SQL: the real engine path, on worst-case neighbours that nobody is in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from discreet.account.numeric.checks import whole
from discreet.ask.priced import PricedQuestion, Rows
from discreet.ask.programme import Programme
from discreet.ask.registered import unit_words
from discreet.ask.sql import spoken
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.schema import Table
from discreet.curator.curator import Curator
from discreet.lab.audits.audit import ALARM, examine
from discreet.lab.audits.choices import chosen
from discreet.lab.audits.finding import Finding, Layer, worst
from discreet.lab.audits.made_up_rows import Data
from discreet.lab.audits.neighbours import Neighbours, neighbours
from discreet.lab.audits.noisy_answers import Integers, NoisyAnswers
from discreet.lab.audits.promise import promised
from discreet.lab.audits.stage import Staged
from discreet.lab.audits.transcript import Transcript, transcript
from discreet.mechanisms.parts.statistic import Statistic

Way = Literal["integers", "noise", "whole path"]

_REPLAY: tuple[Layer, ...] = ("replay",)
_BLACK_BOX: tuple[Layer, ...] = ("black_box",)
_SAMPLES = 100_000
_SAMPLED = 2  # pairs whose noise is drawn many times: those that move most
_SLACK = 1e-6  # the delta at which a price in rho is told as an epsilon, beyond its own
_FEWEST, _MOST = 100, 400  # runs of the whole path on each neighbour


@dataclass(frozen=True, slots=True)
class Tried:
    """One pair of neighbours, looked at in one way.

    - integers: the question's programme on both neighbours, its mechanisms returning the same: how far the exact
      integers move that it hands to them, against the noise that is drawn, and the exact chances of what is chosen;
    - noise: many draws of these mechanisms, on those integers;
    - whole path: the question asked and answered in a vault, ledger and all, as an analyst would see it.
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
        """The largest epsilon that was measured, at whichever delta."""
        return max(each.finding.lower for each in self.tried)

    @property
    def violated(self) -> bool:
        """Whether the promise is refuted."""
        return any(each.finding.violated for each in self.tried)

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return "violated" if self.violated else "consistent"

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "question": self.question,
            "price": self.price,
            "unit": self.unit,
            "claimed": self.claimed if math.isfinite(self.claimed) else "infinity",
            "delta": self.delta,
            "verdict": self.verdict,
            "tried": [each.record() for each in self.tried],
        }

    def plot(self, path: str | Path) -> bool:
        """Draw the trade-off curve of the claim and the most telling point; return whether there was one."""
        drawn = tuple(each.finding for each in self.tried if each.finding.point is not None)
        if drawn:
            worst(drawn).plot(path)
        return bool(drawn)


def audit_sql(
    text: str,
    tables: Curator | Table | Iterable[Table],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    *,
    max_rows: Rows = None,
    keys: Mapping[str, Sequence[object]] | None = None,
    samples: int = _SAMPLES,
    runs: int | None = None,
    alarm: float = ALARM,
    groups: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> AuditedQuestion:
    """Try to refute the promise of a question in SQL about declared tables: their schema and unit, never their rows.

    `tables` is a curator, of whose vault only the declarations are read, or tables declared for the purpose, which
    share people unless `groups` names an account for each. The question is parsed, planned, bounded and computed by
    the code that answers analysts, in a vault of its own on made-up rows. `samples` are draws of its noise on each
    neighbour; `runs` are questions asked on each neighbour from end to end (0: none; by default as many as a sure sign
    would need to be believed).

    Guarantee: an honest engine is accused with probability at most `alarm` for each pair of neighbours and way.
    """
    declared, accounts = _declared(text, tables, groups)
    draws = whole("samples", samples, least=_FEWEST)
    with Staged(declared, accounts, "epsilon" if rho is None else "rho") as staged:
        question = spoken(staged.session, text, epsilon, delta, rho, max_rows, keys=keys)
        asked = question.report.asked(question.epsilon, question.delta, question.rho, max_rows=question.max_rows)
        say("making up neighbours")
        pairs = neighbours(asked, staged)
        tried = _on_integers(asked, staged, pairs, draws, alarm, say)
        # A price in rho has an epsilon at every delta above its own.
        slack = float(asked.price.delta) + (0.0 if asked.price.rho is None else _SLACK)
        claimed = asked.loss.epsilon(slack)
        count = _runs(claimed) if runs is None else whole("runs", runs, least=0)
        if count:
            whole_path = _Whole(staged, text, (epsilon, delta, rho), max_rows, keys)
            tried += _end_to_end(asked, whole_path, pairs, count, alarm, say)
    return AuditedQuestion(
        " ".join(text.split()), str(asked.price), unit_words(asked.unit), claimed, slack, tuple(tried)
    )


def _declared(
    text: str, tables: Curator | Table | Iterable[Table], groups: Mapping[str, str] | None
) -> tuple[dict[str, Table], dict[str, str]]:
    """Return the tables that a text may speak of, and the account of each."""
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
    # Only what is named is staged, and if nothing is, the question is refused with the names there are.
    named = {name: table for name, table in found.items() if name.lower() in text.lower()} or found
    return named, accounts


def _on_integers(
    asked: PricedQuestion,
    staged: Staged,
    pairs: Sequence[Neighbours],
    samples: int,
    alarm: float,
    say: Callable[[str], None],
) -> list[Tried]:
    """Compare what the engine finds on every pair, and draw the noise of those that it finds farthest apart."""
    programme = Programme(asked)
    found: list[_Found] = []
    for pair in pairs:
        say(f"integers: {pair.name}")
        heard = transcript(programme, staged, pair)
        integers = Integers(programme, heard)
        seen = [*_faults(asked, heard), *chosen(programme, heard)]
        if integers.loss is not None:
            seen += examine(integers, 0, 1, integers.loss, _FEWEST, alarm=alarm, layers=_REPLAY)
        found.append(_Found(pair, heard, tuple(seen)))
    failed = [each.heard.failed for each in found if each.heard.failed is not None and each.heard.fault is None]
    if len(failed) == len(found):
        raise failed[0]  # of a question that fails on all rows alike nothing can be said
    tried = [Tried(each.pair.name, "integers", finding) for each in found for finding in each.seen]
    for each in _farthest(found):
        say(f"noise: {each.pair.name}")
        (finding,) = examine(NoisyAnswers(each.heard), 0, 1, asked.loss, samples, alarm=alarm, layers=_BLACK_BOX)
        tried.append(Tried(each.pair.name, "noise", _said(finding, asked)))
    return tried


def _faults(asked: PricedQuestion, heard: Transcript) -> list[Finding]:
    """Accuse a programme whose answers differ by more than what its mechanisms returned."""
    if heard.fault is None:
        return []
    delta, claimed = promised(asked.loss)[0]
    return [Finding(math.inf, claimed, heard.fault, "violated", "replay", delta, claim=asked.loss)]


@dataclass(frozen=True, slots=True)
class _Found:
    """A pair of neighbours, what the programme handed to its mechanisms, and what that shows without any draw."""

    pair: Neighbours
    heard: Transcript
    seen: tuple[Finding, ...]

    @property
    def far(self) -> float:
        """How far apart the two are: what the parts of the question show together."""
        return sum(finding.lower for finding in self.seen)

    @property
    def chooses(self) -> bool:
        """Whether the neighbours differ in what something is chosen by."""
        return any(each.differs for each in self.heard.heard if not isinstance(each.mechanism, Statistic))


def _farthest(found: Sequence[_Found]) -> list[_Found]:
    """Return the pairs that are farthest apart, and one that differs in what is chosen, where there is one more."""
    far = sorted(found, key=lambda each: -each.far)[:_SAMPLED]
    return far + [each for each in found if each.chooses and each not in far][-1:]


def _end_to_end(
    asked: PricedQuestion,
    path: _Whole,
    pairs: Sequence[Neighbours],
    count: int,
    alarm: float,
    say: Callable[[str], None],
) -> list[Tried]:
    tried = []
    for pair in pairs:
        if pair.whole:
            say(f"whole path, {2 * count} questions: {pair.name}")
            runs = max(count, _FEWEST)
            (finding,) = examine(path, pair.one, pair.other, asked.loss, runs, alarm=alarm, layers=_BLACK_BOX)
            tried.append(Tried(pair.name, "whole path", _said(finding, asked)))
    return tried


def _said(finding: Finding, asked: PricedQuestion) -> Finding:
    """Say in words which neighbour is which, and what the first output of `NoisyAnswers` is."""
    words = ("without the unit", "with the unit") if asked.unit.relation == "add_remove" else ("before", "after")
    event = finding.event.replace("on d0)", f"{words[0]})").replace("on d1)", f"{words[1]})")
    return replace(finding, event=event.replace("output[0]", "the likelihood ratio"))


@dataclass(frozen=True, slots=True)
class _Whole:
    """A question from its text to the cells that an analyst sees, paid for anew each time."""

    staged: Staged
    text: str
    price: tuple[Number | None, Number | None, Number | None]
    max_rows: Rows
    keys: Mapping[str, Sequence[object]] | None

    def __call__(self, data: Data) -> dict[str, float | None]:
        """Ask once: every number by its row and column; which rows there are, and what is missing, is seen as well."""
        self.staged.show(data)
        session = self.staged.session
        answer = session.sql(self.text, *self.price, max_rows=self.max_rows, fresh=True, keys=self.keys)
        shown: dict[str, float | None] = {}
        for place, key in enumerate(answer.rows):
            for column in answer.columns:
                cell = column.cells[place]
                for part, value in (("", cell.value), (" low", cell.low), (" high", cell.high)):
                    name = f"{', '.join(map(str, key))} {column.name}{part}".strip()
                    number = float(value) if isinstance(value, int | float) else None
                    # What is no number is part of the name, so that it is seen as well.
                    shown[name if number is not None else f"{name} = {value}"] = number
        return dict(sorted(shown.items()))


def _runs(claimed: float) -> int:
    """Return how many runs a neighbour a sure sign needs to refute a claim: half of them choose it, half are counted.

    An event that always happens on one neighbour and never on the other shows epsilon ln(x / (1 - x)) in n runs, where
    x^n = alarm / 2 (Clopper and Pearson 1934).
    """
    if not math.isfinite(claimed):
        return _FEWEST
    sure = -math.log1p(math.exp(-claimed))  # the logarithm of e^epsilon / (1 + e^epsilon)
    return min(_MOST, max(_FEWEST, 2 * math.ceil(1.05 * math.log(ALARM / 2) / sure)))
