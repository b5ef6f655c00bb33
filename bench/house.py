"""The house: what it costs to import Discreet and to start its command."""

from __future__ import annotations

from bench.harness.bar import Bar, at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

BARE = "bare"
PROCESS = TASKS / "house_process.py"

# Starting a process varies by more than what is measured here, so there are more repetitions than elsewhere.
REPETITIONS = 31


def _started(name: str, *ours: str, bars: tuple[Bar, ...] = ()) -> Case:
    """A process of ours against one of the same interpreter that does nothing."""
    return Case(
        name,
        ours=Task("start", {"arguments": ours}),
        peers={BARE: Task("start", {"arguments": ["-c", "pass"]})},
        bars=bars,
        compared="difference",
        repetitions=REPETITIONS,
        warmups=2,
    )


AREA = Area(
    ours=Participant(OURS, PROCESS, package="discreet"),
    peers=(Participant(BARE, PROCESS),),
    cases=(
        _started("import discreet", "-c", "import discreet", bars=(at_most(0.030, above=BARE),)),
        _started("import discreet.noise", "-c", "import discreet.noise"),
        _started("discreet --version", "-m", "discreet", "--version", bars=(at_most(0.050, above=BARE),)),
    ),
)
