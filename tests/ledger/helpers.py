"""What the tests of the ledger share: short charges, and a clock that is set by hand."""

import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from discreet.account import Pure
from discreet.account.budgets.budget import Budget
from discreet.ledger import Charge

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
