"""People: each counts once in every group."""

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from tests.measures.made import made


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_people_cost_one_count_for_each_group_they_may_be_in(groups, relation):
    found = made(dp.people(), rows=20, groups=groups, relation=relation)
    assert found.statistic.noises[0][0].scale == groups
    assert found.loss.epsilon(0) == pytest.approx(1)
    assert found.loss.relation == relation
    normal = made(dp.people(), Price.of(rho=0.5), rows=20, groups=groups)
    # Counts that move by one each: the squares add up to the groups, and not to their square.
    assert float(normal.statistic.noises[0][0].scale) == pytest.approx(groups**0.5, rel=1e-6)
    assert normal.loss.zcdp() <= 0.5 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("relation", "cells", "moved"),
    [("add_remove", 2, 2), ("add_remove", 50, 10), ("add_remove", None, 10), ("replace", 2, 2), ("replace", 50, 20)],
)
def test_people_change_no_more_groups_than_there_are_keys(relation, cells, moved):
    declared = 10 if cells is None else min(10, cells)
    groups = 10 if relation == "add_remove" else 20
    found = made(dp.people(), rows=2 * groups, groups=groups, relation=relation, declared_groups=declared, cells=cells)
    assert (found.statistic.noises[0][0].scale, found.sensitivity) == (moved, str(moved))
    assert found.loss.epsilon(0) == pytest.approx(1)


def test_rows_that_come_several_times_are_all_covered_where_people_are_counted():
    assert made(dp.people(), rows=6, groups=1, people=False).statistic.noises[0][0].scale == 6
