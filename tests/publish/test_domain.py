"""Domains and coded tables: what may be published, and exact marginals of it."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.doors import opened
from discreet.core.errors import BadParameter, UnknownName
from discreet.publish.code_table import Coded
from discreet.publish.domain import Domain
from tests.publish.worlds import made


def test_a_clique_is_named_in_any_order_and_kept_in_the_domains():
    domain = Domain.of({"age": 4, "sex": 2, "ward": 3})
    assert domain.clique(["ward", "age"]) == (0, 2)
    assert domain.named((0, 2)) == ("age", "ward")
    assert domain.cells((0, 2)) == 12


def test_an_unknown_column_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="age"):
        Domain.of({"age": 4}).clique("aeg")


@pytest.mark.parametrize("size", [0, -1, 1.5, True, 1 << 20])
def test_sizes_that_are_none_are_refused(size):
    with pytest.raises(BadParameter):
        Domain.of({"age": size})


def test_marginals_are_exact_counts():
    generator = made(1)
    columns = {"a": generator.integers(0, 3, 1000), "b": generator.integers(0, 4, 1000)}
    table = Coded.of(columns, Domain.of({"a": 3, "b": 4}))
    (both,) = map(opened, table.measure([(0, 1)]))
    for a in range(3):
        for b in range(4):
            assert both[a, b] == ((columns["a"] == a) & (columns["b"] == b)).sum()


def test_codes_outside_the_domain_count_as_missing_and_never_raise():
    odd = [0, 1, -1, 7, 2**31, -(2**63), np.nan, np.inf, 0.5]
    columns = {"a": np.asarray(odd), "b": np.zeros(len(odd), np.int64)}
    table = Coded.of(columns, Domain.of({"a": 3, "b": 1}))
    one, both = map(opened, table.measure([(0,), (0, 1)]))
    assert one.tolist() == [1, 1, 0]
    assert both.sum() == 2
    assert opened(table.measure([(1,)])[0]).tolist() == [len(odd)]


def test_one_row_changes_one_cell_of_each_marginal_by_one():
    generator = made(2)
    columns = {"a": generator.integers(0, 3, 50), "b": generator.integers(-1, 5, 50)}
    domain = Domain.of({"a": 3, "b": 4})
    shorter = {name: values[:-1] for name, values in columns.items()}
    for one, other in zip(
        map(opened, Coded.of(columns, domain).measure([(0,), (1,), (0, 1)])),
        map(opened, Coded.of(shorter, domain).measure([(0,), (1,), (0, 1)])),
        strict=True,
    ):
        assert abs(one - other).sum() <= 1


def test_tables_come_from_arrow_and_from_frames():
    import pandas as pd

    columns = {"a": [0, 1, 1], "b": [1, 0, 1]}
    domain = Domain.of({"a": 2, "b": 2})
    for data in (columns, pa.table(columns), pd.DataFrame(columns)):
        assert opened(Coded.of(data, domain).measure([(0, 1)])[0]).tolist() == [[0, 1], [1, 1]]


def test_text_is_refused_by_its_declared_type_and_not_by_its_values():
    import pandas as pd
    import polars as pl

    texts = ["0", None, "1"]
    declared = (np.array(["0", "1"]), pa.array(texts), pd.Series(texts, dtype="string"), pl.Series(texts))
    for column in (*declared, np.array(["2020-01-01"], dtype="M8[D]")):
        with pytest.raises(BadParameter, match="integers"):
            Coded.of({"a": column}, Domain.of({"a": 2}))
    with pytest.raises(BadParameter, match="one value a row"):
        Coded.of({"a": np.zeros((2, 2), np.int64)}, Domain.of({"a": 2}))


@pytest.mark.parametrize(
    "odd", [None, "x", [1], 2, -1, 0.5, float("nan"), float("inf"), 10**400, {}, b"0", np.float32(9)]
)
def test_whatever_one_row_holds_counts_as_missing_and_refuses_nothing(odd):
    import pandas as pd

    domain = Domain.of({"a": 2})
    objects = np.empty(4, object)
    objects[:] = [0, 1, True, odd]
    for column in ([0, 1, True, odd], tuple(objects), objects, pd.Series(objects)):
        assert Coded.of({"a": column}, domain).columns[0].tolist() == [0, 1, 1, -1]


def test_nulls_of_arrow_pandas_and_polars_count_as_missing():
    import pandas as pd
    import polars as pl

    flags, codes = [True, None, False], [1, None, 0]
    for column in (
        pa.array(flags),
        pl.Series(flags),
        pa.array(codes),
        pd.array(codes, dtype="Int64"),
        pl.Series(codes),
    ):
        assert Coded.of({"a": column}, Domain.of({"a": 2})).columns[0].tolist() == [1, -1, 0]


def test_columns_of_unlike_length_are_refused_without_their_lengths():
    with pytest.raises(BadParameter) as refused:
        Coded.of({"a": [0] * 12345, "b": [0] * 12346}, Domain.of({"a": 2, "b": 2}))
    assert refused.value.value == ["b"]
    assert "1234" not in str(refused.value)


def test_a_type_that_no_array_holds_is_refused_by_name():
    class Wide:
        dtype = "int128"

        def __array__(self, *_, **__):
            raise OverflowError("whatever another library says")

    with pytest.raises(BadParameter, match="int128"):
        Coded.of({"a": Wide()}, Domain.of({"a": 2}))
