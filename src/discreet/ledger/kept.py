"""Kept answers: of work that is done once and could not be settled, as on a full disk, until it can be."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.core.value import dataclass
from discreet.ledger.charge import Charge, Receipt
from discreet.ledger.lease import Lease
from discreet.ledger.refusals import Unavailable

# Longer answers are not kept, and their questions fail at once: no vault may be able to store them.
MOST_CHARACTERS = 100_000_000


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What is to be settled: the charge, its lease and the answer, None if it has failed."""

    charge: Charge
    receipt: Receipt
    lease: Lease
    answer: str | None

    @property
    def worth_keeping(self) -> bool:
        """Whether there is an answer, and one that a vault can be expected to store."""
        return self.answer is not None and len(self.answer) <= MOST_CHARACTERS


class KeptAnswers:
    """The kept answers of one process, by the keys of their charges."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptAnswer] = {}

    def __iter__(self) -> Iterator[KeptAnswer]:
        return iter([*self._kept.values()])

    def add(self, kept: KeptAnswer) -> None:
        """Keep an answer."""
        self._kept[kept.charge.key] = kept

    def taken(self, key: str) -> KeptAnswer | None:
        """Return the answer of a charge, which is kept no longer."""
        return self._kept.pop(key, None)

    def like(self, charge: Charge) -> Charge | None:
        """Return a charge like this one that was made under a key of its own and has an answer here."""
        what = (charge.identity, charge.price, charge.analyst)
        made = [each.charge for each in self if each.answer is not None and each.charge.key != each.charge.identity]
        return next((each for each in made if (each.identity, each.price, each.analyst) == what), None)


def keeping(error: Unavailable) -> Unavailable:
    """Say of a vault that cannot be written that this process keeps the answer."""
    fix = f"{error.fix}, in this process, which keeps the answer until it ends: without it the question has failed"
    return Unavailable(error.what, why=error.why, fix=fix, value=error.value)
