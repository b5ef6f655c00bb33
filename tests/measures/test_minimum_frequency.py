"""Minimum frequency: what the rule counts, which cells it empties, and numbers of people that are none."""

from types import SimpleNamespace

import pytest

from discreet.answers.quantity import PublicValue
from discreet.core.errors import BadParameter
from discreet.measures.minimum_frequency import COUNTED, WITHHELD, MinimumFrequency
from discreet.plan.aggregates import Count, People

N = ("n", Count())


def test_people_are_counted_once_and_only_where_groups_are_withheld():
    assert MinimumFrequency().counted((N,)) == (N,)
    assert MinimumFrequency(3).counted((N,)) == (N, (COUNTED, People()))
    assert MinimumFrequency(3).counted((N, ("who", People()))) == (N, ("who", People()))


def test_all_rows_of_a_group_are_withheld_together():
    measures = [
        SimpleNamespace(title=None, columns=(COUNTED,), labels=()),
        SimpleNamespace(title="bin", columns=("h",), labels=(0, 1)),
    ]
    cells = [PublicValue(number) for number in range(4)]
    columns = {COUNTED: [PublicValue(2), PublicValue(3)], "h": cells}
    found = MinimumFrequency(3).withheld(measures, columns, COUNTED)
    assert found["h"] == (WITHHELD, WITHHELD, *cells[2:])
    assert found[COUNTED] == (WITHHELD, PublicValue(3))


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "ten", 10**10])
def test_people_are_counted_by_whole_numbers(wrong):
    with pytest.raises(BadParameter, match="whole numbers"):
        MinimumFrequency(wrong)
