"""Tasks of the ledger for Discreet: paying for an answer, replaying it, verifying the vault."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path

from discreet.account import DiscreteGaussian, DiscreteLaplace
from discreet.account.budget import Budget
from discreet.ledger import Charge, Ledger

# On the disk that holds the repository: a temporary folder may lie in memory, where a flush costs nothing.
PLACE = Path(__file__).resolve().parents[2] / ".bench" / "ledger"

BUDGETS = {
    "pure": (Budget(epsilon=10**6), DiscreteLaplace(Fraction(10))),
    "approximate": (Budget(epsilon=10**5, delta=1e-6), DiscreteGaussian(Fraction(100))),
    "rho": (Budget(rho=10**6), DiscreteGaussian(Fraction(100))),
}
QUESTION = '{"plan":' + '"where age between 18 and 65 group by ward"' * 8 + ',"number":%d}'
ANSWER = '{"rows":' + "[41, 39, 44]" * 40 + "}"


def paid(entries: int, budget: str) -> Callable[[], object]:
    """One charge and its settlement, in a vault of so many entries."""
    ledger, questions = _vault(entries, budget)
    return lambda: ledger.run(next(questions), lambda: ANSWER)


def replayed(entries: int) -> Callable[[], object]:
    """An answer that was paid for already."""
    ledger, questions = _vault(entries, "pure")
    charge = next(questions)
    ledger.run(charge, lambda: ANSWER)
    return partial(ledger.run, charge, lambda: "never called")


def verified(entries: int) -> Callable[[], object]:
    """A whole vault, from its first entry on."""
    return _vault(entries, "pure")[0].verify


def _vault(entries: int, budget: str) -> tuple[Ledger, Iterator[Charge]]:
    folder = _folder()
    ledger = Ledger.create(folder / "vault.discreet")
    promise, loss = BUDGETS[budget]
    ledger.add_account("people", promise)
    questions = (Charge(QUESTION % number, {"people": loss}, {"visits": 1}, "alice") for number in count())
    with ledger._store._connected() as connection:  # noqa: SLF001  (not flushed while it is only being filled)
        connection.execute("PRAGMA synchronous = OFF")
    while ledger.head[0] < entries:
        ledger.run(next(questions), lambda: ANSWER)
    with ledger._store._connected() as connection:  # noqa: SLF001
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ledger, questions


def _folder() -> Path:
    """Make a folder of this process; those of processes that have ended are removed, as workers end without a word."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for other in PLACE.iterdir():
        with suppress(ValueError):
            process = int(other.name.partition("-")[0])
            if process != os.getpid() and not Path(f"/proc/{process}").exists():
                shutil.rmtree(other, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=PLACE))
