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


def test_rows_that_come_several_times_are_all_covered_where_people_are_counted():
    assert made(dp.people(), rows=6, groups=1, people=False).statistic.noises[0][0].scale == 6
