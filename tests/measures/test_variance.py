"""Variance: sums and squares, in one scan."""

import discreet as dp
from tests.measures.made import made


def test_a_variance_asks_for_sums_presence_and_squares():
    found = made(dp.variance("x"))
    assert [tally.kind for tally in found.tallies] == ["sum", "present", "product"]
    assert found.half_width(rows=10_000) < found.half_width(rows=1000)
    assert found.least_beta == 1e-3
