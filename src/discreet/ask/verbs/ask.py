"""ask: aggregates of a question, each a column of the answer: `report.release(epsilon=0.5)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.answers.answer import Answer
from discreet.ask.preview import Preview, previewed
from discreet.ask.priced import asked
from discreet.ask.question import Question
from discreet.ask.release import answered
from discreet.ask.report import Report
from discreet.ask.request import AskTerms, DeskRequest, Fresh, Released
from discreet.ask.verbs.questions import question_record, read_question
from discreet.ask.verbs.verb import Verb

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress


class Ask(Verb):
    """Answers of reports."""

    def question_record(self, question: Question) -> object:
        """Return a question as plain JSON values."""
        return question_record(question)

    def read_question(self, record: object, desk: Desk) -> Report:
        """Read a question, about tables of this desk."""
        return read_question(record, desk)

    def spec_record(self, spec: AskTerms) -> object:
        """Return the terms as plain JSON values."""
        return spec.record()

    def read_spec(self, record: object) -> AskTerms:
        """Read terms; those left out stay as usual."""
        return AskTerms.from_record(record)

    def preview(self, request: DeskRequest) -> Preview:
        """Show what the answer would cost and how far it would be off; free."""
        assert request.price is not None
        spec: AskTerms = request.spec
        return previewed(request.question, request.price, spec.rows, spec.max_rows, sql=spec.sql)

    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:  # noqa: ARG002  (one step)
        """Pay, and return the answer.

        Guarantee: that of `Report.release`.
        """
        assert request.price is not None
        answer = answered(request.question, request.price, request.spec.max_rows, fresh=fresh)
        return Released(answer, answer.receipt or {}, answer.remaining, request.question.query.registered)

    def answer_text(self, answer: Answer) -> str:
        """Write an answer as versioned JSON."""
        return answer.to_json()

    def read_answer(self, text: str) -> Answer:
        """Read what `answer_text` wrote."""
        return Answer.from_json(text)

    def read_preview(self, record: object, request: DeskRequest) -> Any:  # noqa: ANN401
        """Read what the `record` of a preview returned."""
        spec: AskTerms = request.spec
        assert request.price is not None
        found = asked(request.question, request.price, spec.max_rows)
        return Preview.from_record(record, found, spec.rows, spec.max_rows)


VERB = Ask()
