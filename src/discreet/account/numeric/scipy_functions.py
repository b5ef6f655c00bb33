"""SciPy, imported when a function of it is first called: most questions need none of it, and it takes a while."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Module:
    """A module of SciPy that is imported on first touch; what was touched is kept."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the module has)
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found


special, fft = _Module("scipy.special"), _Module("scipy.fft")
