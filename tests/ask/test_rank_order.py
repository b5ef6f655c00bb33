"""Quantiles of one column that are asked together come in order, and say nothing where nothing is known."""

from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.answers.quantity import BracketedValue
from discreet.ask.rank_order import in_order, sorted_brackets
from discreet.core.schema import between
from discreet.core.unit import row
from discreet.testing import seeded
from tests.curator.questions import opened


def bracket(ends):
    low, value, high = sorted(ends)
    return BracketedValue(value, low, high)


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 3), min_size=1, max_size=6))
def test_values_are_sorted_and_stay_in_intervals_that_only_grow(given_ends):
    row = [bracket(ends) for ends in given_ends]
    found = sorted_brackets(row)
    assert [each.value for each in found] == sorted(each.value for each in row)
    for old, new in zip(row, found, strict=True):
        assert new.low <= min(old.low, new.value)
        assert new.high >= max(old.high, new.value)
        assert new.low in (old.low, new.value)
    assert sorted_brackets(found) == found


def test_a_bracket_without_a_value_keeps_its_place():
    nothing = BracketedValue(None, 0, 110)
    assert sorted_brackets([bracket((4, 9, 9)), nothing, bracket((2, 5, 7))])[1] is nothing


def asked(tmp_path, values):
    data = {"id": range(len(values)), "age": values}
    return opened(tmp_path, data, unit=row(), columns={"age": between(0, 110)}).table("visits")


def test_no_minimum_is_above_a_maximum_and_quantiles_rise(tmp_path):
    table = asked(tmp_path, [50, 51, 52, 53] * 5)
    report = table.agg(most=dp.max("age"), middle=dp.quantile("age", 0.25, 0.75), least=dp.min("age"))
    with seeded(51):
        for at in range(20):
            (line,) = report.release(epsilon=1, fresh=at > 0)
            names = ("least", "middle_25", "middle_75", "most")
            values = [line[name] for name in names if line[name] is not None]
            assert values == sorted(values)
            for name in names:
                low, high = line[f"{name}_low"], line[f"{name}_high"]
                assert (line[name] is None) == ((low, high) == (0, 110))
                assert line[name] is None or low <= line[name] <= high


def test_columns_of_other_expressions_are_left_alone(tmp_path):
    table = asked(tmp_path, [50] * 20)
    measures = table.agg(one=dp.max("age"), other=dp.min(table.age + 1)).asked(epsilon=1).measures
    columns = {"one": [BracketedValue(3, 1, 110)], "other": [BracketedValue(90, 0, 95)], "n": [BracketedValue(1, 0, 2)]}
    assert in_order(measures, columns) == columns
