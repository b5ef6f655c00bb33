"""Sum: steps above the lower bound, and how many there are."""

import discreet as dp
from tests.measures.made import made


def test_a_sum_is_counted_in_steps_and_offset_by_its_lower_bound():
    found = made(dp.sum("x"))
    # Three values, 1, 7 and -3: above the lower bound by 4, 10 and 0, which are 8, 20 and 0 steps.
    assert found.exact((28, 3)) == 10
    (quantity,) = found.quantities(found.statistic.supposed([[10]]), "mark")
    assert quantity.estimate == 5
