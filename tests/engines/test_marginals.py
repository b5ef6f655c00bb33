"""Marginals: every engine counts the codes of the same rows, those that the plain Python evaluator keeps."""

from collections import Counter

import pytest

from discreet.core.doors import opened
from discreet.plan.keys import Keys
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.stability import reach, unit_of
from discreet.plan.to_sql.marginals import BATCH, Axis, batches, marginals
from discreet.publish.coding import Coding
from tests.engines.test_questions import KINDS, world
from tests.plan import worlds
from tests.plan.relational import Data, Oracle, all_whole, key_of
from tests.plan.worlds import Chance

PLANS = ([], ["filter"], ["derive"], ["project"], ["join"], ["union"])


def axes_of(columns, bins=5):
    """Code every column that has declared values; one in two has no code for null."""
    codes = Coding.of(columns, bins=bins).codes
    return [Axis(code.key, nulls=place % 2 == 0) for place, code in enumerate(codes)]


def reference(plan, axes, found, tables, cliques):
    """Count the marginals in plain Python."""
    unit, oracle = unit_of(plan, tables), Oracle()
    rows = oracle.rows(plan, found, unit)
    if not unit.is_row and unit.bound == "query":
        most = reach(plan, unit, tables)
        rows = oracle.first_rows(rows, oracle.base(plan, tables), most, all_whole(plan, found))
    coded = [[code(axis, row) for axis in axes] for _, row in rows]
    return [counted(clique, axes, coded) for clique in cliques]


def code(axis, row):
    (value,) = key_of(Keys((axis.key,)), row)
    if value in axis.key.values and value is not None:
        return axis.key.values.index(value)
    return axis.size - 1 if axis.nulls else None


def counted(clique, axes, coded):
    cells = Counter()
    for row in coded:
        if all(row[place] is not None for place in clique):
            cell = 0
            for place in clique:
                cell = cell * axes[place].size + row[place]
            cells[cell] += 1
    return dict(cells)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operators", PLANS, ids=lambda operators: " ".join(operators) or "scan")
def test_marginals_are_those_of_the_reference(subject, kind, operators, monkeypatch):
    # Half of the plans have their rows kept one by one, and half as kinds.
    monkeypatch.setattr("discreet.plan.to_sql.marginals.MOST_KINDS", len(operators) % 2 << 40)
    chance, found, tables, relations = world(subject, "marginals", kind, operators, kind=kind)
    plan = worlds.plan_of(chance, operators)
    axes = axes_of(columns_of(plan, tables))
    places = range(len(axes))
    cliques = [*((place,) for place in places), *((one, other) for one in places for other in places if one < other)]
    with marginals(subject.engine, plan, axes, relations, subject.dialect) as count:
        assert list(map(opened, count(cliques))) == reference(plan, axes, found, tables, cliques)
        assert count([]) == []


def test_people_with_many_rows_count_for_as_many_as_their_unit_says_in_each_marginal(subject):
    chance = Chance("skewed marginals")
    data = worlds.table_of(chance, worlds.unit_of(chance, "rows"))
    data.rows = [worlds.raw_row(chance, who % 5) for who in range(200)]
    tables, plan = {"t": data.table}, Scan("t")
    axes = [Axis(axis.key, nulls=True) for axis in axes_of(columns_of(plan, tables))]
    with marginals(subject.engine, plan, axes, {"t": subject.loaded(data)}, subject.dialect) as count:
        found = list(map(opened, count([(0,), (1,), (0, 1, 2)])))
    assert found == reference(plan, axes, {"t": data}, tables, [(0,), (1,), (0, 1, 2)])
    assert {sum(cells.values()) for cells in found} == {5 * min(40, data.table.unit.max_rows)}


def test_an_empty_table_has_empty_marginals(subject):
    data = Data(worlds.table_of(Chance(1), worlds.unit_of(Chance(1), "rows")).table, [])
    axes = axes_of(columns_of(Scan("t"), {"t": data.table}))
    with marginals(subject.engine, Scan("t"), axes, {"t": subject.loaded(data)}, subject.dialect) as count:
        assert list(map(opened, count([(0,), (0, 1)]))) == [{}, {}]


def test_a_pass_counts_many_marginals_and_all_of_them_once():
    axes = axes_of(worlds.COLUMNS, bins=32)
    cliques = [(place % len(axes),) for place in range(3 * BATCH + 1)]
    found = batches(axes, cliques)
    assert [len(batch) for batch in found] == [BATCH, BATCH, BATCH, 1]
    assert [clique for batch in found for clique in batch] == cliques
