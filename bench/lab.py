"""The lab: every attack on the shipped table, with its page, in two minutes at most; and the audit of a question."""

from __future__ import annotations

from bench.harness.bar import at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

SECONDS, AUDIT_SECONDS = 120.0, 20.0

AREA = Area(
    ours=Participant(OURS, TASKS / "lab_all.py", package="discreet"),
    peers=(),
    cases=(
        Case(
            "`discreet attack all` on 20,190 rows",
            Task("attack_all", {}),
            bars=(at_most(SECONDS),),
            repetitions=3,
            warmups=0,
            timeout=600.0,
        ),
        Case(
            "`discreet audit` of a count and a mean by group",
            Task("audit", {}),
            bars=(at_most(AUDIT_SECONDS),),
            repetitions=3,
            warmups=0,
            timeout=600.0,
        ),
    ),
)
