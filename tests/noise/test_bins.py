"""Bins, uniform values and an exact coin give the discrete Gaussian law: all paths at small words."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bins import Bins
from discreet.noise.bits import current
from tests.noise import truth
from tests.noise.tree import law as law_of

CASES = [
    pytest.param(Fraction(2), 2.0**-3, marks=pytest.mark.soak),
    (Fraction(7, 3), 2.0**-3),
    (Fraction(3), 2.0**-6),
]


def small(sigma, guard):
    return Bins((sigma.numerator, sigma.denominator), direct=1, bin_bits=0, word=4, wide=8, step=4, guard=guard)


def vector(bins):
    def attempt(source):
        values, kept = bins._attempt(source, np.empty(1, dtype=np.int64))
        return int(values[0]), bool(kept[0])

    return attempt


@pytest.mark.parametrize(("sigma", "guard"), CASES, ids=str)
@pytest.mark.parametrize("way", ["one", "many"])
def test_kept_proposals_follow_the_law_through_every_path(sigma, guard, way):
    bins = small(sigma, guard)
    assert bins._shift == 1
    found, rest = law_of(bins._attempt_one, 21) if way == "one" else law_of(vector(bins), 19)
    assert rest < Fraction(1, 50)
    kept = {value: weight for (value, ok), weight in found.items() if ok}
    lost = sum(weight for (_, ok), weight in found.items() if not ok)
    assert Fraction(1, 100) < lost < Fraction(1, 2)
    # A rejected attempt starts again, so the law is that of kept proposals over their sum.
    least, most = sum(kept.values()), sum(kept.values()) + rest
    exact = truth.gaussian(sigma)
    for value, weight in kept.items():
        assert truth.number(weight / most) <= exact(value) <= truth.number((weight + rest) / least), value


def test_the_floor_never_exceeds_the_acceptance_of_any_value_in_its_bin():
    bins = Bins((1000, 1))
    width = 1 << bins._shift
    assert width > 1
    for bin_, floor in zip(bins._bins.span, bins._floor.tolist(), strict=True):
        near = min(abs(bin_ * width), abs(bin_ * width + width - 1))
        far = max(abs(bin_ * width), abs(bin_ * width + width - 1))
        assert floor <= truth.mp.exp(-truth.mpf(far**2 - near**2) / (2 * 10**6)) * 2**16
    assert bins._floor[0] == bins._floor[-1] == 0


def test_the_float_inside_the_guard_band_never_decides():
    # A coin equal to the acceptance probability to 64 bits must be settled by enclosures.
    bins = Bins((10**4, 1))
    value = 5 * (1 << bins._shift) + 77
    near = bins._near(value)
    cell = int(truth.mp.floor(truth.mp.exp(-truth.mpf(value**2 - near**2) / (2 * 10**8)) * 2**64))
    settled = []
    bins_settle = Bins._settle

    class Watched(Bins):
        def _settle(self, source, value, cell, bits):
            settled.append(cell)
            return bins_settle(self, source, value, cell, bits)

    watched = Watched((10**4, 1))

    class Fixed:
        def words(self, count, bits):
            return np.array([cell & ((1 << 48) - 1)] * count, dtype=np.uint64)

        def bits(self, count):
            return current().bits(count)

    watched._kept(Fixed(), np.array([value]), np.array([cell >> 48], dtype=np.uint16))
    assert settled == [cell]


def test_python_integers_go_through_the_same_decision():
    bins = Bins((10**4, 1))
    source = current()
    values = np.array([70 * 10**18 + 200, 5 * 256 + 1], dtype=object)
    kept = bins._kept(source, values, np.array([0, 0], dtype=np.uint16))
    assert kept.tolist() == [False, True]
