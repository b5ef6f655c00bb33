"""Bugs in the noise: too little, of the wrong kind, cut off, or known to everyone."""

from fractions import Fraction

import numpy as np

from discreet import noise
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.pure import Pure
from tests.lab.mutants.mutant import Mutant, Runs


def laplace(scale):
    return Runs(lambda count, size: count + noise.laplace(scale, size))


def gaussian(sigma):
    return Runs(lambda count, size: count + noise.gaussian(sigma, size))


def clipped(count, size):
    return np.clip(count + noise.laplace(1, size), count - 3, count + 3)


def clamped_after(count, size):
    return np.clip(count + noise.laplace(1, size), 0, 5)


def signed_geometric(count, size):
    """Zero comes with either sign, and so twice as often as it should."""
    return count + (2 * noise.bernoulli(Fraction(1, 2), size) - 1) * noise.geometric(1, size)


def one_sided(count, size):
    return count + noise.geometric(1, size)


def seeded(count, size):
    return count + np.random.default_rng(2026).laplace(size=size)  # noqa: TID251


def unseeded_float(total, size):
    return total + np.random.default_rng().laplace(size=size)  # noqa: TID251


def on_a_grid(total, size):
    return (round(total * 1000) + noise.laplace(1000, size)) / 1000


def positive_only(count, size):
    """Draws again until the answer looks like a count."""
    if size is None:
        return next(answer for answer in iter(lambda: count + noise.laplace(1), None) if answer >= 0)
    answers = count + noise.laplace(1, 4 * size)
    return answers[answers >= 0][:size]


MUTANTS = [
    Mutant("half the scale", laplace(Fraction(1, 2)), laplace(1), 0, 1, DiscreteLaplace(1), ("black_box", "replay")),
    Mutant(
        "a scale that is 10% too small",
        laplace(Fraction(9, 10)),
        laplace(1),
        0,
        1,
        DiscreteLaplace(1),
        ("black_box", "replay"),
    ),
    Mutant("half the sigma", gaussian(1), gaussian(2), 0, 1, DiscreteGaussian(2), ("black_box", "replay")),
    Mutant("Gaussian noise sold as pure", gaussian(2), laplace(1), 0, 1, Pure(1), ("black_box", "replay"), 1_000_000),
    Mutant("noise that is clipped", Runs(clipped), Runs(clamped_after), 2, 3, Pure(1), ("black_box",)),
    Mutant("a signed geometric, off by one at zero", Runs(signed_geometric), laplace(1), 0, 1, Pure(1), ("black_box",)),
    Mutant("noise that never subtracts", Runs(one_sided), laplace(1), 0, 1, Pure(1), ("black_box",)),
    Mutant("a seeded generator", Runs(seeded), Runs(on_a_grid), 0.0, 1.0, Pure(1), ("black_box",)),
    Mutant("float noise on a float", Runs(unseeded_float), Runs(on_a_grid), 0.0, 1.0, Pure(1), ("black_box",)),
    Mutant("drawn again until positive", Runs(positive_only), laplace(1), 0, 1, Pure(1), ("black_box",)),
]
