"""Rows in memory: tables of every kind, declarations of every form, and no value that makes anything fail."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.learn.rows import columns_in, declared_columns, exact_rows, names_of, target_in
from discreet.plan.gradients.row_design import RowDesign

DATA = {"a": [1, 2, 3], "b": ["x", "y", None]}
COLUMNS = {"a": dp.between(0, 3), "b": dp.one_of("x", "y")}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_every_kind_are_the_same_rows(make):
    design = RowDesign.of(declared_columns(COLUMNS, make(DATA)), 4)
    found = design.codes(columns_in(make(DATA)))
    assert found.tolist() == [[1, 0], [2, 1], [3, -1]]
    assert names_of(make(DATA)) == ["a", "b"]


def test_an_array_is_declared_in_order_or_all_at_once():
    array = np.zeros((4, 2))
    assert [*declared_columns(dp.between(0, 1), array)] == ["x0", "x1"]
    assert declared_columns([dp.between(0, 1), dp.flag()], array)["x1"].kind == "flag"
    with pytest.raises(BadParameter, match="3 columns are declared"):
        declared_columns([dp.flag()] * 3, array)


def test_columns_that_are_not_declared_are_refused_with_the_way_to_declare_them():
    with pytest.raises(BadParameter, match="between"):
        declared_columns(None, DATA)
    with pytest.raises(BadParameter, match="not declared by a column"):
        declared_columns({"a": (0, 3)}, DATA)


@pytest.mark.parametrize("target", [None, np.zeros((3, 2))])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(BadParameter, match="y"):
        target_in(target, "It")


def test_rows_are_exact_and_hold_everybody_once():
    design = RowDesign.of(declared_columns(COLUMNS, DATA), 4)
    found = exact_rows(design, columns_in(DATA), dp.flag().named("y"), [True, None, "odd"])
    assert isinstance(found, Exact)
    rows = opened(found)
    assert rows.people == 3
    assert rows.target.tolist() == [1, -1, -1]


def test_another_number_of_labels_is_refused_without_saying_which():
    design = RowDesign.of(declared_columns(COLUMNS, DATA), 4)
    with pytest.raises(BadParameter) as refused:
        exact_rows(design, columns_in(DATA), dp.flag().named("y"), [True] * 7)
    assert "7" not in str(refused.value)
    assert "3" not in str(refused.value)


@pytest.mark.parametrize("make", [list, lambda rows: tuple(map(tuple, rows)), lambda rows: pd.DataFrame(rows)])
@pytest.mark.parametrize("odd", ["x", b"x", None, float("nan"), 1j, [1], 2**70])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_value_decides_how_the_values_of_other_rows_are_read(make, odd, place):
    declared = [dp.one_of(1, 2, 3), dp.flag(), dp.between(0, 10, step=0.1)]
    plain = [[1, True, 2.5], [2, False, 3.1], [3, True, 9.9]]
    row = [1, True, 1.0]
    row[place] = odd

    def codes(rows):
        data = make(rows)
        return RowDesign.of(declared_columns(declared, data), 16).codes(columns_in(data)).tolist()

    assert codes([*plain, row])[:3] == codes(plain)
