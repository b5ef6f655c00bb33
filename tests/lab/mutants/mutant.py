"""What a mutant is: a mechanism with one bug, the same without it, and a pair of neighbours that shows the bug."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.account.losses.loss import PrivacyLoss


@dataclass(frozen=True)
class Runs:
    """A mechanism given by one function of a dataset and a size: None for one run, a number for so many at once."""

    draw: Callable[[Any, int | None], Any]

    def __call__(self, dataset):
        return self.draw(dataset, None)

    def releases(self, dataset, count):
        return self.draw(dataset, count)


@dataclass(frozen=True)
class Mutant:
    """One bug. `caught` names the layers that have to find it; `mended` is the mechanism without the bug."""

    bug: str
    broken: Any
    mended: Any
    d0: Any
    d1: Any
    claim: PrivacyLoss
    caught: tuple[str, ...]
    samples: int = 100_000
