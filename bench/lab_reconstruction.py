"""Reconstruction: the share of secret bits guessed over twenty seeds, and the time that large tables take."""

from __future__ import annotations

from bench.harness.bar import at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

SEEDS, PEOPLE = 20, 1000


def _shares(name: str, function: str, most: float, **arguments: object) -> Case:
    """A share of people, the mean over all seeds, that may not be more than `most`."""
    return Case(
        f"{name} ({SEEDS} seeds)",
        Task(function, {"seeds": SEEDS, **arguments}),
        bars=(at_most(most),),
        unit="%",
        repetitions=1,
        warmups=0,
        reported=True,
        timeout=600,
    )


def _seconds(name: str, most: float, **arguments: object) -> Case:
    """The time of one attack, which fails where it guesses fewer than 99% right."""
    bars = (at_most(most),)
    return Case(name, Task("solved", arguments), bars=bars, repetitions=1, warmups=0, timeout=2 * most)


AREA = Area(
    ours=Participant(OURS, TASKS / "lab_reconstruction.py", package="discreet"),
    peers=(),
    cases=(
        *(
            _shares(f"wrong, n=1,000, 4,000 counts, {word}", "wrong", most, people=PEOPLE, target=word)
            for word, most in (("exact", 0.01), ("rounded:5", 0.01), ("rounded:10", 0.01), ("rounded:100", 0.12))
        ),
        *(
            _shares(f"guessed, n=1,000, 4,000 counts, {word}", "guessed", most, people=PEOPLE, target=word)
            for word, most in (("laplace:1", 0.55), ("gaussian:0.1", 0.60))
        ),
        *(
            _shares(
                f"wrong, n={people:,}, noise within {share} sqrt(n)", "wrong_in_noise", most, people=people, share=share
            )
            for people in (500, 1000, 2000)
            for share, most in ((0.25, 0.01), (0.5, 0.07), (1.0, 0.20))
        ),
        *(
            _shares(f"wrong over 4 alpha, n=12, alpha={alpha}, worst of all liars", "exhaustive", 1.0, alpha=alpha)
            for alpha in (0.025, 0.05, 0.1)
        ),
        _shares("blatantly non-private, (1, 0.1)-DP, 100 runs", "blatant", 0.0, runs=100),
        _seconds(
            "linear program, n=1,000, 4,000 exact counts", 60, people=PEOPLE, target="exact", method="linear_program"
        ),
        _seconds(
            "least squares, n=10,000, 40,000 exact counts", 120, people=10_000, target="exact", method="least_squares"
        ),
        _seconds("message passing, n=10,000, rounded:1000", 120, people=10_000, target="rounded:1000", method="auto"),
    ),
)
