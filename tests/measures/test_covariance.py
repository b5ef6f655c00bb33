"""Covariance: two columns, over rows where neither is null."""

import discreet as dp
from tests.measures.made import made


def test_a_covariance_asks_for_both_sums_and_all_products():
    found = made(dp.covariance("x", "y"))
    assert [tally.kind for tally in found.tallies] == ["sum", "sum", "present", "product", "product", "product"]
    assert found.half_width(rows=10_000) < found.half_width(rows=1000)
