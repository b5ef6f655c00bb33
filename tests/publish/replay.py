"""A method of publishing as a black box between its table and its doors: what goes in is kept, what comes out is given.

Noise and choices are told what to answer, whatever they are asked. So a run is a function of the answers alone, and
two runs over tables that have nothing in common must end alike, bit by bit; between neighbours, what each door was
asked must differ by what it was told one person can move, and all of it together by no more than what was paid.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.doors import opened
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.selection import Selection
from discreet.mechanisms.parts.threshold import ThresholdWatch
from discreet.testing import seeded

GIVEN = 40  # what every noisy count is a noisy count of


@dataclass
class Tape:
    """What the doors were asked, in their order: the mechanism and the exact values."""

    asked: list = field(default_factory=list)
    given: list = field(default_factory=list)

    def keep(self, mechanism, exact):
        """Note what a mechanism was asked; returns how many were before it."""
        self.asked.append((mechanism, np.asarray(opened(exact)).copy()))
        return len(self.asked)


@contextmanager
def taped(above=lambda number: number % 3 == 1):
    """Run with doors that answer what they are told; `above` says which comparisons are found to be above."""
    tape = Tape()
    noises = {kind: kind.release for kind in (Gaussian, Laplace)}
    began, compared = ThresholdWatch.__init__, ThresholdWatch.above

    def noisy(self, exact):
        number = tape.keep(self, exact)
        with seeded(number):
            tape.given.append(noises[type(self)](self, np.full(np.shape(opened(exact)), GIVEN, np.int64)))
        return tape.given[-1]

    def chosen(self, exact):
        number = tape.keep(self, exact)
        return number * 7 % len(opened(exact))

    def begin(self, comparison):
        tape.asked.append((comparison, None))
        began(self, comparison)

    def compare(self, exact):
        number = tape.keep(self, exact)
        return compared(self, (1 if above(number) else -1) << 60)

    with pytest.MonkeyPatch.context() as patch, seeded(0):
        for kind in noises:
            patch.setattr(kind, "release", noisy)
        patch.setattr(Selection, "release", chosen)
        patch.setattr(ThresholdWatch, "__init__", begin)
        patch.setattr(ThresholdWatch, "above", compare)
        yield tape


def moved(one, other):
    """Return how far each door was moved between two runs, with its mechanism, which must be the same."""
    assert len(one.asked) == len(other.asked)
    found = []
    for (mechanism, exact), (again, differs) in zip(one.asked, other.asked, strict=True):
        if isinstance(mechanism, ThresholdWatch):
            mechanism, again = mechanism._comparison, again._comparison
        assert mechanism == again
        found.append((mechanism, None if exact is None else exact.astype(object) - differs.astype(object)))
    return found


def check_moves(found):
    """Check that nothing moved further than its mechanism was told."""
    for mechanism, apart in found:
        if apart is None:
            continue
        flat = [int(each) for each in np.ravel(apart)]
        if isinstance(mechanism, Gaussian):
            assert sum(each**2 for each in flat) <= mechanism.sensitivity_squared
        elif isinstance(mechanism, Laplace):
            assert sum(map(abs, flat)) <= mechanism.sensitivity
        else:
            assert max(map(abs, flat)) <= mechanism.sensitivity


def spent(found, currency):
    """Return what all doors cost on this pair, exactly, in rho or in epsilon, by how far they were moved in fact."""
    paid = Fraction(0)
    for mechanism, apart in found:
        flat = [] if apart is None else [int(each) for each in np.ravel(apart)]
        if isinstance(mechanism, Gaussian):
            assert currency == "rho"
            paid += Fraction(sum(each**2 for each in flat)) / (2 * mechanism.sigma**2)
        elif isinstance(mechanism, Laplace):
            assert currency == "epsilon"
            paid += sum(map(abs, flat)) / mechanism.scale
        elif isinstance(mechanism, Selection):
            # A choice whose scores move by d has a bounded range of twice d over its sensitivity, times epsilon / 2.
            epsilon = mechanism.epsilon * max(map(abs, flat)) / mechanism.sensitivity
            paid += epsilon**2 / 8 if currency == "rho" else epsilon
        elif apart is None:  # a threshold that was begun pays for all comparisons with it
            paid += mechanism.epsilon**2 / 2 if currency == "rho" else mechanism.epsilon
    return paid


def alike(one, other):
    """Say whether two results are the same, arrays and all, to the last bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))
