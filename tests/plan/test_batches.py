"""Batches: what a feature's codes mean, and what is refused before a row is read; engines are compared elsewhere."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.batches import MISSING, MOST_PARTS, CodeColumn, batches
from discreet.plan.expressions import Name
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.scalar import Relation

COLUMNS = {
    "age": dp.between(18, 90),
    "x": dp.between(-1, 1, step=Fraction(1, 4)),
    "ward": dp.one_of("B", "A"),
    "ill": dp.flag(),
    "day": dp.date("2024-01-01", "2024-12-31"),
    "note": dp.text(),
    "huge": dp.between(0, 2**70),
}
TABLE = dp.Table("t", dp.person("id", max_rows=2), COLUMNS)
PHYSICAL = {
    "id": "BIGINT", "age": "INTEGER", "x": "DOUBLE", "ward": "VARCHAR", "ill": "BOOLEAN", "day": "DATE",
    "note": "VARCHAR", "huge": "HUGEINT",
}  # fmt: skip
ROWS = (
    "(SELECT 1 AS id, 20 AS age, 0.5::DOUBLE AS x, 'A' AS ward, TRUE AS ill, DATE '2024-01-03' AS day, '' AS note, "
    "0::HUGEINT AS huge UNION ALL SELECT 1, NULL, 'nan'::DOUBLE, 'C', NULL, NULL, NULL, NULL)"
)
NAMES = ("age", "x", "ward", "ill", "day")


def made(engine, names=NAMES, **options):
    features = {name: Name(name) for name in names}
    return batches(
        engine, Scan("t"), features, {"t": Relation(TABLE, PHYSICAL, ROWS)}, **{"secret": b"s", "parts": 1, **options}
    )


def test_codes_are_places_within_what_was_declared_and_null_is_missing():
    with DuckDBEngine(b"s", threads=1) as engine:
        asked = made(engine)
        ((batch),) = map(opened, asked)
    assert sorted(batch.codes.tolist()) == sorted([[2, 6, 1, 1, 2], [MISSING] * 5])
    assert [(each.low, each.size) for each in asked.features] == [(18, 73), (-4, 9), (0, 2), (0, 2), (19_723, 366)]
    assert batch.person.tolist() == [0, 0]
    assert (batch.people, batch.weights.tolist()) == (1, [1, 1])


def test_derived_values_have_the_bounds_that_follow():
    feature = CodeColumn.of("more", Name("age") + Name("x"), COLUMNS)
    assert (feature.low, feature.size) == (4 * 17, 4 * (91 - 17) + 1)


@pytest.mark.parametrize(("name", "why"), [("note", "were not declared"), ("huge", "62 bits")])
def test_what_has_no_codes_is_refused_before_a_row_is_read(name, why):
    with pytest.raises(dp.Refusal, match=why):
        made(None, [name])


@pytest.mark.parametrize("parts", [0, MOST_PARTS + 1])
def test_a_number_of_batches_that_is_none_is_refused(parts):
    with pytest.raises(dp.BadParameter, match="parts"):
        made(None, parts=parts)


@pytest.mark.parametrize("weight", ["x", "ward", "huge"])
def test_what_cannot_weigh_is_refused(weight):
    with pytest.raises(dp.BadParameter, match="never negative"):
        made(None, weight=Name(weight))


def test_nothing_of_it_shows_a_secret_or_a_row():
    with DuckDBEngine(b"s", threads=1) as engine:
        asked = made(engine, secret=b"31337 is a secret")
        assert "31337" not in repr(asked)
        (token,) = asked
    assert repr(token) == "Exact(hidden)"
    assert "31337" not in asked.statement


def test_parts_of_no_person_are_batches_too():
    with DuckDBEngine(b"s", threads=1) as engine:
        found = [*map(opened, made(engine, parts=50))]
    assert len(found) == 50
    assert sum(batch.people for batch in found) == 1
    assert {batch.codes.shape[1] for batch in found} == {len(NAMES)}
    assert np.concatenate([batch.codes for batch in found]).shape == (2, len(NAMES))
