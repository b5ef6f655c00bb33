"""People: who a row belongs to, and its place in the secret order, follow from the identifier's value alone."""

import math
from decimal import Decimal

import pytest

import discreet as dp
from discreet.plan.to_sql.person_bounds import PERSON, person_limbs
from discreet.plan.to_sql.scalar import Relation
from tests.plan import relational

SMALL = [0, 1, 7, 100]
INTEGERS = {
    "TINYINT": [*SMALL, -7, -128],
    "SMALLINT": [*SMALL, -7, -(2**15)],
    "INTEGER": [*SMALL, -7, 2**31 - 1],
    "BIGINT": [*SMALL, -7, 2**31, 2**62, -(2**62), 10**18 - 1, 10**18, -(10**18), 2**63 - 1, -(2**63)],
    "HUGEINT": [*SMALL, -7, 10**18, 2**63 - 1, 2**64, 2**100, -(2**100)],
    "UTINYINT": SMALL,
    "UINTEGER": [*SMALL, 2**32 - 1],
    "UBIGINT": [*SMALL, 2**63, 2**64 - 1],
    "UHUGEINT": [*SMALL, 2**100],
}
DECIMALS = {"DECIMAL(9,0)": 0, "DECIMAL(9,2)": 2, "DECIMAL(38,0)": 0, "DECIMAL(38,20)": 20}
FLOATS = {"FLOAT": [*SMALL, -7, 2**24], "DOUBLE": [*SMALL, -7, 2**31, 2**53, 2**62, 2**64, -(2**70)]}
TEXTS = [
    "0",
    "7",
    "-7",
    "100",
    str(10**18),
    str(2**63),
    "07",
    "-0",
    "+7",
    " 7",
    "7 ",
    "7.0",
    "ä",
    "",
    "9" * 18,
    "9" * 19,
]


def check(subject, physical, raw, expected):
    """Compare names and limbs of raw identifiers with those of their expected texts."""
    if physical in subject.lacks:
        pytest.skip(f"{subject.name} has no {physical}")
    source = subject.relation(["place", "x"], ["INTEGER", physical], list(enumerate(raw)))
    relation = Relation(dp.Table("t", dp.person("x", max_rows=1), {"y": dp.flag()}), {"x": physical}, source)
    dialect = subject.dialect
    people = f'SELECT "place", {relation.person_sql(dialect)} AS {PERSON} FROM {source}'
    limbs = person_limbs(relation.has_whole_people, dialect)
    digests = sorted({limb.digest for limb in limbs if hasattr(limb, "digest")})
    if digests:
        people = f"SELECT *, {', '.join(digests)} FROM ({people}) AS d"
    person = dialect.cast(PERSON, dialect.text)
    found = subject.engine.rows(f'SELECT "place", {person}, {", ".join(limbs)} FROM ({people}) AS p')
    wanted = [(place, text, *relational.person_limbs(text, False)) for place, text in enumerate(expected)]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("physical", INTEGERS)
def test_whole_numbers_of_any_size_are_their_own_names(subject, physical):
    check(subject, physical, INTEGERS[physical], [str(value) for value in INTEGERS[physical]])


@pytest.mark.parametrize("physical", DECIMALS)
def test_decimals_are_named_without_the_zeros_at_their_end(subject, physical):
    raw = [Decimal(value).scaleb(0) for value in (*SMALL, -7)]
    check(subject, physical, raw, [str(value) for value in (*SMALL, -7)])


@pytest.mark.parametrize("physical", FLOATS)
def test_whole_floats_are_named_as_whole_numbers(subject, physical):
    raw = [*map(float, FLOATS[physical]), -0.0, 0.5]
    check(subject, physical, raw, [*map(str, FLOATS[physical]), "0", "0.5"])


@pytest.mark.parametrize("physical", FLOATS)
def test_what_is_not_a_number_is_a_missing_identifier(subject, physical):
    raw = [math.nan, None]
    source = subject.relation(["x"], [physical], [[each] for each in raw])
    relation = Relation(dp.Table("t", dp.person("x", max_rows=1), {"y": dp.flag()}), {"x": physical}, source)
    assert subject.engine.rows(f"SELECT {relation.person_sql(subject.dialect)} FROM {source}") == [(None,)] * 2


def test_a_text_that_spells_a_whole_number_has_its_place(subject):
    check(subject, "VARCHAR", TEXTS, TEXTS)
