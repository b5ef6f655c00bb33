"""Coding: values become codes and come back on their own grid; zeros are never drawn; nothing fails on a value."""

import datetime as dt
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import between, date, flag, one_of, text
from discreet.publish.coding import Coding
from discreet.publish.synthetic_data import SyntheticData
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.publish.worlds import made

COLUMNS = {
    "ward": one_of("A", "B", "C"),
    "floor": one_of(3, 1, nullable=False),
    "age": between(0, 110),
    "cost": between(-1, 1, step=0.1, nullable=False),
    "day": date("2024-02-27", "2024-03-02"),
    "urgent": flag(),
    "note": text(),
}


def people(rows=2000, seed=1):
    """Make up a table in which children are never married."""
    chance = made(seed)
    age = chance.integers(0, 90, rows)
    married = (age >= 20) & (chance.random(rows) < 0.7)
    ward = np.where(married, "A", chance.choice(["B", "C"], rows))
    return {"age": age, "married": married, "ward": ward}


DECLARED = {"age": between(0, 110), "married": flag(nullable=False), "ward": one_of("A", "B", "C", nullable=False)}
CHILDREN = [{"age": range(18), "married": True}]


@pytest.fixture(scope="module")
def synthetic():
    with seeded(5):
        return publish.synthesize(people(), DECLARED, budget=Budget(rho=1), method="aim", workload=2, zeros=CHILDREN)


def test_numbers_and_dates_have_runs_of_equally_many_steps():
    coding = Coding.of({"age": between(0, 110), "day": date("2024-01-01", "2024-12-31"), "few": between(1, 5)})
    assert coding.domain.sizes == (28 + 1, 31 + 1, 5 + 1)
    widths = {last - first + 1 for code in range(27) for first, last in [coding["age"].bin(code)]}
    assert widths == {4}
    assert coding["age"].bin(27) == (108, 110)
    assert [coding["few"].bin(code) for code in range(5)] == [(step, step) for step in range(1, 6)]


def test_null_has_the_last_code_where_it_may_occur():
    coding = Coding.of(COLUMNS)
    assert (coding["ward"].size, coding["ward"].null, coding["ward"].codes(None)) == (4, 3, [3])
    assert (coding["floor"].size, coding["floor"].null) == (2, None)
    with pytest.raises(BadParameter, match="declared without nulls"):
        coding["floor"].codes([None])


def test_free_text_is_left_out_in_words_and_refused_by_name():
    coding = Coding.of(COLUMNS)
    assert "note" not in coding.domain.names
    assert "note is left out" in coding.left_out[0]
    with pytest.raises(BadParameter, match="free text"):
        Coding.of(COLUMNS, only=["ward", "note"])
    with pytest.raises(BadParameter, match="no column"):
        Coding.of({"note": text()})
    with pytest.raises(UnknownName, match="ward"):
        Coding.of(COLUMNS, only=["wards"])


@pytest.mark.parametrize("bins", [0, 1025, 2.5, True])
def test_bins_that_make_no_sense_are_refused(bins):
    with pytest.raises(BadParameter, match="bins"):
        Coding.of(COLUMNS, bins=bins)


@pytest.mark.parametrize("bins", [1, 3, 32])
def test_what_is_drawn_for_a_code_has_that_code(bins):
    for code in Coding.of(COLUMNS, bins=bins).codes:
        codes = np.repeat(np.arange(code.size), 20)
        values = code.drawn(codes).listed()
        np.testing.assert_array_equal(code.encoded(values), codes)


def test_values_are_drawn_on_the_columns_own_grid():
    coding = Coding.of(COLUMNS, bins=2)
    with seeded(1):
        costs = coding["cost"].drawn(np.zeros(500, np.int64)).listed()
        days = coding["day"].drawn(np.ones(500, np.int64)).listed()
    assert {*costs} == {round(-1 + step / 10, 1) for step in range(11)}
    assert {*days} == {dt.date(2024, 3, 1), dt.date(2024, 3, 2)}


def test_every_step_of_a_bin_is_as_likely_as_any_other():
    """Chi-square, with a false-alarm rate of one in a million."""
    with seeded(2):
        drawn = Counter(Coding.of({"age": between(0, 99)}, bins=10)["age"].drawn(np.full(20_000, 3)).listed())
    assert fit([drawn[30 + step] for step in range(10)], [0.1] * 10) > FALSE_ALARM


