"""The server: replays and previews of 64 clients against a bare FastAPI route, and fresh questions against a vault."""

from __future__ import annotations

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

BARE, LOCAL = "bare route", "in process"
# Shares of the peer's requests in a second that are reached at least.
REPLAYS, PREVIEWS, FRESH = 0.5, 0.25, 0.7
REQUESTS, QUESTIONS = 2_000, 40
NAMES = {"/v1/run": "replays", "/v1/preview": "previews"}
_OF_CPU = ", processor time of the server"


def _asked(path: str, share: float, *, cpu: bool) -> Case:
    """Requests of 64 clients that keep their connections, answered with as much JSON."""
    task = Task("asked", {"path": path, "requests": REQUESTS, "cpu": cpu}, items=REQUESTS)
    name = f"{NAMES[path]}, 64 clients{_OF_CPU if cpu else ''}"
    return Case(name, task, {BARE: task}, (faster(BARE, share),), reported=cpu, timeout=600)


def _fresh(*, cpu: bool) -> Case:
    """Questions that nobody has asked, by as many askers over HTTP and in one process."""
    ours, peer = (
        Task(name, {"questions": QUESTIONS, "cpu": cpu}, items=QUESTIONS) for name in ("fresh", "fresh_in_process")
    )
    name = f"fresh questions, 8 clients{_OF_CPU if cpu else ''}"
    bars = (faster(LOCAL, FRESH),)
    return Case(name, ours, {LOCAL: peer}, bars, repetitions=5, reported=cpu, timeout=600)


AREA = Area(
    ours=Participant(OURS, TASKS / "serve_discreet.py", package="discreet"),
    peers=(
        Participant(BARE, TASKS / "serve_fastapi.py", package="fastapi"),
        Participant(LOCAL, TASKS / "serve_discreet.py", package="discreet"),
    ),
    cases=(
        *(
            _asked(path, share, cpu=cpu)
            for path, share in (("/v1/run", REPLAYS), ("/v1/preview", PREVIEWS))
            for cpu in (False, True)
        ),
        _fresh(cpu=False),
        _fresh(cpu=True),
    ),
)
