"""The auditor for questions in SQL, as an analyst would ask them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from discreet.answers.answer import Answer
from discreet.ask.priced import Rows
from discreet.ask.sql import Spoken, spoken
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.schema import Table
from discreet.curator.curator import Curator
from discreet.curator.session import Session
from discreet.lab.audits.audit import ALARM
from discreet.lab.audits.linked_rows import reached
from discreet.lab.audits.question import (
    SAMPLES,
    AuditedQuestion,
    Effort,
    StagedQuestion,
    audited,
    currency_of,
    tables_of,
    withheld_below,
)


def audit_sql(
    text: str,
    tables: Curator | Table | Iterable[Table],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    *,
    max_rows: Rows = None,
    keys: Mapping[str, Sequence[object]] | None = None,
    samples: int = SAMPLES,
    runs: int | None = None,
    alarm: float = ALARM,
    groups: Mapping[str, str] | None = None,
    withhold: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> AuditedQuestion:
    """Try to refute the promise of a question in SQL, as `audit_question` does of one in Python.

    The text is parsed by the code that answers analysts, too. `keys` are those of columns that have none.

    Guarantee: that of `audit_question`.
    """

    def made(session: Session) -> StagedQuestion:
        def ask(fresh: bool) -> Answer:
            return session.sql(text, epsilon, delta, rho, max_rows=max_rows, fresh=fresh, keys=keys)

        question = spoken(session.desk, text, epsilon, delta, rho, max_rows, keys=keys)
        if not isinstance(question, Spoken):
            why = "it reads public tables alone, so that there is no promise to refute"
            raise BadParameter("question", text, why=why, fix="audit a question about a private table")
        if question.first:
            why = "it buys a number first, and what is audited is one question"
            raise BadParameter(
                "question", text, why=why, fix="audit the subquery, and the question with a number in its place"
            )
        price = (question.epsilon, question.delta, question.rho)
        asked = question.report.asked(*price, max_rows=question.max_rows)
        return StagedQuestion(" ".join(text.split()), asked, ask)

    found, accounts = tables_of(tables, groups)
    # Only what is named is staged, and if nothing is, the question is refused with the names there are.
    said = {name for name in found if name.lower() in text.lower()} or {*found}
    named = {name: found[name] for name in found if name in reached(said, found)}
    effort = Effort.of(samples, runs, alarm)
    return audited(made, named, accounts, currency_of(delta, rho), effort, say, withheld_below(tables, withhold))
