"""Sum: steps above the lower bound, and how many there are."""

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.core.errors import BadParameter
from tests.measures.made import made


def test_a_sum_is_counted_in_steps_and_offset_by_its_lower_bound():
    found = made(dp.sum("x"))
    # Three values, 1, 7 and -3: above the lower bound by 4, 10 and 0, which are 8, 20 and 0 steps.
    assert found.exact((28, 3)) == 10
    (quantity,) = found.quantities(found.statistic.supposed([[10 * found.grain]]), "mark")
    assert quantity.estimate == 5


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_clamped_total_has_noise_for_the_groups_of_a_person_and_not_for_their_rows(relation):
    twice = 1 if relation == "add_remove" else 2
    # Bounds of 20 and -3 in steps of one half: 40 steps at most, in each of three groups.
    found = made(dp.sum("x", per_person=(-3, 20)), rows=50 * twice, groups=3 * twice, relation=relation)
    assert found.statistic.noises[0][0].scale == 40 * 3 * twice
    assert found.loss.epsilon(0) == pytest.approx(1)
    assert found.loss.relation == relation
    (tally,) = found.tallies
    assert (tally.kind, tally.within) == ("total", (-6, 40))
    normal = made(dp.sum("x", per_person=(0, 20)), Price.of(rho=0.5), rows=50, groups=4)
    assert float(normal.statistic.noises[0][0].scale) == pytest.approx(2 * 40, rel=1e-6)


def test_totals_of_rows_are_refused_and_bounds_that_are_none():
    with pytest.raises(BadParameter, match="rows are protected here"):
        made(dp.sum("x", per_person=(0, 20)), people=False)
    for bounds in ((20, 0), (0, 0), 7, (0, 1, 2), ("a", 2)):
        with pytest.raises(BadParameter):
            dp.sum("x", per_person=bounds)


def test_a_row_weighs_as_much_as_it_moves_a_total():
    found = made(dp.sum("x", per_person=(-1, 2)))
    assert [found.weight(each) for each in ((0, 0), (20, 1), (0, 1), (8, 1))] == [0, 1, 0.5, 0.5]
