"""Correlation: between -1 and 1, from the sums of a covariance."""

import discreet as dp
from tests.measures.made import made


def test_a_correlation_is_expected_for_rows_that_fill_their_bounds():
    found = made(dp.correlation("x", "y"))
    assert found.statistic == made(dp.covariance("x", "y")).statistic
    assert found.expected(10_000).within.endswith("for 10,000 rows that fill their bounds")
