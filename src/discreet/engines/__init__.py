"""Engines: where rows lie and what computes over them; a folder for each engine.

A folder is an engine: its `options` say what kinds of source it reads and how they are written, its `source` tells
about them and opens its `engine`, and its `dialect` spells what it is asked. No list of engines is kept.
"""

from __future__ import annotations

from discreet.core.registry import Registry

registry = Registry("engine", "discreet.engines", folders=True)

# The engine that is always there; it reads what no other one claims.
EMBEDDED = "duckdb"
