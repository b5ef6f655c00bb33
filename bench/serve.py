"""The server: replays and previews of 64 clients against a bare FastAPI route, and fresh questions against a vault."""

from __future__ import annotations

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

BARE, LOCAL = "bare route", "in process"
# Shares of the peer's requests in a second that are reached at least.
REPLAYS, PREVIEWS, FRESH = 0.5, 0.25, 0.7
REQUESTS, QUESTIONS = 2_000, 40


def _asked(path: str, share: float) -> Case:
    """Requests of 64 clients that keep their connections, answered with the same JSON."""
    terms = {"path": path, "requests": REQUESTS}
    peer = Task("asked", terms, items=REQUESTS)
    return Case(
        f"{path.removeprefix('/v1/')}, 64 clients",
        Task("asked", terms, items=REQUESTS),
        {BARE: peer},
        (faster(BARE, share),),
        timeout=600,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "serve_discreet.py", package="discreet"),
    peers=(
        Participant(BARE, TASKS / "serve_fastapi.py", package="fastapi"),
        Participant(LOCAL, TASKS / "serve_discreet.py", package="discreet"),
    ),
    cases=(
        _asked("/v1/run", REPLAYS),
        _asked("/v1/preview", PREVIEWS),
        Case(
            "fresh questions, 8 clients",
            Task("fresh", {"questions": QUESTIONS}, items=QUESTIONS),
            {LOCAL: Task("fresh_in_process", {"questions": QUESTIONS}, items=QUESTIONS)},
            (faster(LOCAL, FRESH),),
            repetitions=5,
            timeout=600,
        ),
    ),
)
