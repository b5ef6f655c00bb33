"""Scales: where bins, thresholds and days lie on an axis, read from the keys of an answer."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.answers.column import AnswerColumn

# An answer; named so because answers import this module.
Shown = Any

_BIN = re.compile(r"\[([^,\[\]]+), ([^,\[\]]+)[)\]]")
_MOST_NAMED_DAYS = 12  # as many as can be written out, one below each bar
_ALIKE = 1.15  # months are alike, though one has 28 days and another 31
_NARROWEST = 1 / 100  # of the axis: what is narrower is hardly seen


@dataclass(frozen=True, slots=True)
class Scale:
    """An end or two for every row: a bin has its ends, a threshold one, a day one, and "all" none.

    `of` is what the axis shows; where `dates`, ends are days since 1970-01-01.
    """

    drawn: Literal["bins", "steps", "days"]
    ends: tuple[tuple[float, ...], ...]
    dates: bool
    of: str

    @property
    def places(self) -> list[float]:
        """All ends, rising, each once."""
        return sorted({end for each in self.ends for end in each})

    @property
    def narrowest(self) -> float:
        """The least distance of two ends; 1 where there is only one."""
        return min((high - low for low, high in pairwise(self.places)), default=1.0)

    @property
    def alike(self) -> bool:
        """Whether all bins are about as wide."""
        widths = [each[1] - each[0] for each in self.ends if len(each) == 2]
        return not widths or max(widths) <= _ALIKE * min(widths)

    @property
    def linear_below(self) -> float | None:
        """Where a logarithmic axis begins; None for a plain one, which is used wherever everything is seen on it."""
        places = self.places
        sizes = [abs(place) for place in places if place]
        reach = places[-1] - places[0]
        if self.dates or self.narrowest >= _NARROWEST * reach or min(sizes) > _NARROWEST * reach:
            return None
        return min(sizes)


def scale_of(answer: Shown, column: AnswerColumn) -> Scale | None:
    """Return the scale of an answer's last key; None for keys, which have names and no places."""
    if not answer.keys or not answer.rows:
        return None
    title, labels = answer.keys[-1], [row[-1] for row in answer.rows]
    of = column.words.partition(" of ")[2] if column.kind in ("histogram", "cdf") else ""
    if column.kind == "histogram" or (column.kind, title) == ("derived", "bin"):
        return _scale("bins", [_ends(label) for label in labels], of or title)
    if column.kind == "cdf" or (column.kind, title) == ("derived", "at_most"):
        return _scale("steps", [() if label == "all" else (label,) for label in labels], of or title)
    days = all(isinstance(label, dt.date) for label in labels)
    if days and len(answer.keys) == 1 and len(labels) > _MOST_NAMED_DAYS:
        return _scale("days", [(label,) for label in labels], title)
    return None


def _scale(drawn: Literal["bins", "steps", "days"], labels: list[tuple[Any, ...] | None], of: str) -> Scale | None:
    """Read all ends as numbers, or all as dates; bins that overlap, and other texts, are no scale."""
    known = [each for each in labels if each is not None]
    found = [end for each in known for end in each]
    for read in (_number, _day):
        ends = [tuple(read(end) for end in each) for each in known]
        if found and len(known) == len(labels) and not any(math.isnan(end) for each in ends for end in each):
            if drawn == "bins" and not _apart(ends):
                return None
            return Scale(drawn, tuple(ends), read is _day, of)
    return None


def _apart(bins: Iterable[tuple[float, ...]]) -> bool:
    once = sorted(set(bins))
    return all(low < high for low, high in once) and all(one[1] <= two[0] for one, two in pairwise(once))


def _ends(label: object) -> tuple[str, ...] | None:
    found = _BIN.fullmatch(label) if isinstance(label, str) else None
    return None if found is None else (found[1], found[2])


def _number(value: object) -> float:
    """Return the number that a label is; not a number, where it is none."""
    try:
        number = math.nan if isinstance(value, bool | dt.date) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _day(value: object) -> float:
    """Return the day that a label is, counted as Matplotlib counts them; not a number, where it is none."""
    try:
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
    return float(day.toordinal() - dt.date(1970, 1, 1).toordinal())
