"""Measures: the aggregates of a question: what each asks of the engine, how it becomes noisy, and its words.

A file is an aggregate, by the word it is asked for; its function `measure` returns the `Measure` that answers it. An
aggregate that `discreet.plan` does not declare is declared in its own file: the class, with its words in SQL, and the
function that makes it, which `discreet` offers under the same name.
"""

from __future__ import annotations

from importlib import import_module

from discreet.core.registry import Registry

_APART = frozenset(
    {"bins", "cumulative", "measure", "minimum_frequency", "moments", "quantiles", "reach", "request"}
    | {"nested_quantiles", "pool", "sums", "totals"}
)
registry = Registry(
    "aggregate",
    "discreet.measures",
    entry=lambda _: "measure",
    apart=_APART,
)


def declare() -> None:
    """Import the aggregates that their own files declare, so their words in SQL are known."""
    from discreet.plan.aggregates import AGGREGATES

    for word in registry:
        if word not in AGGREGATES:
            import_module(f"{registry.package}.{word}")
