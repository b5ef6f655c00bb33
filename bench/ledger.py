"""The ledger: a charge with its settlement against two bare SQLite transactions, and against itself when long."""

from __future__ import annotations

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

SQLITE, SHORT = "two transactions", "10 entries"

# At most so many times the peer's time.
PAID, FLAT = 2.0, 1.3
LONG = 100_000

# The disk's flush takes most of the time and varies from one to the next, so there are more repetitions than elsewhere.
REPETITIONS = 15


def _paid(budget: str) -> Case:
    ours = Task("paid", {"entries": 10, "budget": budget})
    peer = Task("written", {"rows": 10})
    return Case(
        f"charge and settle, {budget} budget",
        ours,
        {SQLITE: peer},
        (faster(SQLITE, 1 / PAID),),
        repetitions=REPETITIONS,
    )


def _flat(entries: int) -> Case:
    return Case(
        f"charge and settle after {entries:,} entries",
        Task("paid", {"entries": entries, "budget": "pure"}),
        {SHORT: Task("paid", {"entries": 10, "budget": "pure"}), SQLITE: Task("written", {"rows": entries})},
        (faster(SHORT, 1 / FLAT), faster(SQLITE, 1 / PAID)),
        repetitions=REPETITIONS,
        timeout=600,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "ledger_discreet.py", package="discreet"),
    peers=(
        Participant(SQLITE, TASKS / "ledger_sqlite.py"),
        Participant(SHORT, TASKS / "ledger_discreet.py", package="discreet"),
    ),
    cases=(
        *(_paid(budget) for budget in ("pure", "approximate", "rho")),
        *(_flat(entries) for entries in (1_000, LONG)),
        Case("replay of a settled answer", Task("replayed", {"entries": 1_000})),
        Case("verify 1,000 entries", Task("verified", {"entries": 1_000}), repetitions=3),
    ),
)
