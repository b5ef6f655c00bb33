"""sql: a question in SQL, as programs without the verbs of Python ask it: `SELECT COUNT(*) FROM visits`."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from discreet.answers.answer import Answer
from discreet.ask.preview import Preview
from discreet.ask.request import AskTerms, DeskRequest, Fresh, Released, some_fields
from discreet.ask.sql import Spoken, SpokenPublic, spoken
from discreet.ask.steps.sql_question import SqlQuestion
from discreet.ask.verbs.verb import Verb
from discreet.core.errors import BadParameter
from discreet.core.rational import as_written, parse_written
from discreet.plan.serial import public_from_record, public_record

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress

# Longer than any question that a person writes; what it takes to read one grows with its words.
MOST_LETTERS, MOST_WORDS = 50_000, 5_000

_WORD = re.compile(r"\w+|[^\w\s]")


class Sql(Verb):
    """Answers of questions in SQL."""

    is_priced = False  # BigQuery's clause may name the price in the text

    def question_record(self, question: SqlQuestion) -> object:
        """Return a question as plain JSON values."""
        keys = {name: [_written(value) for value in values] for name, values in question.keys.items()}
        return {"sql": question.text, "keys": keys, "public": [public_record(each) for each in question.public]}

    def read_question(self, record: object, desk: Desk) -> SqlQuestion:
        """Read a question, about tables of this desk."""
        found = some_fields("question", record, ("sql", "keys", "public"), ("sql",))
        text, keys, public = found["sql"], found.get("keys") or {}, found.get("public") or []
        if not isinstance(text, str):
            raise BadParameter("sql", type(text).__name__, why="it is text", fix='write "SELECT COUNT(*) FROM visits"')
        if len(text) > MOST_LETTERS or sum(1 for _ in _WORD.finditer(text)) > MOST_WORDS:
            why = f"a question has at most {MOST_LETTERS:,} letters and {MOST_WORDS:,} words"
            raise BadParameter(
                "sql", f"{text[:40]}...", why=why, fix="ask in several questions, or with a public table"
            )
        if not isinstance(keys, dict) or not all(isinstance(each, list) for each in keys.values()):
            raise BadParameter("keys", "...", why="they are lists by column", fix='write {"city": ["Bern", "Basel"]}')
        if not isinstance(public, list):
            raise BadParameter("public", "...", why="it is a list of public tables", fix="leave it out")
        named = {name: [_read(value) for value in values] for name, values in keys.items()}
        return SqlQuestion(desk, text, named, tuple(public_from_record(each) for each in public))

    def spec_record(self, spec: AskTerms) -> object:
        """Return the terms as plain JSON values."""
        return spec.record()

    def read_spec(self, record: object) -> AskTerms:
        """Read terms; those left out stay as usual."""
        return AskTerms.from_record(record)

    def preview(self, request: DeskRequest) -> Preview:
        """Show what the answer would cost and how far it would be off; free."""
        question: SqlQuestion = request.question
        return _spoken(question, request).preview(request.spec.rows, sql=request.spec.sql)

    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:  # noqa: ARG002  (one step)
        """Pay, and return the answer as the SELECT arranges it.

        Guarantee: that of `Report.release`; totals, HAVING, ORDER BY and LIMIT are done to the answer alone.
        """
        question: SqlQuestion = request.question
        asked = _spoken(question, request)
        answer = asked.release(fresh=fresh)
        return Released(answer, answer.receipt or {}, answer.remaining, asked.registered)

    def answer_text(self, answer: Answer) -> str:
        """Write an answer as versioned JSON."""
        return answer.to_json()

    def read_answer(self, text: str) -> Answer:
        """Read what `answer_text` wrote."""
        return Answer.from_json(text)

    def read_preview(self, record: object, request: DeskRequest) -> Preview:
        """Read what the `record` of a preview returned."""
        found = _spoken(request.question, request)
        if isinstance(found, SpokenPublic):
            return Preview.from_record(record, None, None, None)
        asked = found.report.asked(found.epsilon, found.delta, found.rho, max_rows=found.max_rows)
        return Preview.from_record(record, asked, request.spec.rows, found.max_rows)


def _spoken(question: SqlQuestion, request: DeskRequest) -> Spoken | SpokenPublic:
    """Read the text, at the price and on the terms of its request."""
    price, rows = request.price, request.spec.max_rows
    paid = (None, None, None) if price is None else (price.epsilon, price.delta or None, price.rho)
    return spoken(question.desk, question.text, *paid, rows, public=question.public, keys=question.keys)


def _written(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case dt.date():
            return value.isoformat()
    return {"number": str(as_written("keys", value))}


def _read(value: object) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case {"number": str() as text, **others} if not others:
            return parse_written("keys", text)
    raise BadParameter("keys", "...", why="a key is text, a number or a boolean", fix='write {"city": ["Bern"]}')


VERB = Sql()
