"""Bugs in choosing and answering: selection, comparison with a threshold, randomized response."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet import noise
from discreet.account.losses.exponential import Exponential as ExponentialLoss
from discreet.account.losses.pure import Pure, RandomizedResponse
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.noise import enclosure
from tests.lab.mutants.mutant import Mutant, Runs

BITS = 200


@dataclass(frozen=True)
class Response:
    """Randomized response that lies with odds 1 : e^epsilon, with its exact chances."""

    epsilon: int

    def releases(self, bit, count):
        low, _ = enclosure.exp((self.epsilon, 1), 62)
        return bit ^ noise.bernoulli(Fraction(low, low + (1 << 62)), count)

    def chances(self, bit):
        low, high = enclosure.exp((self.epsilon, 1), BITS)
        unit = 1 << BITS
        lie = Fraction(low, unit + low), Fraction(high, unit + high)
        return {bit: (1 - lie[1], 1 - lie[0]), 1 - bit: lie}


def bits(lies):
    """Randomized response over a vector of bits: each lies with its own chance."""

    def draw(secret, size):
        shape = () if size is None else (size,)
        return np.stack([bit ^ noise.bernoulli(lie, shape) for bit, lie in zip(secret, lies, strict=True)], axis=-1)

    return Runs(draw)


def one_coin(secret, size):
    """All bits are turned by the same coin, so that their differences are the truth."""
    coin = noise.bernoulli(Fraction(1, 4), () if size is None else (size,))
    return np.stack([bit ^ coin for bit in secret], axis=-1)


def watched(threshold_scale, query_scale, *, most=1):
    """Compare answers with a noisy threshold; say which are above, up to so many."""

    def draw(answers, size):
        shape = (1,) if size is None else (size,)
        threshold = noise.laplace(threshold_scale, shape) if threshold_scale else np.zeros(shape, dtype=int)
        above = np.stack([answer + _drawn(query_scale, shape) >= threshold for answer in answers], axis=-1)
        said = above & (np.cumsum(above, axis=-1) <= most)
        return said[0] if size is None else said

    return Runs(draw)


def _drawn(scale, shape):
    return noise.laplace(scale, shape) if scale else 0


def one_noise_for_both(answers, size):
    """The threshold's noise is used for the answers too, and cancels out."""
    shape = (1,) if size is None else (size,)
    shared = noise.laplace(2, shape)
    above = np.stack([answer + shared >= shared for answer in answers], axis=-1)
    return above[0] if size is None else above


def with_answers(answers, size):
    """Tells the noisy answers that were compared, for the price of the comparison."""
    shape = (1,) if size is None else (size,)
    told = np.stack([answer + noise.laplace(2, shape) for answer in answers], axis=-1)
    told = np.where(told >= noise.laplace(2, shape)[:, None], told, -999)
    return told[0] if size is None else told


SCORES = (3, 0, 0, 0), (2, 1, 1, 1)
ANSWERS = (20,) * 8, (21,) * 8
MIRRORED = (1,) * 12 + (0,) * 12, (0,) * 12 + (1,) * 12
# Quiet answers rise and the last one falls: the worst case of a threshold.
CROSSED = (-1, -1, -1, 1), (0, 0, 0, 0)
QUARTER = Fraction(1, 4)
FIRST = AboveThreshold(threshold=0, epsilon=1)

MUTANTS = [
    Mutant("randomized response at twice epsilon", Response(2), Response(1), 0, 1, Pure(1), ("exact", "black_box")),
    Mutant(
        "one bit left alone",
        bits([QUARTER, QUARTER, Fraction(0)]),
        bits([QUARTER, QUARTER, QUARTER]),
        (1, 0, 0),
        (1, 0, 1),
        RandomizedResponse(1.0987),
        ("black_box",),
    ),
    Mutant(
        "one coin for all bits",
        Runs(one_coin),
        bits([QUARTER, QUARTER, QUARTER]),
        (1, 0, 0),
        (1, 0, 1),
        RandomizedResponse(1.0987),
        ("black_box",),
    ),
    Mutant(
        "the exponential mechanism without the 2",
        Exponential(epsilon=2),
        Exponential(epsilon=1),
        *SCORES,
        ExponentialLoss(1),
        ("exact", "black_box"),
    ),
    Mutant(
        "permute-and-flip sold as the exponential mechanism",
        PermuteAndFlip(epsilon=2),
        PermuteAndFlip(epsilon=1),
        *SCORES,
        Pure(1),
        ("exact",),
    ),
    Mutant("a threshold without noise on answers", watched(2, None), FIRST, *CROSSED, Pure(1), ("black_box",)),
    Mutant("a threshold without a cut-off", watched(2, 4, most=24), FIRST, *MIRRORED, Pure(1), ("black_box",), 200_000),
    Mutant("the threshold's noise used again", Runs(one_noise_for_both), FIRST, *CROSSED, Pure(1), ("black_box",)),
    Mutant("compared answers told as they are", Runs(with_answers), FIRST, *ANSWERS, Pure(1), ("black_box",)),
]