def test_a_part_of_a_bin_is_refused_and_whole_ones_are_found():
    age = Coding.of(COLUMNS)["age"]
    assert age.codes(range(8)) == [0, 1]
    assert age.codes([0, 1, 2, 3, None]) == [0, 28]
    assert age.codes(range(108, 1000)) == [27]
    with pytest.raises(BadParameter, match="part of the bin from 4 to 7"):
        age.codes(range(6))
    with pytest.raises(BadParameter, match="outside"):
        age.codes(111)
    assert Coding.of(COLUMNS)["cost"].codes(range(1)) == [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
    with pytest.raises(BadParameter, match="cannot hold"):
        Coding.of(COLUMNS)["ward"].codes("Z")
    with pytest.raises(BadParameter, match="no gaps"):
        age.codes(range(0, 8, 2))


def test_zeros_cut_the_bins_that_they_would_divide():
    coding = Coding.of(DECLARED, zeros=CHILDREN)
    assert coding["age"].bin(4) == (16, 17)
    assert coding["age"].bin(5) == (18, 19)
    (zero,) = coding.zeros(CHILDREN)
    assert zero.never[:5, 1].all()
    assert zero.never.sum() == 5


def test_labels_say_what_a_code_stands_for():
    coding = Coding.of(COLUMNS)
    assert [coding["ward"].label(code) for code in range(4)] == ["A", "B", "C", "null"]
    assert coding["age"].label(1) == "4 to 7"
    assert coding["day"].label(0) == "2024-02-27"


def test_what_a_column_cannot_hold_counts_as_null_and_never_fails():
    coding = Coding.of(COLUMNS)
    odd = [None, float("nan"), [1], {}, "x", 10**400, -(10**400), dt.datetime(2024, 2, 29, 5), np.datetime64("NaT")]
    for code in coding.codes:
        found = code.encoded([*odd, float("inf")])
        assert ((found >= -1) & (found < code.size)).all()
    assert coding["age"].encoded([10**400, float("-inf"), 200]).tolist() == [27, 0, 27]


def test_synthetic_data_speaks_in_values(synthetic):
    whole = synthetic.answer({"married": True, "age": range(18, 111)})
    assert whole.value == pytest.approx((people()["married"]).sum(), rel=0.05)
    given = synthetic.condition(ward="B").sample(200).columns
    assert {*given["ward"]} == {"B"}
    with pytest.raises(BadParameter, match="cannot hold"):
        synthetic.answer({"ward": "Z"})


def test_zeros_are_never_sampled(synthetic):
    for drawn in (
        synthetic.sample(20_000),
        synthetic.sample(20_000, independent=True),
        synthetic.condition(married=True).sample(5000),
    ):
        found = drawn.columns
        assert not any(
            age is not None and age < 18 and wed for age, wed in zip(found["age"], found["married"], strict=True)
        )
    assert synthetic.marginal(["age", "married"])[:5, 1].sum() == 0


@pytest.mark.parametrize("method", ["independent", "mst", "tables", "mwem", "merf"])
def test_zeros_hold_for_every_method(method):
    domain = {"first": 3, "second": 3, "third": 2}
    chance = made(3)
    data = {
        "first": chance.integers(0, 3, 500),
        "second": chance.integers(0, 3, 500),
        "third": chance.integers(0, 2, 500),
    }
    zeros = [{"first": 0, "third": [1]}, {"second": [1, 2], "third": 1}]
    synthetic = publish.synthesize(data, domain, budget=Budget(epsilon=1), method=method, workload=2, zeros=zeros)
    found = synthetic.codes(3000)
    third = found["third"] == 1
    assert third.any()
    assert not (third & (found["first"] == 0)).any()
    assert {*found["second"][third]} == {0}


def test_zeros_leave_the_rest_of_a_chosen_histogram_as_it_is():
    data = {"a": [0] * 300 + [1] * 100, "b": [0] * 300 + [1] * 100}
    zeros = [{"a": 0, "b": 1}]
    with seeded(6):
        synthetic = publish.synthesize(data, {"a": 2, "b": 2}, budget=Budget(epsilon=20), method="smalldb", zeros=zeros)
    found = synthetic.marginal(["a", "b"])
    assert found[0, 1] == 0
    assert found[0, 0] > 2 * found[1, 1] > 0
    assert "no marginal was measured" in str(synthetic.report())


def test_rows_that_nothing_allows_are_refused(synthetic):
    domain = {"first": 2, "second": 2}
    with pytest.raises(BadParameter, match="no row at all"):
        publish.synthesize({"first": [0], "second": [0]}, domain, budget=Budget(epsilon=1), zeros=[{"first": [0, 1]}])
    for zeros in ([{}], [{"first": []}], [{"first": 2}]):
        with pytest.raises(BadParameter, match="zeros"):
            publish.synthesize({"first": [0], "second": [0]}, domain, budget=Budget(epsilon=1), zeros=zeros)
    with pytest.raises(BadParameter, match="no row of this synthetic data"):
        synthetic.condition(married=True, age=range(18))


def test_synthetic_data_that_could_only_draw_what_cannot_be_refuses_to_draw(synthetic):
    (zero,) = synthetic.zeros
    nothing = replace(synthetic, zeros=(replace(zero, never=np.ones_like(zero.never)),))
    with pytest.raises(Refusal, match="leave no row"):
        nothing.sample(10)


def test_a_file_keeps_the_coding_and_the_zeros(synthetic, tmp_path):
    synthetic.save(tmp_path / "synthetic.json")
    again = publish.load(tmp_path / "synthetic.json")
    assert again.coding == synthetic.coding
    assert [zero.clique for zero in again.zeros] == [zero.clique for zero in synthetic.zeros]
    with seeded(1):
        first = synthetic.sample(50).columns
    with seeded(1):
        assert again.sample(50).columns == first


def test_a_file_whose_coding_is_of_another_table_is_refused(synthetic):
    text = synthetic.to_json()
    assert '"step": "1"' in text
    for wrong in (
        text.replace('"keys": ["A", "B", "C"]', '"keys": ["A", "B"]'),
        text.replace('"version": 1', '"version": 2'),
    ):
        assert wrong != text
        with pytest.raises(BadParameter):
            SyntheticData.from_json(wrong)


def test_a_condition_draws_the_code_that_it_names():
    data = {"first": np.arange(900) % 3, "second": np.arange(900) % 2}
    synthetic = publish.synthesize(data, {"first": 3, "second": 2}, budget=Budget(rho=1), method="mst")
    for code in range(3):
        assert {*synthetic.condition(first=code).codes(100)["first"]} == {code}


def test_samples_leave_as_arrow_pandas_polars_csv_and_parquet(tmp_path):
    import duckdb
    import pyarrow as pa

    columns = {**{name: column for name, column in COLUMNS.items() if name != "note"}, 'odd "name"': one_of("é", "'")}
    raw = {name: [None] * 40 for name in columns}
    raw |= {"floor": [1, 3] * 20, "cost": [0.5] * 40, "ward": ["A", None] * 20, "day": [dt.date(2024, 2, 28)] * 40}
    with seeded(4):
        sample = publish.synthesize(raw, columns, budget=Budget(epsilon=50), method="independent").sample(30)
    listed = sample.columns
    assert len(sample) == 30
    assert sample.to_arrow().to_pydict() == listed
    assert sample.to_polars().to_dict(as_series=False) == listed
    kinds = dict(zip(sample.to_arrow().column_names, sample.to_arrow().schema.types, strict=True))
    assert (kinds["floor"], kinds["cost"], kinds["day"]) == (pa.int64(), pa.float64(), pa.date32())
    frame = sample.to_pandas()
    assert str(frame["floor"].dtype) == "int64"
    assert frame["ward"].where(frame["ward"].notna(), None).tolist() == listed["ward"]
    for name in ("synthetic.csv", "synthetic.parquet"):
        sample.write(tmp_path / name)
        assert duckdb.sql(f"SELECT count(*), count(ward) FROM '{tmp_path / name}'").fetchall()[0] == (
            30,
            sum(ward is not None for ward in listed["ward"]),
        )
    for path in ("synthetic.xlsx", tmp_path / "nowhere" / "synthetic.csv"):
        with pytest.raises(BadParameter, match="path"):
            sample.write(path)


def test_a_sample_of_codes_has_whole_numbers():
    synthetic = publish.synthesize({"a": [0, 1, 1]}, {"a": 2}, budget=Budget(epsilon=Fraction(50)))
    assert {*synthetic.sample(10).columns["a"]} <= {0, 1}
    assert len(synthetic.sample(0)) == 0


class Hostile:
    """A value that will not be read, hashed or compared."""

    def _refuse(self, *_):
        raise RuntimeError

    __float__ = __hash__ = __eq__ = __sub__ = _refuse


def test_a_value_that_raises_whatever_it_likes_counts_as_null():
    columns = {"n": between(0, 9), "k": one_of("x", "y"), "d": date("2020-01-01", "2020-12-31"), "f": flag()}
    plain = {"n": [1], "k": ["x"], "d": [dt.date(2020, 1, 1)], "f": [True]}
    coding = Coding.of(columns)
    found = coding.coded({name: [*values, Hostile()] for name, values in plain.items()})
    assert [column.tolist()[1] for column in found.columns] == [code.null for code in coding.codes]


def test_a_range_is_never_written_out():
    coding = Coding.of({"n": between(0, 10**12), "k": one_of(1, 2, 3)})
    assert len(coding["n"].codes(range(10**12 + 1))) == coding["n"].values
    with pytest.raises(Refusal):
        coding["k"].codes(range(1, 10**12))


def test_a_sample_may_be_the_table_of_other_synthetic_data(synthetic):
    columns = {code.name: code.column for code in synthetic.coding.codes}
    again = publish.synthesize(synthetic.sample(50), columns, budget=Budget(rho=1), method="independent")
    assert again.domain.names == synthetic.domain.names
