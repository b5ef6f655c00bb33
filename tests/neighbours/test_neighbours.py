"""Neighbours differ by no more than is claimed, whatever a row holds, and wherever it lies.

A pair of tables differs by one row or one person. Through every kind of source, for columns of every physical type, the
integers that are handed to the mechanisms are compared with the claim; an error, another type or another group fails.
"""

import pytest

from discreet.engines import EMBEDDED
from tests.neighbours.kinds import KINDS, OFFERED
from tests.neighbours.pairs import COMPARED, UNITS, World

SMALL = [
    pytest.param(name, marks=() if engine == EMBEDDED else pytest.mark.xdist_group(engine))
    for engine, kinds in OFFERED.items()
    for name, kind in kinds.items()
    if kind.checked
]
LARGE = [(kind, identifier, unit) for kind in KINDS for identifier in KINDS[kind].identifiers for unit in UNITS]


@pytest.mark.parametrize("kind", SMALL)
def test_neighbours_differ_by_no_more_than_one_person(kind, record_property):
    before, source = COMPARED[kind], KINDS[kind]
    with source.started():
        for number, identifier in enumerate(source.identifiers[: source.checked]):
            world = World(kind, identifier, [*UNITS][number % 2])
            world.check(source.brief or (world.few if number == 0 else world.fewest))
    record_property("pairs", COMPARED[kind] - before)


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "identifier", "unit"), LARGE)
def test_all_neighbours_differ_by_no_more_than_one_person(kind, identifier, unit, record_property):
    before = COMPARED[kind]
    World(kind, identifier, unit).check()
    record_property("pairs", COMPARED[kind] - before)
