"""Sketches, telemetry, means, marginals and heavy hitters: time, error over theory, and exact likelihood ratios."""

from __future__ import annotations

from bench.harness.bar import at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

K, LARGE_K, N, REPEATS, EPSILON = 100, 100_000, 1_000_000, 40, 1.0
SKETCHES = ("count_mean_sketch", "hadamard_count_mean_sketch")
# Reports of bits are long: fewer of them at a time; the theory speaks of any number.
ERROR_N = {"count_mean_sketch": 50_000, "hadamard_count_mean_sketch": 100_000, "d_bit_flip": 50_000}
LARGE_N = {"count_mean_sketch": 300_000, "hadamard_count_mean_sketch": N, "d_bit_flip": 200_000}
DECODE_SECONDS = 2.0
RATIOS = ("count_mean_sketch", "hadamard_count_mean_sketch", "d_bit_flip", "one_bit_mean", "mean", "marginals")


def _checked(name: str, function: str, seconds: float = 300.0, **arguments: object) -> Case:
    """The task fails, and misses its bar, where what it checks does not hold."""
    bars = (at_most(seconds),)
    return Case(name, Task(function, arguments), bars=bars, repetitions=1, warmups=0, timeout=400)


def _error(protocol: str, k: int) -> Case:
    small = k == K
    n = ERROR_N[protocol] if small else LARGE_N[protocol]
    words = f"{REPEATS} repeats, within 3 standard errors of 1" if small else "within 3% of 1"
    return _checked(
        f"MSE over theory, {protocol}, k={k:,} ({words})",
        "error",
        protocol=protocol,
        k=k,
        epsilon=EPSILON,
        n=n,
        repeats=REPEATS if small else 1,
        within=None if small else 0.03,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "local_sketches.py", package="discreet"),
    peers=(),
    cases=(
        Case(
            "decode, HCMS, k=100,000, 10^6 reports",
            Task("decode", {"protocol": "hadamard_count_mean_sketch", "k": LARGE_K, "epsilon": EPSILON, "n": N}),
            bars=(at_most(DECODE_SECONDS),),
        ),
        Case(
            "decode, HCMS, 10,000 candidate strings, 10^6 reports",
            Task("decode_strings", {"candidates": 10_000, "epsilon": EPSILON, "n": N}),
            bars=(at_most(DECODE_SECONDS),),
        ),
        *(
            Case(f"encode, {name}, k=100,000, 10^6 values", Task("encode", {"protocol": name, "k": LARGE_K, "n": N}))
            for name in SKETCHES
        ),
        *(_error(protocol, k) for k in (K, LARGE_K) for protocol in ERROR_N),
        *(
            _checked(f"MSE over theory, mean, {method} (400 repeats, 3 standard errors)", "mean_error", method=method)
            for method in ("duchi", "piecewise", "hybrid", "one_bit")
        ),
        _checked("MSE over theory, marginals, 8 binary attributes, 2 ways (40 repeats)", "marginal_error"),
        *(
            _checked(f"likelihood ratio, {name}, all reports (0.999 to 1 of e^epsilon)", "ratio", protocol=name)
            for name in RATIOS
        ),
        _checked("heavy hitters, 10^6 strings of 6 letters: all above 2% found, none made up", "found", n=N),
    ),
)
