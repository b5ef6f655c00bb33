"""Exact choice by levels: every string of bits settled rightly, also where the bits run short all the time."""

from fractions import Fraction
from itertools import product

import pytest

from discreet.mechanisms.parts import levels as _levels
from discreet.mechanisms.parts.levels import Level, Leveled
from discreet.testing import seeded
from tests.mechanisms.raw import check_fit

LEVELS = (Level(0, 10, 1), Level(1, 20, 2), Level(3, 30, 5))


def leveled(rate=Fraction(1, 2), levels=LEVELS):
    points = sum(level.size for level in levels)
    return Leveled(rate, points, lambda reach: [level for level in levels if level.deficit <= reach])


def chances(space):
    return {(level, place): chance for level, chance in space.chances() for place in range(level.size)}


class Fixed:
    """A source of given bits, which ends."""

    def __init__(self, bits):
        self.left = list(bits)

    def bits(self, count):
        if len(self.left) < count:
            raise EOFError
        taken, self.left = self.left[:count], self.left[count:]
        return sum(bit << place for place, bit in enumerate(reversed(taken)))


def test_chances_add_up_to_one():
    known = chances(leveled())
    assert len(known) == 8
    low, high = (sum(bounds) for bounds in zip(*known.values(), strict=True))
    assert low <= 1 <= high
    assert high - low < Fraction(1, 2**60)


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(7, 3), Fraction(1, 100)])
def test_all_strings_of_bits_together_give_each_candidate_its_chance(rate, monkeypatch):
    monkeypatch.setattr(_levels, "_STEP", 1)
    space, length = leveled(rate), 11
    settled, undecided = dict.fromkeys(chances(space), Fraction(0)), Fraction(0)
    for bits in product((0, 1), repeat=length):
        try:
            settled[space._settle(Fixed(bits), 0, 0)] += Fraction(1, 2**length)
        except EOFError:
            undecided += Fraction(1, 2**length)
    assert undecided < Fraction(1, 50)
    for candidate, (low, high) in chances(space).items():
        assert low - undecided <= settled[candidate] <= high


@pytest.mark.parametrize("tabled", [1, 1 << 20])
def test_draws_have_the_exact_distribution_with_and_without_a_table(tabled, monkeypatch):
    monkeypatch.setattr(_levels, "_TABLED", tabled)
    space = leveled()
    with seeded(12):
        candidates, drawn = space.draws(20_000)
    check_fit([candidates[place] for place in drawn], chances(space))


def test_short_words_are_settled_by_more_bits(monkeypatch):
    monkeypatch.setattr(_levels, "_WORD", 4)
    monkeypatch.setattr(_levels, "_STEP", 1)
    space = leveled()
    with seeded(13):
        candidates, drawn = space.draws(20_000)
    monkeypatch.undo()
    check_fit([candidates[place] for place in drawn], chances(space))


def test_far_levels_are_not_even_asked_for():
    asked = []

    def levels(reach):
        asked.append(reach)
        return [Level(0, 0, 1)]

    assert Leveled(Fraction(1), 10**6, levels).draw() == (Level(0, 0, 1), 0)
    assert asked == [int(0.7 * (64 + 20 + 20)) + 1]
