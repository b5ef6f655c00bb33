"""Learning: linear models of the census without tuning, medians of ten seeds; and training through a vault.

Adult as it is shared, first 32,561 rows to train, the others to test; numbers in 16 bins and one-hot, rows bought. The
plain loop does the same rounds on the same rows, read from the same Parquet file, without privacy.
"""

from __future__ import annotations

from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

PLAIN = "plain loop"
FILE = TASKS / "learn.py"
DELTA = "1e-6"

# Wrong predictions, and what is missing of the area under the curve, at most.
GAUSSIAN = {"0.1": (0.155, 0.110), "1": (0.144, 0.095), "10": (0.141, 0.090)}
PURE = {"0.1": 0.20, "1": 0.155, "10": 0.144}
HOURS = {"0.1": 0.95, "1": 0.88, "10": 0.865}


def _case(name: str, function: str, bar: float, **terms: str) -> Case:
    return Case(
        name,
        Task(function, terms),
        bars=(at_most(bar),),
        unit="%",
        repetitions=1,
        warmups=0,
        reported=True,
        timeout=600,
    )


AREA = Area(
    ours=Participant(OURS, FILE, package="discreet"),
    peers=(Participant(PLAIN, FILE),),
    cases=(
        *(_case(f"Adult, epsilon {e}, wrong", "wrong", b, epsilon=e, delta=DELTA) for e, (b, _) in GAUSSIAN.items()),
        *(_case(f"Adult, epsilon {e}, 1 - AUC", "uneven", b, epsilon=e, delta=DELTA) for e, (_, b) in GAUSSIAN.items()),
        *(_case(f"Adult, pure epsilon {e}, wrong", "wrong", b, epsilon=e, delta="") for e, b in PURE.items()),
        *(
            _case(f"hours a week, epsilon {e}, 1 - R2", "unexplained", b, epsilon=e, delta=DELTA)
            for e, b in HOURS.items()
        ),
        Case(
            "logistic regression, 1M rows x 20 columns of Parquet, epsilon 1",
            Task("vault", {"rows": 1_000_000, "columns": 20}),
            {PLAIN: Task("loop", {"rows": 1_000_000, "columns": 20})},
            bars=(faster(PLAIN, 1 / 3),),
            repetitions=1,
            warmups=0,
            reported=True,
            timeout=1800,
        ),
    ),
)
