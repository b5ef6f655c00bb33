"""Tasks of the ledger for Discreet: paying for an answer, replaying it, verifying the vault."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex

from discreet.account import DiscreteGaussian, DiscreteLaplace
from discreet.account.budgets.budget import Budget
from discreet.ledger import Charge, Ledger

# On the disk that holds the repository: a temporary folder may lie in memory, where a flush costs nothing.
PLACE = Path(__file__).resolve().parents[2] / ".bench" / "ledger"
SERVER = PLACE.with_name("postgres")

BUDGETS = {
    "pure": (Budget(epsilon=10**6), DiscreteLaplace(Fraction(10))),
    "approximate": (Budget(epsilon=10**5, delta=1e-6), DiscreteGaussian(Fraction(100))),
    "rho": (Budget(rho=10**6), DiscreteGaussian(Fraction(100))),
}
QUESTION = '{"plan":' + '"where age between 18 and 65 group by ward"' * 8 + ',"number":%d}'
ANSWER = '{"rows":' + "[41, 39, 44]" * 40 + "}"


def paid(entries: int, budget: str, *, postgres: bool = False) -> Callable[[], object]:
    """One charge and its settlement, in a vault of so many entries."""
    ledger, questions = (_in_postgres if postgres else _vault)(entries, budget)
    return lambda: ledger.run(next(questions), lambda _: ANSWER)


def replayed(entries: int, *, postgres: bool = False) -> Callable[[], object]:
    """An answer that was paid for already."""
    ledger, questions = (_in_postgres if postgres else _vault)(entries, "pure")
    charge = next(questions)
    ledger.run(charge, lambda _: ANSWER)
    return partial(ledger.run, charge, lambda _: "never called")


def verified(entries: int, *, postgres: bool = False) -> Callable[[], object]:
    """A whole vault, from its first entry on."""
    return (_in_postgres if postgres else _vault)(entries, "pure")[0].verify


def _vault(entries: int, budget: str) -> tuple[Ledger, Iterator[Charge]]:
    folder = _folder()
    ledger = Ledger.create(folder / "vault.discreet")
    questions = _questions(ledger, budget)
    with ledger._store._connected() as connection:  # noqa: SLF001  (not flushed while it is only being filled)
        connection.execute("PRAGMA synchronous = OFF")
    while ledger.head[0] < entries:
        ledger.run(next(questions), lambda _: ANSWER)
    with ledger._store._connected() as connection:  # noqa: SLF001
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ledger, questions


def _in_postgres(entries: int, budget: str) -> tuple[Ledger, Iterator[Charge]]:
    """A vault in a schema of its own, on the server that the peer uses too."""
    words = [sys.executable, str(Path(__file__).with_name("ledger_server.py")), str(SERVER)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url = f"{process.stdout.readline().strip()}&schema=vault_{token_hex(8)}"
    ledger = Ledger.create(url, anchor=_folder() / "anchor")
    questions = _questions(ledger, budget)
    while ledger.head[0] < entries:
        ledger.run(next(questions), lambda _: ANSWER)
    return ledger, questions


def _questions(ledger: Ledger, budget: str) -> Iterator[Charge]:
    promise, loss = BUDGETS[budget]
    ledger.add_account("people", promise)
    return (Charge(QUESTION % number, {"people": loss}, {"visits": 1}, "alice") for number in count())


def _folder() -> Path:
    """Make a folder of this process; those of processes that have ended are removed, as workers end without a word."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for other in PLACE.iterdir():
        with suppress(ValueError):
            process = int(other.name.partition("-")[0])
            if process != os.getpid() and not Path(f"/proc/{process}").exists():
                shutil.rmtree(other, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=PLACE))
