"""Cdf: what lies at or below each threshold."""

import discreet as dp
from tests.measures.made import made


def test_a_distribution_function_lists_its_thresholds_and_all():
    found = made(dp.cdf("x", [0, 2.5]))
    assert (found.title, found.labels) == ("at_most", (0, 2.5, "all"))
    assert found.least_beta == 1e-4
