"""Which dialect each engine speaks."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from discreet.core.errors import UnknownName
from discreet.engines.dialect import DUCKDB, Dialect

_OTHERS = {
    "postgres": ("discreet.engines.postgres.dialect", "POSTGRES"),
    "spark": ("discreet.engines.spark.dialect", "SPARK"),
}


def dialect_of(engine: str) -> Dialect:
    """Return the dialect of an engine, by the engine's name."""
    if engine == DUCKDB.name:
        return DUCKDB
    if engine not in _OTHERS:
        raise UnknownName("engine", engine, (DUCKDB.name, *_OTHERS))
    module, name = _OTHERS[engine]
    return cast(Dialect, getattr(import_module(module), name))
