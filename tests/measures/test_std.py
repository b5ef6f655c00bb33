"""Std: the root of a variance, from the same sums."""

import discreet as dp
from tests.measures.made import made


def test_a_standard_deviation_has_the_noise_of_a_variance():
    root, square = made(dp.std("x")), made(dp.variance("x"))
    assert root.statistic == square.statistic
    assert (root.kind, root.about) == ("std", "std of x")
    assert root.half_width(rows=10_000) < root.half_width(rows=1000)
