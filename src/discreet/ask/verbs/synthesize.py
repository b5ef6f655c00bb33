"""synthesize: synthetic data of a table: `visits.synthesize("aim", epsilon=1)`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.ask.query import Query
from discreet.ask.release import left, proof
from discreet.ask.request import DeskRequest, Fresh, Released, SynthesisTerms, some_fields
from discreet.ask.synthesize import Synthesis, SynthesisPreview, preview, synthesis
from discreet.ask.verbs.questions import query_record, read_query
from discreet.ask.verbs.verb import Verb
from discreet.core.errors import BadParameter
from discreet.core.rational import as_written, parse_written
from discreet.publish.coding import DEFAULT_BINS
from discreet.publish.synthetic_data import SyntheticData

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress
    from discreet.ask.question import QueryBase

_TERMS = ("method", "workload", "bins", "columns", "zeros")
# A bin more than any column needs, and few enough to be counted.
_MOST_BINS = 100_000
_ZEROS = 'write [{"age": {"from": 0, "to": 12}, "married": true}]'


class Synthesize(Verb):
    """Models of tables."""

    def question_record(self, question: QueryBase) -> object:
        """Return a query as plain JSON values."""
        return query_record(question)

    def read_question(self, record: object, desk: Desk) -> Query:
        """Read a query, about tables of this desk."""
        return read_query(record, desk)

    def spec_record(self, spec: SynthesisTerms) -> object:
        """Return the terms as plain JSON values."""
        workload = spec.workload
        if workload is not None and not isinstance(workload, int):
            workload = [[str(name) for name in names] for names in workload]
        return {
            "method": spec.method,
            "workload": workload,
            "bins": spec.bins,
            "columns": None if spec.columns is None else [*spec.columns],
            "zeros": [{name: _written(value) for name, value in zero.items()} for zero in spec.zeros],
        }

    def read_spec(self, record: object) -> SynthesisTerms:
        """Read terms; those left out stay as usual."""
        found = some_fields("spec", record, _TERMS)
        method, workload, bins = (found.get(name) for name in _TERMS[:3])
        columns, zeros = found.get("columns"), found.get("zeros", [])
        method = "auto" if method is None else method
        if not isinstance(method, str):
            raise BadParameter("method", "...", why="it is a word", fix="use auto, or leave it out")
        bins = DEFAULT_BINS if bins is None else bins
        if type(bins) is not int or not 1 <= bins <= _MOST_BINS:
            raise BadParameter("bins", "...", why=f"it is a number from 1 to {_MOST_BINS:,}", fix="leave it out")
        if workload is not None and type(workload) is not int:
            for names in _listed("workload", workload):
                _names("workload", names)
        read = [_zero(zero) for zero in _listed("zeros", zeros)]
        return SynthesisTerms(method, workload, bins, None if columns is None else _names("columns", columns), read)

    def preview(self, request: DeskRequest) -> SynthesisPreview:
        """Show what the synthetic data would cost; free."""
        return preview(_synthesis(request))

    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:
        """Pay, and return the synthetic data.

        Guarantee: that of `Query.synthesize`.
        """
        asked = _synthesis(request)
        synthetic, receipt = asked.release(progress, fresh=fresh)
        return Released(synthetic, proof(receipt), left(asked.query, asked.loss, receipt))

    def answer_text(self, answer: SyntheticData) -> str:
        """Write synthetic data as versioned JSON."""
        return answer.to_json()

    def read_answer(self, text: str) -> SyntheticData:
        """Read what `answer_text` wrote."""
        return SyntheticData.from_json(text)

    def read_preview(self, record: object, request: DeskRequest) -> SynthesisPreview:
        """Read what the `record` of a preview returned."""
        return SynthesisPreview.from_record(record, _synthesis(request).expected)


def _synthesis(request: DeskRequest) -> Synthesis:
    spec: SynthesisTerms = request.spec
    assert request.price is not None
    terms: dict[str, Any] = {name: getattr(spec, name) for name in _TERMS[1:]}
    return synthesis(request.question, spec.method, request.price, **terms)


def _zero(record: object) -> Mapping[str, object]:
    if not isinstance(record, dict) or not record:
        raise BadParameter("zeros", "...", why="a combination names columns", fix=_ZEROS)
    return {name: _read(value) for name, value in record.items()}


def _written(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case dt.date():
            return value.isoformat()
        case range():
            return {"from": value.start, "to": value.stop, "step": value.step}
        case Mapping():
            raise BadParameter("zeros", "...", why="a value is no mapping", fix=_ZEROS)
        case Iterable():
            return [_written(each) for each in value]
    return {"number": str(as_written("zeros", value))}


def _read(value: object) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [_read(each) for each in value]
        case {"number": str() as text, **others} if not others:
            return parse_written("zeros", text)
        case {"from": int() as first, "to": int() as last, **others} if not {*others} - {"step"}:
            step = others.get("step", 1)
            if type(step) is int and step:
                return range(first, last, step)
    raise BadParameter("zeros", "...", why="it is neither a value, a list nor a range", fix=_ZEROS)


def _listed(name: str, value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise BadParameter(name, "...", why="it is a list", fix="leave it out")
    return value


def _names(name: str, value: object) -> list[str]:
    found = _listed(name, value)
    if not all(isinstance(each, str) for each in found):
        raise BadParameter(name, "...", why="it is a list of names", fix='write ["age", "ward"]')
    return [*found]


VERB = Synthesize()
