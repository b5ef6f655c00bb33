"""Discreet: ask about, publish from and learn from a sensitive table without giving away anyone in it."""

from __future__ import annotations

from discreet.core.lazy import lazy
from discreet.core.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet import noise as noise
    from discreet.core.column import Column as Column
    from discreet.core.errors import BadParameter as BadParameter
    from discreet.core.errors import Refusal as Refusal
    from discreet.core.schema import Table as Table
    from discreet.core.schema import between as between
    from discreet.core.schema import date as date
    from discreet.core.schema import flag as flag
    from discreet.core.schema import one_of as one_of
    from discreet.core.schema import text as text
    from discreet.core.unit import Unit as Unit
    from discreet.core.unit import person as person
    from discreet.core.unit import row as row

# Every public name and the module that defines it; it is imported when it is first touched.
_HOMES = {
    "BadParameter": "discreet.core.errors",
    "Column": "discreet.core.column",
    "Refusal": "discreet.core.errors",
    "Table": "discreet.core.schema",
    "Unit": "discreet.core.unit",
    "between": "discreet.core.schema",
    "date": "discreet.core.schema",
    "flag": "discreet.core.schema",
    "noise": "discreet.noise",
    "one_of": "discreet.core.schema",
    "person": "discreet.core.unit",
    "row": "discreet.core.unit",
    "text": "discreet.core.schema",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
