"""Local privacy: reports, servers and estimates against pure-ldp and multi-freq-ldpy, and against the theory.

The parts in files of their own (local_...) are run along with it.
"""

from __future__ import annotations

from bench.harness.bar import Bar, at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
K, LARGE_K, EPSILON, N = 100, 100_000, 1.0, 1_000_000

# Peers are compared per report, on as many reports as they handle in tens of milliseconds.
ENCODED = {"unary": 2_000, "local_hash": 10_000, "k-ary": 20_000}
AGGREGATED = {"unary": 5_000, "local_hash": 300}
ENCODE_BARS = {"unary": 20, "local_hash": 300, "k-ary": 100}
AGGREGATE_BARS = {"unary": 10, "local_hash": 500}
# A value of 17 bits, or a row and a bit, or a function and a hash: three bytes each.
LARGE_SERVER_SECONDS, LARGE_END_SECONDS, LARGE_BYTES = 60.0, 0.1, 3

PROTOCOLS = ("k-ary", "unary", "unary, symmetric", "local_hash", "hadamard")
SMALL = {"k-ary": 20, "unary": 9, "unary, symmetric": 9, "local_hash": 30, "hadamard": 30}
REPEATS, MSE_N = 40, 100_000
# A million reports of 100,000 bits each are not for a bench; the theory speaks of any number.
LARGE_N = {"unary": 2_000, "unary, symmetric": 2_000}


def _against(name: str, function: str, protocol: str, theirs: int, factor: float) -> Case:
    arguments = {"protocol": protocol, "k": K, "epsilon": EPSILON}
    peer = Task(function, {**arguments, "n": theirs}, items=theirs)
    bars: tuple[Bar, ...] = (faster(PURE, factor), faster(MULTI, factor))
    return Case(name, Task(function, {**arguments, "n": N}, items=N), {PURE: peer, MULTI: peer}, bars)


def _large(name: str, protocol: str, function: str, limit: float) -> Case:
    arguments: dict[str, object] = {"protocol": protocol, "k": LARGE_K, "epsilon": EPSILON, "n": N}
    if function == "end_to_end":
        arguments["most_bytes"] = LARGE_BYTES
    return Case(name, Task(function, arguments), bars=(at_most(limit),), timeout=300)


def _error(protocol: str, k: int) -> Case:
    """The task fails, and misses its bar, where the error is not the theory's or the intervals do not cover."""
    small = k == K
    n = MSE_N if small else LARGE_N.get(protocol, N)
    arguments = {"protocol": protocol, "k": k, "epsilon": EPSILON, "n": n, "repeats": REPEATS if small else 1}
    words = f"{REPEATS} repeats, within 3 standard errors of 1" if small else "within 3% of 1"
    return Case(
        f"MSE over theory, {protocol}, k={k:,} ({words})",
        Task("error", {**arguments, "within": None if small else 0.03}),
        bars=(at_most(300.0),),
        repetitions=1,
        warmups=0,
        timeout=300,
    )


def _ratio(protocol: str) -> Case:
    return Case(
        f"likelihood ratio, {protocol}, all reports (0.999 to 1 of e^epsilon)",
        Task("ratio", {"protocol": protocol, "k": SMALL[protocol], "epsilon": EPSILON}),
        bars=(at_most(60.0),),
        repetitions=1,
        warmups=0,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "local_discreet.py", package="discreet"),
    peers=(
        Participant(
            PURE,
            TASKS / "local_pure_ldp.py",
            # Its newest release does not run with numpy 2 or xxhash 4, and does not ask for all that it imports.
            (
                "pure-ldp==1.2.0",
                "numpy==1.26.4",
                "xxhash==3.5.0",
                "scipy==1.13.1",
                "scikit-learn==1.5.2",
                "statsmodels==0.14.4",
                "pandas==2.2.3",
            ),
            package="pure-ldp",
        ),
        Participant(
            MULTI,
            TASKS / "local_multi_freq.py",
            ("multi-freq-ldpy==0.2.5", "numpy==1.26.4", "xxhash==3.5.0", "numba==0.60.0"),
            package="multi-freq-ldpy",
        ),
    ),
    cases=(
        *(_against(f"encode, {p}, k={K}", "encode", p, ENCODED[p], bar) for p, bar in ENCODE_BARS.items()),
        *(_against(f"aggregate, {p}, k={K}", "aggregate", p, AGGREGATED[p], bar) for p, bar in AGGREGATE_BARS.items()),
        _large("server, local_hash, k=100,000, 10^6 reports", "local_hash", "aggregate", LARGE_SERVER_SECONDS),
        _large("end to end, hadamard, k=100,000, 10^6 values", "hadamard", "end_to_end", LARGE_END_SECONDS),
        *(_error(protocol, k) for k in (K, LARGE_K) for protocol in PROTOCOLS),
        *(_ratio(protocol) for protocol in PROTOCOLS),
        Case(
            "two-coin survey, n=10,000 (sd 0.00866 within 3%, audit in [1.05, 1.0986])",
            Task("survey", {"n": 10_000, "runs": 14_000, "deviation": 0.00866, "within": 0.03}),
            bars=(at_most(60.0),),
            repetitions=1,
            warmups=0,
        ),
    ),
)
