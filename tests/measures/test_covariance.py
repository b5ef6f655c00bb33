"""Covariance: two columns, over rows where neither is null."""

import numpy as np
import pytest

import discreet as dp
from discreet.core.schema import between
from discreet.core.unit import row
from discreet.testing import seeded
from tests.curator.questions import answered, noises, opened
from tests.measures.made import made


def test_a_covariance_asks_for_both_sums_and_all_products():
    found = made(dp.covariance("x", "y"))
    assert [tally.kind for tally in found.tallies] == ["sum", "sum", "present", "product", "product", "product"]
    assert found.half_width(rows=10_000) < found.half_width(rows=1000)


def test_moments_of_two_columns_are_those_of_their_values(tmp_path):
    xs, ys = [0, 10, 3, 7, 7, 1], [4, 0, 1, 3, 2, 2]
    data = {"id": range(6), "x": xs, "y": ys}
    columns = {"x": between(0, 10), "y": between(0, 4)}
    table = opened(tmp_path, data, unit=row(), columns=columns).table("visits")
    with seeded(6):
        (answer,) = answered(table.agg(c=dp.covariance("x", "y"), r=dp.correlation("x", "y")).asked(epsilon=10**6))
    assert answer.value("c") == pytest.approx(np.cov(xs, ys, bias=True)[0, 1], rel=1e-3)
    assert answer.value("r") == pytest.approx(np.corrcoef(xs, ys)[0, 1], rel=1e-3)


def test_rows_in_which_one_value_is_null_count_in_no_sum(tmp_path):
    """Such a row would move a sum without its count, further than the noise covers."""
    columns = {"x": between(0, 10), "y": between(0, 4)}

    def drawn(folder, rows):
        folder.mkdir()
        data = {name: [each[place] for each in rows] for place, name in enumerate(("id", "x", "y"))}
        table = opened(folder, data, unit=row(), columns=columns).table("visits")
        with seeded(5):
            (answer,) = answered(table.agg(c=dp.covariance("x", "y"), r=dp.correlation("x", "y")).asked(epsilon=10**12))
        return [[noisy.value for noisy in noises(column.quantities[0])] for column in answer.columns]

    whole = [(1, 3, 1), (2, 10, 4)]
    torn = [(3, 10, None), (4, None, 4), (5, None, None)]
    assert drawn(tmp_path / "torn", whole + torn) == drawn(tmp_path / "whole", whole)
