"""Dummy tables: as declared, the same for the same seed, and made of no row."""

import datetime as dt

import pytest

import discreet as dp
from discreet.ask.dummy import dummy
from discreet.core.errors import BadParameter
from discreet.core.schema import Table

TABLE = Table(
    "t",
    dp.person("id", max_rows=2),
    {
        "age": dp.between(0, 110, nullable=False),
        "cost": dp.between(0, 1, step=0.01),
        "ward": dp.one_of("A", "B"),
        "level": dp.one_of(1, 2, nullable=False),
        "day": dp.date("2024-01-01", "2024-12-31"),
        "urgent": dp.flag(),
        "note": dp.text(),
    },
)


def test_values_are_within_what_was_declared():
    found = dummy(TABLE, 2000).record()
    assert set(found["age"]) <= set(range(111))
    assert len(set(found["age"])) == 111
    assert None in found["cost"]
    assert {round(each * 100) for each in found["cost"] if each is not None} <= set(range(101))
    assert set(found["ward"]) == {"A", "B", None}
    assert set(found["level"]) == {1, 2}
    assert {dt.date.fromisoformat(each).year for each in found["day"] if each} == {2024}
    assert set(found["urgent"]) == {True, False, None}
    assert max(found["id"].count(each) for each in {*found["id"]}) == 2


def test_the_seed_decides_alone():
    assert dummy(TABLE, 50, 1).record() == dummy(TABLE, 50, 1).record() != dummy(TABLE, 50, 2).record()
    assert dummy(TABLE, 50).to_csv().splitlines()[0] == "id,age,cost,ward,level,day,urgent,note"
    assert len(dummy(TABLE, 50).to_pandas()) == 50


def test_a_question_can_be_tried_on_dummy_rows(tmp_path):
    with dp.Curator(tmp_path / "v.discreet") as curator:
        curator.register(
            "t", dummy(TABLE, 100).to_pandas(), unit=TABLE.unit, columns=TABLE.columns, budget=dp.Budget(epsilon=1)
        )
        session = curator.session(curator.grant("a", "t"))
        assert len(session.table("t").group_by("ward").agg(n=dp.count()).release(epsilon=1)) == 2


@pytest.mark.parametrize("terms", [(0,), (True,), (10**9,), (1.5,), (5, -1), (5, "x")])
def test_odd_sizes_are_refused(terms):
    with pytest.raises(BadParameter):
        dummy(TABLE, *terms)
