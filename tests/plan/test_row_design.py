"""Row design: whole numbers of declared length, from the row alone; written and read again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import replace
from discreet.plan.row_design import SCALE, RowDesign

COLUMNS = {
    "age": dp.between(0, 99),
    "rate": dp.between(-1, 1, step=0.25),
    "ward": dp.one_of("A", "B", "C"),
    "new": replace(dp.flag(), nullable=False),
    "one": dp.between(3, 3),
}
NUMBERS = {name: COLUMNS[name] for name in ("age", "rate")}


def designs():
    return [
        RowDesign.of(columns, bins)
        for columns in (COLUMNS, NUMBERS, {"ward": COLUMNS["ward"]})
        for bins in (None, 1, 4, 16)
    ]


@given(st.lists(st.lists(st.integers(-1, 120), min_size=5, max_size=5), min_size=1, max_size=4), st.data())
def test_no_row_is_longer_than_is_said_and_each_is_made_of_whole_numbers(codes, data):
    design = data.draw(st.sampled_from(designs()))
    rows = design.matrix(np.array(codes)[:, : len(design.features)]).toarray()
    assert rows.shape == (len(codes), design.width)
    assert (rows == np.trunc(rows)).all()
    assert (np.square(rows).sum(axis=1) <= design.length_squared).all()
    assert (np.abs(rows).sum(axis=1) <= design.length_l1).all()
    assert np.abs(rows).max(initial=0) <= design.unit


@pytest.mark.parametrize("design", designs(), ids=lambda design: f"{len(design.features)}, {design.width}")
def test_a_row_does_not_depend_on_the_others(design):
    codes = np.array([[5, 2, 1, 0, 0], [99, 8, 2, 1, 0], [-1] * 5, [50, 4, 0, -1, 0]])[:, : len(design.features)]
    together = design.matrix(codes).toarray()
    for place, row in enumerate(codes):
        assert (design.matrix(row[None]).toarray()[0] == together[place]).all()


def test_numbers_are_put_into_bins_of_equally_many_steps_and_null_has_an_entry_of_its_own():
    design = RowDesign.of({"age": dp.between(0, 99), "ward": dp.one_of("A", "B")}, 4)
    assert design.labels == (
        "age=0..24", "age=25..49", "age=50..74", "age=75..99", "age=null", "ward=A", "ward=B", "ward=null",
    )  # fmt: skip
    rows = design.matrix(design.codes({"age": [24, 25, None, 200], "ward": ["B", "A", None, "?"]})).toarray()
    assert rows.argmax(axis=1).tolist() == [0, 1, 4, 3]
    assert rows[:, 5:].argmax(axis=1).tolist() == [1, 0, 2, 2]


def test_numbers_are_scaled_between_their_declared_bounds_with_a_constant_beside_them():
    design = RowDesign.of({"rate": COLUMNS["rate"]}, None)
    rows = design.matrix(design.codes({"rate": [-1, 0, 1, 9, None]})).toarray()
    assert rows.tolist() == [[-SCALE, 0, SCALE], [0, 0, SCALE], [SCALE, 0, SCALE], [SCALE, 0, SCALE], [0, SCALE, SCALE]]
    assert design.length_squared == 2 * SCALE**2


def test_every_row_has_as_many_stored_entries_whatever_it_holds():
    design = RowDesign.of(COLUMNS, None)
    codes = np.array([[-1] * 5, [5, 2, 1, 0, 0]])
    assert np.diff(design.matrix(codes).indptr).tolist() == [design.entries] * 2


@pytest.mark.parametrize("design", designs(), ids=lambda design: f"{len(design.features)}, {design.width}")
def test_what_is_written_is_read_again(design):
    assert RowDesign.from_record(design.record()) == design


@pytest.mark.parametrize(
    "change", [{"edges": None, "scaled": False}, {"edges": [0]}, {"edges": [4, 4]}, {"edges": [100]}]
)
def test_a_changed_record_is_refused(change):
    record = RowDesign.of({"age": dp.between(0, 99)}, 4).record()
    with pytest.raises(ValueError, match=r"edges|scaled"):
        RowDesign.from_record([{**record[0], **change}])


def test_what_has_no_declared_values_is_refused():
    with pytest.raises(BadParameter, match="not declared"):
        RowDesign.of({"note": dp.text()}, 16)
    with pytest.raises(BadParameter, match="nothing to learn from"):
        RowDesign.of({}, 16)
    with pytest.raises(BadParameter, match="noise of its own"):
        RowDesign.of({f"x{place}": dp.between(0, 1023) for place in range(70)}, 1024)


def test_missing_and_uneven_columns_are_refused_without_saying_how_long_they_are():
    design = RowDesign.of(NUMBERS, 4)
    with pytest.raises(UnknownName):
        design.codes({"age": [1]})
    with pytest.raises(BadParameter) as refused:
        design.codes({"age": [1, 2, 3], "rate": [1, 2]})
    assert not {"2", "3"} & {*str(refused.value)}
