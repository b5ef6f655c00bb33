"""Questions to ask: a table behind a vault, opened for an analyst, and the exact integers that noise went to."""

import itertools
from contextlib import contextmanager

import numpy as np
import pandas as pd
from scipy.special import ndtr

from discreet.account.budgets.budget import Budget
from discreet.answers.quantity import NoisyInteger, leaves
from discreet.ask.programme import Programme
from discreet.core.schema import between, flag, one_of, text
from discreet.core.unit import person, row
from discreet.curator.curator import Curator
from discreet.noise.draws import Draws, new_key

PLENTY = Budget(epsilon=10**6, delta=0.5)
PURE = Budget(epsilon=10**6)
COLUMNS = {
    "ward": one_of("A", "B", "C"),
    "age": between(0, 110),
    "cost": between(-50, 450, step=0.5),
    "city": text(),
    "urgent": flag(),
}
ROWS = {
    "id": [1, 1, 1, 2, 2, 3, 4, 5, 6, 6],
    "ward": ["A", "A", "B", "B", "A", "B", "A", "A", None, "Z"],
    "age": [41, 42, 43, 7, 8, 90, 200, None, 30, 31],
    "cost": [10.0, 20.5, -80.0, 0.24, 450.0, 1e308, float("nan"), 3.0, -0.5, 99.75],
    "city": ["Zürich", "Zürich", "Bern", "Bern", None, "Bern", "Zürich", "東京", "Bern", "Bern"],
    "urgent": [True, False, True, None, True, True, False, False, True, False],
}
UNITS = {
    "row": row(),
    "row replaced": row(relation="replace"),
    "person": person("id", max_rows=3),
    "person replaced": person("id", max_rows=3, relation="replace"),
}
PRICES = {
    "epsilon": {"epsilon": 1},
    "rho": {"rho": 0.1},
    "epsilon and delta": {"epsilon": 1, "delta": 1e-6},
}

_folders = itertools.count()


def opened(folder, data=ROWS, *, unit=None, columns=COLUMNS, budget=PLENTY, rows=None, name="visits"):
    """Register a table in a new vault and return the session of an analyst who may spend all of it."""
    curator = Curator(folder / f"vault{next(_folders)}.discreet")
    curator.register(
        name,
        pd.DataFrame(data),
        unit=unit or person("id", max_rows=3),
        columns=columns,
        budget=budget,
        rows=rows,
    )
    return curator.session(curator.grant("alice", name))


def curator_of(session):
    """The custodian's side of a session, for tests to look at the ledger."""
    return getattr(session, "desk", session)._curator


def head(session):
    """The head of the ledger."""
    return curator_of(session).ledger.head


@contextmanager
def engine(asked):
    """Open an engine on the tables of a priced question."""
    query = asked.report.query
    with query.desk.access.runner(query.registered) as runner:
        yield runner


def answered(asked, times=1):
    """Answer a question many times over, outside the ledger: what a release does once it is paid."""
    with engine(asked) as runner:
        return [Programme(asked).run(runner, Draws(new_key())) for _ in range(times)]


def noises(quantity):
    """The noisy integers of a quantity, each once, in the order in which they were drawn."""
    found = {leaf.id: leaf for leaf in leaves(quantity) if isinstance(leaf, NoisyInteger)}
    return [found[key] for key in sorted(found, key=lambda each: int(each.rpartition(".")[2]))]


def law(noisy, reach, grain=1):
    """The probabilities of the noise from -reach to reach, with the two tails put at the ends; in rows of `grain`."""
    scale = float(noisy.scale)
    if grain > 1:  # so fine that it is the continuous law between the middles of rows
        edges = (np.arange(-reach, reach) + 0.5) * grain - 0.5
        below = np.exp(-np.abs(edges) / scale) / 2 if noisy.law == "laplace" else ndtr(-np.abs(edges) / scale)
        return np.diff(np.concatenate([[0], np.where(edges < 0, below, 1 - below), [1]]))
    values = np.arange(-200 * reach, 200 * reach + 1)
    weights = np.exp(-np.abs(values) / scale if noisy.law == "laplace" else -(values**2) / (2 * scale**2))
    weights /= weights.sum()
    places = np.clip(values, -reach, reach) + reach
    return np.bincount(places, weights=weights)


def drawn(draws, reach, grain=1):
    """How often each value from -reach to reach occurred, what lies beyond put at the ends; in rows of `grain`."""
    rows = (np.array(draws, dtype=np.int64) + grain // 2) // grain
    return np.bincount(np.clip(rows, -reach, reach) + reach, minlength=2 * reach + 1)
