"""Tallies: what one row can add."""

import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery
from discreet.plan.nodes import Scan
from tests.plan import worlds
from tests.plan.relational import steps_of, value
from tests.plan.worlds import Chance

COLUMNS = {name: column.named(name) for name, column in worlds.COLUMNS.items()}


def drawn(chance):
    """A row of values that are read already."""
    found = {}
    for name, column in COLUMNS.items():
        choices = column.keys or ((True, False) if column.kind == "flag" else None)
        choices = ["a", ""] if column.kind == "text" else choices or range(column.steps[0], column.steps[1] + 1)
        found[name] = None if chance.below(5) == 0 else chance.choice(choices)
    return found


@pytest.mark.parametrize("tally", worlds.TALLIES, ids=lambda tally: f"{tally.kind}{len(tally.of)}")
def test_a_row_adds_nothing_negative_and_no_more_than_most(tally):
    from discreet.plan.types import type_of

    steps = [steps_of(type_of(each, COLUMNS)) for each in tally.of]
    added = [value(tally, drawn(Chance("most", seed)), COLUMNS, steps) for seed in range(200)]
    present = [each for each in added if each is not None]
    assert present
    assert all(0 <= each <= tally.most(COLUMNS) for each in present)


def test_a_product_reaches_its_most():
    tally = Tally("product", (worlds.N, worlds.N))
    row = {**drawn(Chance(0)), "n": 1000}
    assert value(tally, row, COLUMNS, [(0, 1000)] * 2) == tally.most(COLUMNS) == 2 * 1000**2


def test_tallies_are_alike_when_they_are_written_alike():
    assert Tally("sum", (worlds.N * 2,)).signature == Tally("sum", (worlds.N * 2,)).signature
    assert Tally("sum", (worlds.N * 2,)).signature != Tally("sum", (worlds.N * 3,)).signature
    assert Tally("sum", (worlds.N,)).signature != Tally("present", (worlds.N,)).signature


def test_a_tally_of_the_wrong_kind_or_size_is_refused():
    with pytest.raises(UnknownName):
        Tally("average", (worlds.N,))
    with pytest.raises(BadParameter):
        Tally("sum", ())
    with pytest.raises(BadParameter):
        TallyQuery(Scan("t"), NO_KEYS, ())
