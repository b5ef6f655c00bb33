"""fit: a model of a table: `session.fit(visits, learn.LogisticRegression(), target="again", epsilon=1)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.ask.query import Query
from discreet.ask.release import left, proof
from discreet.ask.request import DeskRequest, Fresh, Released, TrainingTerms, some_fields
from discreet.ask.verbs.questions import query_record, read_query
from discreet.ask.verbs.verb import Verb
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress
    from discreet.ask.question import QueryBase
    from discreet.ask.verbs.training_run import TrainingPreview, TrainingRun
    from discreet.learn.linear_model import LinearModel

_TERMS = ("objective", "target", "columns", "bins")


class FitModel(Verb):
    """Models that predict a column."""

    def question_record(self, question: QueryBase) -> object:
        """Return a query as plain JSON values."""
        return query_record(question)

    def read_question(self, record: object, desk: Desk) -> Query:
        """Read a query, about tables of this desk."""
        return read_query(record, desk)

    def spec_record(self, spec: TrainingTerms) -> object:
        """Return the terms as plain JSON values."""
        columns = None if spec.columns is None else [*spec.columns]
        return {"objective": spec.objective, "target": spec.target, "columns": columns, "bins": spec.bins}

    def read_spec(self, record: object) -> TrainingTerms:
        """Read terms; `columns` and `bins` may be left out."""
        found = some_fields("spec", record, _TERMS, ("objective", "target"))
        for name in ("objective", "target"):
            if not isinstance(found[name], str):
                raise BadParameter(name, "...", why="it is a word", fix='write {"objective": "logistic", ...}')
        columns, bins = found.get("columns"), found.get("bins", 16)
        if columns is not None and not (isinstance(columns, list) and all(isinstance(each, str) for each in columns)):
            raise BadParameter("columns", "...", why="it is a list of names", fix="leave it out")
        if bins is not None and type(bins) is not int:
            raise BadParameter("bins", "...", why="it is a number of bins, or null", fix="leave it out")
        return TrainingTerms(found["objective"], found["target"], columns, bins)

    def preview(self, request: DeskRequest) -> TrainingPreview:
        """Show what the model would cost; free."""
        from discreet.ask.verbs.training_run import preview

        return preview(_run(request))

    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:  # noqa: ARG002  (one step)
        """Pay, and return the model.

        Guarantee: that of `TrainingRun.release`.
        """
        asked = _run(request)
        model, receipt = asked.release(fresh=fresh)
        return Released(
            model, proof(receipt), left(asked.query, asked.loss, receipt), registered=asked.query.registered
        )

    def answer_text(self, answer: LinearModel) -> str:
        """Write a model as versioned JSON."""
        return answer.to_json()

    def read_answer(self, text: str) -> LinearModel:
        """Read what `answer_text` wrote."""
        from discreet.learn.linear_model import LinearModel

        return LinearModel.from_json(text)

    def read_preview(self, record: object, request: DeskRequest) -> TrainingPreview:  # noqa: ARG002
        """Read what the `record` of a preview returned."""
        from discreet.ask.verbs.training_run import TrainingPreview

        return TrainingPreview.from_record(record)


def _run(request: DeskRequest) -> TrainingRun:
    from discreet.ask.verbs.training_run import training_run

    assert request.price is not None
    return training_run(request.question, request.spec, request.price)


VERB = FitModel()
