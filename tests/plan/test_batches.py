"""Batches: what a feature's codes mean, and what is refused before a row is read; engines are compared elsewhere."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import chdtri

import discreet as dp
from discreet.core.doors import opened
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.batches import (
    MISSING,
    MOST_PARTS,
    CodeColumn,
    batches,
    block_numbers,
    derived,
    person_hashes,
    sampled,
)
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


MANY = 60_000
# People who were numbered one after the other, as an identity would be.
KEYS, PLACES = np.arange(MANY), np.zeros(MANY, np.int64)
FALSE_ALARM = 1e-6


def hashes(secret=b"a secret", keys=KEYS):
    return person_hashes(keys, PLACES[: len(keys)], secret)


def test_a_hash_follows_from_the_secret_the_key_and_the_place():
    assert (hashes() == hashes()).all()
    assert not (hashes() == hashes(b"another")).any()
    assert not (hashes() == person_hashes(KEYS, PLACES + 1, b"a secret")).any()
    assert (hashes(keys=KEYS[5:9]) == hashes()[5:9]).all()
    assert len(set(hashes().tolist())) == MANY


def test_without_a_secret_there_is_no_hash():
    with pytest.raises(dp.BadParameter, match="anybody could compute"):
        hashes(b"")


def is_uniform(numbers, many):
    """Whether counts fit equal chances, at a false-alarm rate of one in a million."""
    counts, expected = np.bincount(numbers, minlength=many), len(numbers) / many
    return ((counts - expected) ** 2 / expected).sum() < chdtri(many - 1, FALSE_ALARM)


@pytest.mark.parametrize("many", [2, 10, 64])
def test_blocks_are_of_equal_chance_and_those_of_two_names_independent(many):
    one, other = (block_numbers(hashes(), many, name) for name in ("trees", "medians"))
    assert is_uniform(one, many)
    assert is_uniform(other, many)
    assert is_uniform(one * many + other, many * many)


def test_whoever_comes_or_goes_moves_nobody_else_to_another_block():
    everyone = block_numbers(hashes(), 10, "trees")
    rest = np.flatnonzero(KEYS != 31_337)
    assert (block_numbers(hashes(keys=KEYS[rest]), 10, "trees") == everyone[rest]).all()


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 50)])
def test_a_sample_takes_everyone_with_its_rate_and_anew_with_another_key(rate):
    one, other = (sampled(hashes(), rate, key) for key in (b"1" * 32, b"2" * 32))
    assert (one == sampled(hashes(), rate, b"1" * 32)).all()
    for taken, chance in ((one, rate), (other, rate), (one & other, rate**2)):
        deviation = (MANY * chance * (1 - chance)) ** 0.5
        assert abs(int(taken.sum()) - MANY * chance) < 4.9 * float(deviation)  # beyond it once in a million


def test_rates_and_blocks_that_are_none_are_refused():
    assert sampled(hashes(), Fraction(1), b"k").all()
    assert not sampled(hashes(), Fraction(0), b"k").any()
    for rate in (Fraction(-1, 9), Fraction(10, 9)):
        with pytest.raises(dp.BadParameter, match="probability"):
            sampled(hashes(), rate, b"k")
    with pytest.raises(dp.BadParameter, match="at least one"):
        block_numbers(hashes(), 0, "trees")


def test_derived_numbers_of_two_keys_have_nothing_in_common():
    assert not (derived(hashes(), b"1") == derived(hashes(), b"2")).any()
    assert is_uniform((derived(hashes(), b"1") ^ derived(hashes(), b"2")).astype(np.int64) & 15, 16)
