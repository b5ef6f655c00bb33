"""Tasks of mechanisms for Discreet: an exact selection, a private median, an audit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from discreet import mechanisms
from discreet.lab import audit
from discreet.lab.audits.trials import trials


def choose(candidates: int, spread: int) -> Callable[[], object]:
    """One draw of the exponential mechanism over whole-number scores."""
    scores = np.arange(candidates, dtype=np.int64) * 7919 % spread
    return partial(mechanisms.Exponential(epsilon=1).release, scores)


def median(size: int, kind: str) -> Callable[[], object]:
    """The private median of values on a grid, from raw values to the answer."""
    values = (np.arange(size) * 7919 % 1_000_003) / 1_000_003 * 110
    column = values.astype(np.int64) if kind == "integers" else values
    return partial(
        mechanisms.Quantile(q=0.5, low=0, high=110, step=1 if kind == "integers" else 0.01, epsilon=1), column
    )


def audited(name: str, samples: int) -> Callable[[], object]:
    """All layers of an audit on a mechanism's first pair of neighbours."""
    trial = next(iter(trials(name)))
    return partial(audit, trial.mechanism, trial.one, trial.other, samples=samples)
