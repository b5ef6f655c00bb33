"""Small public rows of every kind as columns of Python's values, and what is refused instead of failing."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.core.errors import BadParameter
from discreet.engines.duckdb.frame_values import values_of

DAY = dt.date(2020, 2, 29)
COLUMNS = {"k": [1, 2, None], "t": ["a", None, "c"], "f": [True, None, False], "d": [DAY, None, DAY]}
FRAMES = {
    "columns": COLUMNS,
    "tuples": {name: tuple(values) for name, values in COLUMNS.items()},
    "rows": [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
    "pandas": pd.DataFrame({"k": [1, 2, np.nan], "t": ["a", None, "c"], "f": [True, None, False]}).assign(
        d=pd.to_datetime(["2020-02-29", None, "2020-02-29"])
    ),
    "polars": pl.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
    "arrow batches": pa.table(COLUMNS).to_reader(),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_of_any_kind_has_the_same_values(frame):
    assert values_of(frame, 10) == COLUMNS


def test_nan_is_null_and_numbers_stay_exact():
    found = values_of({"x": [np.float64("nan"), np.int8(3), Decimal("0.10"), 2**70], "y": np.arange(4)}, 10)
    assert found == {"x": [None, 3, Decimal("0.10"), 2**70], "y": [0, 1, 2, 3]}
    assert values_of([{"a": 1}, {"b": 2}], 10) == {"a": [1, None], "b": [None, 2]}


@pytest.mark.parametrize(
    "data",
    [
        *(5, "x", b"x", [1], {"a": 5}, {"a": "xyz"}, {"a": {}}, {1: [2]}, [{1: 2}], object(), pd.Series([1])),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table({"a": [[1], [2]]}).slice(0, 0).to_pandas,
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_rows_is_refused_with_the_fix(data):
    with pytest.raises(BadParameter, match="Fix: "):
        values_of(data, 10)


@pytest.mark.parametrize("frame", FRAMES, ids=FRAMES)
def test_too_many_rows_are_refused(frame):
    data = pa.table(COLUMNS).to_reader() if frame == "arrow batches" else FRAMES[frame]
    with pytest.raises(BadParameter, match="at most 2 rows") as refused:
        values_of(data, 2)
    assert "register_public" in refused.value.fix
