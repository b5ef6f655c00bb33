"""Quantile: a column for each share, each with a bracket."""

import discreet as dp
from tests.measures.made import made


def test_several_quantiles_are_columns_named_by_their_percentage():
    assert made(dp.quantile("x", 0.025, 0.5)).columns == ("value_2_5", "value_50")
    assert made(dp.median("x")).columns == ("value",)


def test_the_bracket_of_a_median_lies_on_both_sides():
    middle, below, above = made(dp.median("x")).bought
    assert (middle.offset, below.offset) == (0, -above.offset)
    assert above.offset > 0
