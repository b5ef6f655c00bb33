"""Measures: the aggregates of a question: what each asks of the engine, how it becomes noisy, and its words.

A file is an aggregate, by the word it is asked for; its function `measure` returns the `Measure` that answers it.
"""

from __future__ import annotations

from discreet.core.registry import Registry

registry = Registry(
    "aggregate",
    "discreet.measures",
    entry=lambda _: "measure",
    apart=frozenset({"bins", "cumulative", "kernels", "measure", "moments", "quantiles", "reach", "request", "sums"}),
)
