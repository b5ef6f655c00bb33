"""Desks for tests: declared tables alone, and a vault that everything reaches as text."""

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from discreet.ask.request import Released
from discreet.ask.verbs import verb_of
from discreet.ask.verbs.request_text import read_request, request_text
from discreet.ask.work_limits import WorkLimits
from discreet.core.errors import UnknownName
from discreet.engines.source import Source
from discreet.measures.minimum_frequency import MinimumFrequency


@dataclass
class Declared:
    """A desk that knows tables and nothing else; all of them are of one account."""

    declared: dict

    def registered(self, name):
        """Return a table in the clothes of a registered one."""
        if name not in self.declared:
            raise UnknownName("table", name, self.declared)
        found = SimpleNamespace(
            name=name, table=self.declared[name], account="people", revision=1, version=1, engine="duckdb"
        )
        found.source, found.chain = Source("parquet", f"{name}.parquet"), (found,)
        found.read = found.chain
        return found

    def tables(self):
        """Return the names of the tables."""
        return sorted(self.declared)

    def public_tables(self):
        """Return no name: none is registered."""
        return []

    def minimum_frequency(self):
        """Withhold nothing."""
        return MinimumFrequency()

    def work_limits(self):
        """Return the usual limits."""
        return WorkLimits()


@dataclass
class Textual:
    """A desk that hands requests, previews and answers of another one on as text, as a server would."""

    inner: Any

    def preview(self, request):
        """Send the request and read what came back."""
        found = self.inner.preview(read_request(request_text(request), self.inner))
        return verb_of(request.verb).read_preview(json.loads(json.dumps(found.record())), request)

    def run(self, request, *, fresh=False, progress=None):
        """Send the request and read what came back."""
        found, verb = (
            self.inner.run(read_request(request_text(request), self.inner), fresh=fresh),
            verb_of(request.verb),
        )
        return Released(verb.read_answer(verb.answer_text(found.answer)), found.receipt, found.remaining)

    def __getattr__(self, name):
        return getattr(self.inner, name)
