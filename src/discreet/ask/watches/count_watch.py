"""Count watches: what an analyst holds of a watch: looks at counts, one after the other, paid when it began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.ask.request import DeskRequest
from discreet.core import record as records
from discreet.core.value import dataclass
from discreet.ledger.refusals import Conflict
from discreet.ledger.running.part import RunBehind

if TYPE_CHECKING:
    from discreet.ask.query import Query
    from discreet.ask.request import Released
    from discreet.plan.expressions import Expression

_FIELDS = ("words", "error", "looks")


@dataclass(frozen=True, slots=True)
class WatchPreview:
    """What a watch would promise: in words, how far off it may be, in rows, and how many looks there are at most."""

    words: tuple[str, ...]
    error: float
    looks: int

    def __str__(self) -> str:
        return "\n".join(self.words)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {"words": [*self.words], "error": self.error, "looks": self.looks}

    @classmethod
    def from_record(cls, record: object) -> WatchPreview:
        """Read what `record` returned."""
        found = records.fields("preview", record, _FIELDS)
        return cls(tuple(found["words"]), found["error"], found["looks"])


@dataclass(frozen=True, slots=True)
class WatchState:
    """What a watch is when it begins or goes on: its preview, and what its parts have said so far."""

    preview: WatchPreview
    said: tuple[Mapping[str, Any] | None, ...]

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {"preview": self.preview.record(), "said": [None if each is None else dict(each) for each in self.said]}

    @classmethod
    def from_record(cls, record: object) -> WatchState:
        """Read what `record` returned."""
        found = records.fields("watch", record, ("preview", "said"))
        return cls(WatchPreview.from_record(found["preview"]), tuple(found["said"]))


@dataclass(frozen=True, slots=True)
class Look:
    """What one look says: whether the count is above, its noisy `value` where that is paid for, or a noisy `total`."""

    number: int
    above: bool | None = None
    value: int | None = None
    total: int | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any], number: int) -> Look:
        """Read what a part says."""
        return cls(number, said.get("above"), said.get("value"), said.get("total"))


class CountWatch:
    """A watch that was paid for. Made by `session.watch(...)`; `receipt` is what it goes on by.

    Guarantee: that of the terms it was begun with, for all that it ever says; every look was settled before it is told,
    and what this process has lost is read again, never drawn again.
    """

    __slots__ = ("_query", "_said", "preview", "receipt")

    def __init__(self, query: Query, begun: Released) -> None:
        self._query = query
        self.receipt = begun.receipt
        state: WatchState = begun.answer
        self.preview, self._said = state.preview, [*state.said]

    def look(self, *conditions: Expression) -> Look:
        """Look at the count of the rows for which all conditions hold, or at the next total of a counter.

        Parts that another process has settled meanwhile are read first; this look comes after them.
        """
        query = self._query.where(*conditions) if conditions else self._query
        while True:
            spec = {"key": self.receipt["key"], "known": len(self._said)}
            try:
                found: Mapping[str, Any] = self._query.desk.run(DeskRequest("look", query, spec, None)).answer
            except RunBehind:
                self._catch_up()
                continue
            number = found["number"]
            said = {name: each for name, each in found.items() if name != "number"}
            self._said += [None] * (number - 1 - len(self._said))
            self._said.append(said)
            return Look.of(said, number)

    def _catch_up(self) -> None:
        spec = {"key": self.receipt["key"], "known": -1}
        found = self._query.desk.run(DeskRequest("look", self._query, spec, None)).answer
        if len(found["said"]) <= len(self._said):
            why, fix = "its parts are not those that are known here", "resume it by its receipt"
            raise Conflict("the watch", why=why, fix=fix)
        self._said = [*found["said"]]

    @property
    def looks(self) -> list[Look]:
        """All looks so far, those of other processes too, as far as they are known here; failed ones said nothing."""
        return [Look.of(said, number) for number, said in enumerate(self._said, 1) if said is not None]

    @property
    def words(self) -> tuple[str, ...]:
        """What the watch promises, in sentences."""
        return self.preview.words

    def __repr__(self) -> str:
        return f"CountWatch({len(self._said):,} of {self.preview.looks:,} looks)"
