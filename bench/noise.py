"""Noise: exact samplers against OpenDP's exact ones and numpy's floating-point ones."""

from __future__ import annotations

from bench.harness.bar import Bar, at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

OPENDP, NUMPY, SYSTEM = "opendp", "numpy", "urandom"

# Peers are compared per item; OpenDP's samplers take seconds for as many draws as ours make in milliseconds.
SIZE, OPENDP_SIZE = 1_000_000, 100_000

# By distribution and scale: how many times as fast as OpenDP and as numpy. A scale with no bar informs.
VECTOR_BARS: dict[str, dict[int, tuple[float, float] | None]] = {
    "laplace": {1: (1000, 3), 10: (1000, 3), 100: None, 10**4: (300, 0.8), 10**7: None},
    "gaussian": {1: (1000, 3), 10: (1000, 3), 100: None, 10**4: (200, 0.3), 10**7: None},
}
SCALAR_FACTOR = 10
FIRST_USE_SECONDS = 0.050
TABLE_BYTES = 64_000_000
# A sanity check on that account: interpreter and allocator may add to the tables, but not as much again.
PROCESS_BYTES = 2 * TABLE_BYTES

# Small, middling and large, none of them a round number: a table cannot be shared with a scale used before.
NEW_SCALES = (0.37, 3.3, 12.7, 99.5, 1234.5, 1e6 + 0.1, 2.0**40 + 0.5)
DISTINCT_SCALES = 2000


def _vector(distribution: str, scale: int, factors: tuple[float, float] | None) -> Case:
    bars: tuple[Bar, ...] = (faster(OPENDP, factors[0]), faster(NUMPY, factors[1])) if factors else ()
    return Case(
        f"{distribution}, scale {scale:,}",
        ours=_draws(distribution, scale, SIZE),
        peers={OPENDP: _draws(distribution, scale, OPENDP_SIZE), NUMPY: _draws(distribution, scale, SIZE)},
        bars=bars,
    )


def _draws(distribution: str, scale: int, size: int) -> Task:
    return Task("vector", {"distribution": distribution, "scale": scale, "size": size}, items=size)


def _scalar(distribution: str) -> Case:
    task = Task("scalar", {"distribution": distribution, "scale": 10})
    return Case(f"{distribution}, one draw", task, {OPENDP: task}, (faster(OPENDP, SCALAR_FACTOR),), warmups=1000)


def _first_use(distribution: str) -> Case:
    return Case(
        f"{distribution}, first use of a scale",
        ours=Task("first_use", {"distribution": distribution, "scales": NEW_SCALES}),
        bars=(at_most(FIRST_USE_SECONDS),),
        reported=True,
    )


def _memory(name: str, function: str, bars: tuple[Bar, ...]) -> Case:
    """Memory is a property of a whole process, so it is looked at once, in a worker that did nothing before."""
    task = Task(function, {"scales": DISTINCT_SCALES})
    return Case(name, task, bars=bars, unit="B", repetitions=1, warmups=0, reported=True, fresh=True)


AREA = Area(
    ours=Participant(OURS, TASKS / "noise_discreet.py", package="discreet"),
    peers=(
        Participant(OPENDP, TASKS / "noise_opendp.py", ("opendp==0.16.0", "numpy==2.4.6"), package="opendp"),
        Participant(NUMPY, TASKS / "noise_numpy.py", package="numpy"),
        Participant(SYSTEM, TASKS / "noise_urandom.py"),
    ),
    cases=(
        *(_vector(name, scale, bar) for name, bars in VECTOR_BARS.items() for scale, bar in bars.items()),
        *(_scalar(name) for name in VECTOR_BARS),
        *(_first_use(name) for name in VECTOR_BARS),
        _memory(f"tables of {DISTINCT_SCALES:,} scales, held", "held", (at_most(TABLE_BYTES),)),
        _memory(f"tables of {DISTINCT_SCALES:,} scales, process", "grown", (at_most(PROCESS_BYTES),)),
        Case(
            "random bytes",
            ours=Task("stream", {"size": SIZE}, items=SIZE),
            peers={SYSTEM: Task("stream", {"size": SIZE}, items=SIZE)},
        ),
    ),
)
