"""Tasks of reconstruction for Discreet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet import noise
from discreet.lab.attacks.reconstruction import Reconstruction, reconstruction
from discreet.lab.defence import LaplaceDefence
from discreet.lab.targets import named
from discreet.testing import seeded


def wrong(people: int, target: str, seeds: int) -> Callable[[], float]:
    """The share of wrong guesses."""
    return lambda: 1 - float(np.mean([_attacked(people, target, seed).share for seed in range(seeds)]))


def guessed(people: int, target: str, seeds: int) -> Callable[[], float]:
    """The share of right guesses."""
    return lambda: float(np.mean([_attacked(people, target, seed).share for seed in range(seeds)]))


def wrong_in_noise(people: int, share: float, seeds: int) -> Callable[[], float]:
    """The share of wrong guesses from answers with noise of a width that is a share of the root of the people."""
    return wrong(people, f"noisy:{round(share * math.sqrt(people))}", seeds)


def exhaustive(alpha: float, seeds: int, people: int = 12) -> Callable[[], float]:
    """The most wrong bits, over 4 alpha n, from answers that are all within alpha n and lean to another table."""

    def call() -> float:
        worst = 0.0
        for seed in range(seeds):
            with seeded(seed):
                secret, other = (np.asarray(noise.bernoulli(1 / 2, people)) for _ in range(2))
            near = secret.copy()
            near[: math.floor(4 * alpha * people)] ^= 1
            for decoy in (near, other, 1 - secret):
                found = reconstruction(secret, Leaning(decoy, alpha * people))
                worst = max(worst, (people - found.right) / (4 * alpha * people))
        return worst

    return call


def blatant(runs: int, seeds: int) -> Callable[[], float]:  # noqa: ARG001  (the runs are the seeds)
    """The share of runs against epsilon 1 that guess nine in ten."""

    def call() -> float:
        found = []
        for seed in range(runs):
            with seeded(seed):
                found.append(reconstruction(noise.bernoulli(1 / 2, 100), LaplaceDefence(1), questions=100).blatant)
        return float(np.mean(found))

    return call


def solved(people: int, target: str, method: Any) -> Callable[[], None]:
    """One attack that gets nearly everyone."""

    def call() -> None:
        found = _attacked(people, target, 1, method)
        assert found.share >= 0.99, f"guessed {found.share:.4f}"

    return call


def _attacked(people: int, target: str, seed: int, method: Any = "auto") -> Reconstruction:
    with seeded(seed):
        return reconstruction(noise.bernoulli(1 / 2, people), named(target), method=method)


class Leaning:
    """Answers within `most` of the exact ones, and as near to another table's as that allows."""

    name = "leaning to another table"
    epsilon = None

    def __init__(self, decoy: np.ndarray, most: float) -> None:
        self.decoy, self.most = decoy, most

    def protect(self, values: np.ndarray, questions: int, most: int = 1) -> Leaning:  # noqa: ARG002
        """Answer from the values, for one attack alone."""
        self.values = values
        return self

    def sums(self, groups: np.ndarray) -> np.ndarray:
        """Lie as far as allowed."""
        exact, other = groups @ self.values, groups @ self.decoy
        return exact + np.clip(other - exact, -self.most, self.most)
