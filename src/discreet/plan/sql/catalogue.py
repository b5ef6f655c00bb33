"""Catalogue: the tables that a question may name, private ones as they were declared and public ones as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.core.schema import Table
from discreet.plan.nodes import Public


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The names of private tables, how one is looked up, public tables, and keys that were given for columns."""

    names: Sequence[str]
    table: Callable[[str], Table]
    public: Mapping[str, Public]
    keys: Mapping[str, Sequence[object]]
