"""Trials: the worst-case neighbours that every registered mechanism keeps beside its code."""

from __future__ import annotations

from importlib import import_module

from discreet.core.errors import Refusal, UnknownName
from discreet.mechanisms import registry
from discreet.mechanisms.parts.mechanism import Trial


def trials(name: str) -> tuple[Trial, ...]:
    """Return the trials of a registered mechanism."""
    if name not in registry:
        raise UnknownName("mechanism", name, registry)
    found = tuple(getattr(import_module(f"discreet.mechanisms.{name}"), "trials", tuple)())
    if not found:
        fix = f"give discreet.mechanisms.{name} a function trials() that yields them"
        raise Refusal(
            f"the audit of {name}", why="it keeps no worst-case neighbours beside its code", fix=fix, value=name
        )
    return found
