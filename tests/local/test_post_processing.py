"""Post-processing: consistent counts, the nearest ones, and raw estimates always at hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import local
from discreet.core.errors import UnknownName
from discreet.local.post_processing import base_cut, norm_sub, simplex
from discreet.testing import seeded

numbers = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30).map(np.array)


@given(numbers, st.floats(0, 1e4))
def test_a_projection_is_a_table_of_counts_and_the_nearest(values, total):
    found = simplex(values, total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total, abs=1e-6)
    # The nearest point of a convex set: no other point of it lies beyond, seen from the values.
    for corner in range(len(values)):
        other = np.zeros(len(values))
        other[corner] = total
        assert (values - found) @ (other - found) <= 1e-3 * max(1.0, np.abs(values).max() * total)


@given(numbers, st.floats(1, 1e4))
def test_norm_sub_ends_where_the_projection_is(values, total):
    assert norm_sub(values, total) == pytest.approx(simplex(values, total), abs=1e-6)


def test_base_cut_keeps_what_stands_out():
    assert base_cut(np.array([-3.0, 2.0, 9.0]), 5.0).tolist() == [0, 0, 9]


@pytest.mark.parametrize("name", ["simplex", "norm_sub", "base_cut"])
def test_estimates_are_processed_on_request_and_raw_otherwise(name):
    protocol = local.hadamard(k=64, epsilon=1)
    values = np.zeros(5000, dtype=int)
    with seeded(951):
        sketch = protocol.aggregate(protocol.encode(values))
    raw, done = protocol.estimate(sketch), protocol.estimate(sketch, post=name)
    assert raw.post is None
    assert (raw.value < 0).any()
    assert done.post == name
    assert (done.value >= 0).all()
    assert (done.low >= 0).all()
    assert (done.high <= 5000).all()
    assert ((done.low <= done.value) & (done.value <= done.high)).all()
    truth = np.bincount(values, minlength=64)
    assert ((done.value - truth) ** 2).sum() < ((raw.value - truth) ** 2).sum()
    # Cutting an interval to what is possible uncovers nothing.
    assert (((done.low <= truth) & (truth <= done.high)) | ~((raw.low <= truth) & (truth <= raw.high))).all()


def test_an_unknown_word_is_answered_with_the_known_ones():
    protocol = local.hadamard(k=4, epsilon=1)
    with pytest.raises(UnknownName, match="norm_sub"):
        protocol.estimate(protocol.aggregate(b""), post="norm-sub")


def test_nothing_is_left_of_no_reports():
    assert simplex(np.array([1.0, -2.0]), 0.0).tolist() == [0, 0]
    assert simplex(np.zeros(0), 5.0).tolist() == []
    assert norm_sub(np.zeros(0), 5.0).tolist() == []
