"""look: the next count of a watch, paid when that began: `watch.look(visits.age >= 65)`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.ask.query import Query
from discreet.ask.request import DeskRequest, Fresh, Released, some_fields
from discreet.ask.verbs.questions import query_record, read_query
from discreet.ask.verbs.verb import Verb
from discreet.ask.watches.watch import watch_of
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress
    from discreet.ask.question import QueryBase

_FIX = 'write {"key": "...", "known": 3}: how many parts you have seen'


class LookOnce(Verb):
    """Looks of watches. The spec names the watch, and how many of its parts are known; -1 asks for all of them."""

    is_priced: ClassVar[bool] = False

    def question_record(self, question: QueryBase) -> object:
        """Return a query as plain JSON values."""
        return query_record(question)

    def read_question(self, record: object, desk: Desk) -> Query:
        """Read a query, about tables of this desk."""
        return read_query(record, desk)

    def spec_record(self, spec: Mapping[str, Any]) -> object:
        """Return the terms as plain JSON values."""
        return dict(spec)

    def read_spec(self, record: object) -> Mapping[str, Any]:
        """Read terms: none can be left out."""
        found = some_fields("spec", record, ("key", "known"), ("key", "known"))
        if not isinstance(found["key"], str) or type(found["known"]) is not int or found["known"] < -1:
            raise BadParameter("spec", "...", why="it names a watch and its parts", fix=_FIX)
        return found

    def preview(self, request: DeskRequest) -> Any:  # noqa: ANN401  (there is none)
        """Refuse: nothing says in advance what a look will find, and it costs nothing more."""
        why = "a look costs nothing more, and nothing says in advance what it will find"
        raise BadParameter("look", request.verb, why=why, fix="preview the watch")

    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:  # noqa: ARG002  (one step)
        """Settle the next part, and return what it says.

        Guarantee: that of the watch, which was charged in full when it began.
        """
        if request.price is not None or fresh:
            why = "a look was paid when its watch began"
            raise BadParameter("price", str(request.price), why=why, fix="leave the price and fresh out")
        key, known = request.spec["key"], request.spec["known"]
        made = watch_of(request.question, key)
        found = {"said": [*made.said(key)]} if known < 0 else made.look(key, request.question.plan, known)
        return Released(found, {"key": key, "replayed": False}, "")

    def answer_text(self, answer: Mapping[str, Any]) -> str:
        """Write what a part says as JSON."""
        return json.dumps(answer)

    def read_answer(self, text: str) -> Mapping[str, Any]:
        """Read what `answer_text` wrote."""
        found = json.loads(text)
        if not isinstance(found, dict):
            raise BadParameter("answer", "...", why="it is no look", fix="ask again")
        return found

    def read_preview(self, record: object, request: DeskRequest) -> Any:  # noqa: ANN401, ARG002  (there is none)
        """Refuse: there is none."""
        return self.preview(request)


VERB = LookOnce()
