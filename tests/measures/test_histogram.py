"""Histogram: bins between edges, or keys."""

import discreet as dp
from tests.measures.made import made


def test_a_histogram_lists_bins_between_edges_or_keys():
    by_edge = made(dp.histogram("x", edges=[0, 2, 4]))
    assert (by_edge.title, by_edge.labels) == ("bin", ("[0, 2)", "[2, 4]"))
    by_key = made(dp.histogram("ward"))
    assert (by_key.title, by_key.labels) == ("key", ("A", "B"))
