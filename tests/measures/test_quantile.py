"""Quantile: a column for each share, each with a bracket."""

import discreet as dp
from tests.measures.made import made


def test_several_quantiles_are_columns_named_by_their_percentage():
    assert made(dp.quantile("x", 0.025, 0.5)).columns == ("value_2_5", "value_50")
    assert made(dp.median("x")).columns == ("value",)
