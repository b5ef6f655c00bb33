"""What is audited: a mechanism, or any function from a dataset to an output."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.errors import BadParameter
from discreet.mechanisms.parts.mechanism import Chance, Enumerable, Mechanism

# Wide outputs are run less often, so what is kept stays within this many numbers a neighbour.
_MOST_NUMBERS = 32_000_000
_PILOT = 4


Output = Any  # whatever a mechanism returns


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an output: anyone who asks sees it."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """What is audited, by what can be done with it."""

    name: str
    run: Callable[[Any], Output] | None
    many: Callable[[Any, int], Output] | None
    chances: Callable[[Any], Mapping[Hashable, Chance]] | None
    loss: PrivacyLoss | None

    def once(self, dataset: object) -> object:
        """Run once; an exception is an output as well."""
        assert self.run is not None
        try:
            return self.run(dataset)
        except Exception as error:
            return Raised(type(error).__name__, str(error))

    def outputs(self, dataset: object, count: int) -> Output:
        """Run so many times, at once where that is possible, and fewer times where outputs are wide."""
        if self.many is None:
            return [self.once(dataset) for _ in range(count)]
        try:
            wide = max(1, np.asarray(self.many(dataset, _PILOT)).size // _PILOT)
            return self.many(dataset, min(count, max(1000, _MOST_NUMBERS // wide)))
        except Exception as error:
            return [Raised(type(error).__name__, str(error))] * count


def subject_of(thing: object) -> AuditSubject:
    """Find out what can be done with a mechanism or a function."""
    many, name = getattr(thing, "releases", None), getattr(thing, "__name__", type(thing).__name__)
    if isinstance(thing, Mechanism):
        chances = thing.chances if isinstance(thing, Enumerable) else None
        return AuditSubject(name, thing.release, many, chances, thing.loss)
    if not callable(thing) and many is None:
        raise BadParameter(
            "mechanism",
            thing,
            why="it can be neither released nor called",
            fix="pass a mechanism, or a function from a dataset to an output",
        )
    chances = thing.chances if isinstance(thing, Enumerable) else None
    return AuditSubject(name, thing if callable(thing) else None, many, chances, getattr(thing, "loss", None))
