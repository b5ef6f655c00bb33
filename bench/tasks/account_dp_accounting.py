"""Tasks of accounting for dp-accounting: its numerical privacy-loss distributions, at their default grid."""

from __future__ import annotations

import math
from collections.abc import Callable

from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld


def _pure(epsilon: float) -> pld.PrivacyLossDistribution:
    return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, 0))


EVENTS: dict[str, Callable[..., pld.PrivacyLossDistribution]] = {
    "laplace": pld.from_laplace_mechanism,
    "discrete_laplace": lambda scale: pld.from_discrete_laplace_mechanism(1 / scale),
    "gaussian": pld.from_gaussian_mechanism,
    "randomized_response": _pure,
    # It knows no bounded range: to it the exponential mechanism is any pure one.
    "exponential": _pure,
}


def epsilon(event: str, parameter: float, count: int, delta: float, rate: float | None = None) -> Callable[[], float]:
    """Epsilon of one event, many times."""
    sampling = {} if rate is None else {"sampling_prob": rate}
    return lambda: EVENTS[event](parameter, **sampling).self_compose(count).get_epsilon_for_delta(delta)


def mixed(events: list[tuple[str, float, int]], delta: float) -> Callable[[], float]:
    """Epsilon of unlike events together, each with its count."""

    def call() -> float:
        total = pld.identity()
        for event, parameter, count in events:
            total = total.compose(EVENTS[event](parameter).self_compose(count))
        return total.get_epsilon_for_delta(delta)

    return call


def noise_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> Callable[[], float]:
    """The least sigma that reaches an epsilon, by bisection on its accountant."""

    def reached(sigma: float) -> float:
        return pld.from_gaussian_mechanism(sigma, sampling_prob=rate).self_compose(steps).get_epsilon_for_delta(delta)

    def call() -> float:
        low, high = math.log(0.3), math.log(10.0)
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (middle, high) if reached(math.exp(middle)) > epsilon else (low, middle)
        return math.exp(high)

    return call
