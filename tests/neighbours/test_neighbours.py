"""Neighbours differ by no more than is claimed, whatever a row holds, and wherever it lies.

A pair of tables differs by one row or one person. Through every kind of source, for columns of every physical type, the
integers that are handed to the mechanisms are compared with the claim; an error, another type or another group fails.
"""

import pytest

from tests.neighbours.pairs import COMPARED, UNITS, World
from tests.neighbours.sources import KINDS

SMALL = [name for name in KINDS if "spark" not in name]
# Kinds whose identifiers have many types of their own; of the others two are enough here.
MANY = ("pandas", "postgres")
LARGE = [(kind, identifier, unit) for kind in KINDS for identifier in KINDS[kind].identifiers for unit in UNITS]


@pytest.mark.parametrize("kind", SMALL)
def test_neighbours_differ_by_no_more_than_one_person(kind, record_property):
    before = COMPARED[kind]
    for number, identifier in enumerate(KINDS[kind].identifiers[:4] if kind in MANY else KINDS[kind].identifiers[:2]):
        world = World(kind, identifier, [*UNITS][number % 2])
        world.check(world.few if number == 0 else world.fewest)
    record_property("pairs", COMPARED[kind] - before)


@pytest.mark.xdist_group("spark")
def test_neighbours_differ_by_no_more_than_one_person_in_spark(record_property):
    from tests.spark import opened

    with opened(b"s" * 32):
        World("spark", "text word").check({"a person"})
    record_property("pairs", COMPARED["spark"])


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "identifier", "unit"), LARGE)
def test_all_neighbours_differ_by_no_more_than_one_person(kind, identifier, unit, record_property):
    before = COMPARED[kind]
    World(kind, identifier, unit).check()
    record_property("pairs", COMPARED[kind] - before)
