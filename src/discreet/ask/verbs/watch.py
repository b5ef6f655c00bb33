"""watch: counts that are looked at one by one, for one price: `session.watch(visits, "sparse_vector", ...)`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from discreet.ask.query import Query
from discreet.ask.release import left, proof
from discreet.ask.request import DeskRequest, Fresh, Released
from discreet.ask.verbs.questions import query_record, read_query
from discreet.ask.verbs.verb import Verb
from discreet.ask.watches.count_watch import WatchPreview, WatchState
from discreet.ask.watches.watch import PricedWatch, WatchTerms, priced_watch
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress
    from discreet.ask.question import QueryBase


class WatchCounts(Verb):
    """Beginnings of watches, and watches that go on."""

    def question_record(self, question: QueryBase) -> object:
        """Return a query as plain JSON values."""
        return query_record(question)

    def read_question(self, record: object, desk: Desk) -> Query:
        """Read a query, about tables of this desk."""
        return read_query(record, desk)

    def spec_record(self, spec: WatchTerms) -> object:
        """Return the terms as plain JSON values."""
        return spec.record()

    def read_spec(self, record: object) -> WatchTerms:
        """Read terms; those left out stay as usual."""
        return WatchTerms.from_record(record)

    def preview(self, request: DeskRequest) -> WatchPreview:
        """Show what the watch would promise; free."""
        return _preview(_watch(request))

    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:  # noqa: ARG002  (one step)
        """Pay for the whole watch, or go on with one that was paid for.

        Guarantee: the price is in the ledger, in full, before any row is read.
        """
        made, spec = _watch(request), request.spec
        if fresh:
            why = "each watch is paid for anew, unless it is resumed"
            raise BadParameter("fresh", fresh, why=why, fix="leave fresh out")
        receipt = made.begin() if spec.resume is None else made.resumed(spec.resume)
        state = WatchState(_preview(made), made.said(receipt.key))
        return Released(state, proof(receipt), left(made.query, made.loss, receipt))

    def answer_text(self, answer: WatchState) -> str:
        """Write a state as versioned JSON."""
        return json.dumps(answer.record())

    def read_answer(self, text: str) -> WatchState:
        """Read what `answer_text` wrote."""
        return WatchState.from_record(json.loads(text))

    def read_preview(self, record: object, request: DeskRequest) -> WatchPreview:  # noqa: ARG002  (says all itself)
        """Read what the `record` of a preview returned."""
        return WatchPreview.from_record(record)


def _watch(request: DeskRequest) -> PricedWatch:
    assert request.price is not None
    return priced_watch(request.question, request.spec, request.price)


def _preview(made: PricedWatch) -> WatchPreview:
    return WatchPreview(made.words, made.error, made.looks)


VERB = WatchCounts()
