"""Neighbours differ by no more than is claimed, whatever a row holds, and wherever it lies."""

import random

import pytest

from tests.neighbours.pairs import COMPARED, UNITS, World
from tests.neighbours.sources import KINDS

SMALL = [name for name in KINDS if name != "spark"]


@pytest.mark.parametrize("kind", SMALL)
def test_neighbours_differ_by_no_more_than_one_person(kind, record_property):
    for number, identifier in enumerate(KINDS[kind].identifiers[:3]):
        world = World(kind, identifier, [*UNITS][number % 2])
        world.check(range(world.places))
    record_property("pairs", COMPARED[kind])
