"""What the tests of the ledger share: short charges, and a clock that is set by hand."""

import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from hashlib import sha256

from discreet.account import Pure
from discreet.account.budgets.budget import Budget
from discreet.ledger import Charge, debit
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.store import Attempt, Settled

START = datetime(2026, 11, 15, 12, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now=START):
        self.now = now

    def __call__(self):
        return self.now

    def move(self, **amounts):
        self.now += timedelta(**amounts)


def charge(question="q", epsilon=Fraction(1, 10), account="people", **more):
    """A charge of pure epsilon to one account, or to several if named in a list."""
    accounts = [account] if isinstance(account, str) else account
    more.setdefault("tables", {"visits": 1})
    return Charge(question, {name: Pure(epsilon) for name in accounts}, **more)


def epsilon(amount):
    """A budget of pure epsilon."""
    return Budget(epsilon=amount)


def kinds(ledger):
    """The kinds of all entries, in order."""
    return [entry.kind for entry in ledger.entries()]


@contextmanager
def surgery(path):
    """Open the file of a vault as a forger would: belts off, and back on so that only the content shows."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    try:
        yield connection
    finally:
        for _, sql in triggers:
            connection.execute(sql)
        connection.close()


def running(ledger):
    """A running release with a file in its one settled part, and another part that is being worked on."""
    asked, record = charge("running", Fraction(1, 100)), {"name": f"{1:032x}.json", "size": 2, "media": "text/plain"}
    digest, file = sha256(b"41").hexdigest(), sha256(b"42").hexdigest()
    with ledger._write() as transaction:
        at = written(ledger._clock())
        receipt = debit.make(transaction, asked, ledger._clock(), None, running="pmw")
        settled = {"answer": digest, "state": "", "artefacts": [{**record, "sha256": file}]}
        body = {"charge": receipt.sequence, "key": receipt.key, "number": 1, "fence": 1, "at": at, **settled}
        transaction.put(Settled(enter(transaction, "part", body).sequence, "41"))
        transaction.put(Attempt(receipt.key, 2, "binding", 1, "someone"))
