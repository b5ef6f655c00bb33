"""Discreet: ask about, publish from and learn from a sensitive table without giving away anyone in it."""

from __future__ import annotations

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet import noise as noise
    from discreet.core.errors import BadParameter as BadParameter
    from discreet.core.errors import Refusal as Refusal

__version__ = "0.1.0"

_HOMES = {
    "BadParameter": "discreet.core.errors",
    "Refusal": "discreet.core.errors",
    "noise": "discreet.noise",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
