"""The ledger in PostgreSQL: a charge with its settlement against two bare transactions of the same server."""

from __future__ import annotations

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

POSTGRES, SHORT = "two transactions", "10 entries"

# At most so many times the peer's time, as for SQLite.
PAID, FLAT = 2.0, 1.3
REPETITIONS = 15


def _ours(function: str, **arguments: object) -> Task:
    return Task(function, {**arguments, "postgres": True})


def _paid(budget: str) -> Case:
    return Case(
        f"charge and settle, {budget} budget",
        _ours("paid", entries=10, budget=budget),
        {POSTGRES: Task("written", {"rows": 10})},
        (faster(POSTGRES, 1 / PAID),),
        repetitions=REPETITIONS,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "ledger_discreet.py", package="discreet"),
    peers=(
        Participant(POSTGRES, TASKS / "ledger_postgres.py", package="psycopg"),
        Participant(SHORT, TASKS / "ledger_discreet.py", package="discreet"),
    ),
    cases=(
        *(_paid(budget) for budget in ("pure", "approximate", "rho")),
        Case(
            "charge and settle after 2,000 entries",
            _ours("paid", entries=2_000, budget="pure"),
            {SHORT: _ours("paid", entries=10, budget="pure")},
            (faster(SHORT, 1 / FLAT),),
            repetitions=REPETITIONS,
        ),
        Case("replay of a settled answer", _ours("replayed", entries=1_000)),
        Case("verify 1,000 entries", _ours("verified", entries=1_000), repetitions=3),
    ),
)
