"""Local hashing: a family in which all values collide alike, and a server that adds over it at once."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter
from discreet.local.parts import field
from discreet.local.sketch import Sketch
from discreet.testing import seeded


@pytest.mark.parametrize(("g", "k"), [(2, 30), (3, 25), (4, 60), (5, 25), (8, 60), (16, 40), (7, 7), (11, 5)])
def test_any_two_values_collide_under_the_same_share_of_the_functions(g, k):
    protocol = local.local_hash(k=k, epsilon=1, g=g)
    vectors = field.vectors(g, protocol.dimension)
    assert len(vectors) == protocol.functions
    hashes = np.array([field.products(g, protocol.dimension, vectors, np.full(len(vectors), v)) for v in range(k)])
    collide = Fraction(g ** (protocol.dimension - 1) - 1, g**protocol.dimension - 1)
    for value in range(k):
        same = (hashes[value] == hashes).mean(axis=1)
        assert set(np.delete(same, value)) <= {float(collide)}


@pytest.mark.parametrize(("g", "k"), [(2, 30), (3, 25), (4, 60), (5, 25), (8, 60), (16, 300), (7, 7), (257, 300)])
def test_the_transform_adds_up_what_a_loop_over_the_functions_does(g, k):
    protocol = local.local_hash(k=k, epsilon=3, g=g)
    with seeded(931):
        sketch = protocol.aggregate(protocol.encode(np.arange(3000) % k))
    vectors = field.vectors(g, protocol.dimension)
    counts = sketch.counts.reshape(-1, g)
    for value in {0, 1, k // 2, k - 1}:
        hashes = field.products(g, protocol.dimension, vectors, np.full(len(vectors), value))
        assert protocol.supports(sketch)[value] == counts[np.arange(len(vectors)), hashes].sum()


def test_large_counts_stay_exact():
    protocol = local.local_hash(k=25, epsilon=1, g=3)
    counts = np.arange(protocol.cells, dtype=np.int64) * 10**7 + 1
    sketch = Sketch(protocol.spec_hash, counts, int(counts.sum()))
    vectors = field.vectors(3, protocol.dimension)
    hashes = field.products(3, protocol.dimension, vectors, np.full(len(vectors), 17))
    assert protocol.supports(sketch)[17] == counts.reshape(-1, 3)[np.arange(len(vectors)), hashes].sum()


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 3, 5])
@pytest.mark.parametrize("k", [100, 100_000])
def test_the_variance_is_that_of_optimal_local_hashing_or_less(k, epsilon):
    protocol = local.local_hash(k=k, epsilon=epsilon)
    optimal = 4 * math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2  # at g = e^epsilon + 1, were it whole
    assert protocol.variance(1) <= 1.01 * optimal
    assert protocol.bytes_per_report <= 4


def test_a_report_is_a_function_and_a_hash():
    assert local.local_hash(k=100, epsilon=1).g == 4
    assert local.local_hash(k=100, epsilon=1).bytes_per_report == 2
    assert local.local_hash(k=100_000, epsilon=1).bytes_per_report == 3


def test_what_is_no_field_or_too_large_is_refused():
    with pytest.raises(BadParameter, match="prime"):
        local.local_hash(k=100, epsilon=1, g=6)
    with pytest.raises(BadParameter, match="heavy_hitters"):
        local.local_hash(k=1 << 30, epsilon=1)
    with pytest.raises(BadParameter, match="heavy_hitters"):
        local.local_hash(k=1 << 30, epsilon=1, g=2)


@pytest.mark.parametrize("size", [size for size in field.sizes() if size < 60] + [64, 128, 256, 1021])
def test_products_are_those_of_a_field(size):
    table = field.multiplication(size).astype(int)
    assert np.array_equal(table, table.T)
    assert np.array_equal(table[1], np.arange(size))
    assert not table[0].any()
    # Every element but zero has an inverse: its row is a permutation.
    assert all(len(set(table[a])) == size for a in range(1, size))
    a, b, c = 2 % size, 3 % size, size - 1
    one = np.array([c]).astype(np.uint16)
    total = field.add(size, np.array([a], dtype=np.uint16), np.array([b], dtype=np.uint16))[0]
    split = field.add(size, *(np.array([table[x, c]], dtype=np.uint16) for x in (a, b)))[0]
    assert table[total, one[0]] == split
