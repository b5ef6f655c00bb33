"""Mechanisms: one file each; every one declares its loss and its error before it draws."""

from __future__ import annotations

from discreet.core.lazy import lazy
from discreet.core.registry import Registry, capwords

registry = Registry(
    "mechanism",
    "discreet.mechanisms",
    apart=frozenset({"chooser", "joint_quantiles", "parts", "prediction", "workload"}),
)

_HOMES = {capwords(name): f"discreet.mechanisms.{name}" for name in registry}
_HOMES |= {
    "choose": "discreet.mechanisms.chooser",
    "crossover": "discreet.mechanisms.chooser",
    "workload": "discreet.mechanisms.workload",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
