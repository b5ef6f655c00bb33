"""Tasks of accounting for Discreet: speeds, and errors against truths that are computed here or given."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import mpmath

import discreet.account as account
from discreet.account.budgets import calibrate
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric import pld
from discreet.account.numeric.composition_inputs import directions

EVENTS: dict[str, Callable[..., PrivacyLoss]] = {
    "laplace": account.Laplace,
    "discrete_laplace": account.DiscreteLaplace,
    "gaussian": account.Gaussian,
    "randomized_response": account.RandomizedResponse,
    "exponential": account.Exponential,
}
FINEST = 1e-7  # relative accuracy of the finest grid
Events = Sequence[tuple[str, float, int]]


def epsilon(truth: str, limit: float, **arguments: Any) -> Callable[[], float]:
    """Epsilon of one event, many times, at most `limit` (relative) above a truth that was rounded to its digits."""

    def call() -> float:
        return _repeated(**arguments).epsilon(delta=arguments["delta"])

    _check(call(), mpmath.mpf(truth), limit, slip=_half_digit(truth))
    return call


def mixed(events: Events, delta: float, limit: float) -> Callable[[], float]:
    """Epsilon of unlike events together, each with its count, against the same on the finest grid."""

    def call() -> float:
        return _together(events).epsilon(delta=delta)

    ways = directions(_together(events).parts)
    assert ways is not None
    _check(call(), max(pld.epsilon(way, delta, accuracy=FINEST) for way in ways), limit, slip=FINEST)
    return call


def gaussian(count: int, deltas: Sequence[float], limit: float) -> Callable[[], float]:
    """Epsilon of Gaussians at sigma 1, against the closed form in 200 bits."""
    for delta in deltas:
        _check((account.Gaussian(1) * count).epsilon(delta=delta), _gaussian_truth(count, delta), limit)
    return lambda: (account.Gaussian(1) * count).epsilon(delta=deltas[0])


def response(epsilon: float, count: int, deltas: Sequence[float], limit: float) -> Callable[[], object]:
    """Epsilon of randomized response at every delta, against binomial sums in 300 bits."""
    for delta in deltas:
        found = (account.RandomizedResponse(epsilon) * count).epsilon(delta=delta)
        _check(found, _response_truth(epsilon, count, delta), limit)
    return lambda: [(account.RandomizedResponse(epsilon) * count).epsilon(delta=delta) for delta in deltas]


def calibrated(limit: float) -> Callable[[], float]:
    """Calibrate noise; the epsilon it gives is at most `limit` (relative) below the target, and never above it."""
    for target in (0.1, 1.0, 5.0):
        sampled = account.Gaussian(calibrate.noise_multiplier(target, 1e-6, rate=0.01, steps=1000)).sampled(0.01) * 1000
        for loss, delta in (
            (account.Gaussian(calibrate.gaussian(target, 1e-6)), 1e-6),
            (account.Laplace(calibrate.laplace(target)), 0),
            (sampled, 1e-6),
        ):
            found = loss.epsilon(delta=delta)
            if not target * (1 - limit) <= found <= target:
                raise ArithmeticError(f"{loss} costs {found!r}, the target was {target!r}")
    return lambda: calibrate.noise_multiplier(1.0, 1e-6, rate=0.01, steps=1000)


def start(arguments: Sequence[str]) -> Callable[[], object]:
    """One process with these arguments, from its start to its end."""
    return partial(subprocess.run, [sys.executable, *arguments], check=True)


def sampled_seconds(sigma: float, rate: float, count: int) -> Callable[[], float]:
    """Seconds for the epsilon of sampled Gaussians."""
    return partial(_seconds, lambda: (account.Gaussian(sigma).sampled(rate) * count).epsilon(delta=1e-6))


def sampled_memory(**arguments: float) -> Callable[[], float]:
    """Peak memory of the same."""
    return partial(_memory, sampled_seconds(**arguments))  # type: ignore[arg-type]


def small_seconds(**arguments: float) -> Callable[[], float]:
    """Seconds to find the noise for a small epsilon."""
    return partial(_seconds, lambda: calibrate.noise_multiplier(**arguments))


def small_memory(**arguments: float) -> Callable[[], float]:
    """Peak memory of the same."""
    return partial(_memory, small_seconds(**arguments))


def distinct_seconds(count: int) -> Callable[[], float]:
    """Seconds for as many events, no two of them alike."""
    events = [("laplace" if step % 2 else "gaussian", 100 * (1 + step / count), 1) for step in range(count)]
    return partial(_seconds, lambda: _together(events).epsilon(delta=1e-6))


def distinct_memory(count: int) -> Callable[[], float]:
    """Peak memory of the same."""
    return partial(_memory, distinct_seconds(count))


def _repeated(event: str, parameter: float, count: int, rate: float | None = None, **_: float) -> PrivacyLoss:
    each = EVENTS[event](parameter)
    return (each if rate is None else each.sampled(rate)) * count


def _together(events: Events) -> PrivacyLoss:
    return account.total(EVENTS[event](parameter) * count for event, parameter, count in events)


def _check(found: float, truth: mpmath.mpf, limit: float, slip: float = 0.0) -> None:
    """Refuse an epsilon below the truth, or above it by more than the limit; `slip` is how well the truth is known."""
    error = mpmath.mpf(found) / truth - 1
    if not -slip <= error <= limit + slip:
        raise ArithmeticError(f"{found!r} is {mpmath.nstr(error, 3)} from the truth {mpmath.nstr(truth, 17)}")


def _half_digit(text: str) -> float:
    return 0.5 * 10.0 ** -len(text.partition(".")[2]) / float(text)


def _gaussian_truth(count: int, delta: float) -> mpmath.mpf:
    """Invert Balle and Wang 2018, Theorem 8, by bisection in 200 bits."""
    with mpmath.workprec(200):
        mu = mpmath.sqrt(count)

        def excess(target: mpmath.mpf) -> mpmath.mpf:
            beyond = mpmath.exp(target) * mpmath.ncdf(-mu / 2 - target / mu)
            return mpmath.ncdf(mu / 2 - target / mu) - beyond - mpmath.mpf(delta)

        return _bisected(excess, mpmath.mpf(0), mu * mu + 40 * mu)


def _response_truth(epsilon: float, count: int, delta: float) -> mpmath.mpf:
    """Invert the exact hockey-stick divergence of k-fold randomized response (Kairouz, Oh, Viswanath 2015)."""
    with mpmath.workprec(300):
        each = mpmath.mpf(epsilon)
        x = mpmath.exp(-each)
        masses = [
            (mpmath.binomial(count, lies) * x**lies / (1 + x) ** count, (count - 2 * lies) * each)
            for lies in range(count // 2 + 1)
        ]

        def excess(target: mpmath.mpf) -> mpmath.mpf:
            terms = (mass * (1 - mpmath.exp(target - loss)) for mass, loss in masses if loss > target)
            return mpmath.fsum(terms) - mpmath.mpf(delta)

        return _bisected(excess, mpmath.mpf(0), count * each)


def _bisected(excess: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _seconds(call: Callable[[], float]) -> float:
    started = perf_counter()
    found = call()
    seconds = perf_counter() - started
    if not (math.isfinite(found) and found > 0):
        raise ArithmeticError(f"{found!r} is no figure")
    return seconds


def _memory(call: Callable[[], float]) -> float:
    call()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)
