"""DuckDB's dialect: the one that others are told apart from."""

from __future__ import annotations

from discreet.engines.dialect import Dialect

DIALECT = Dialect()
