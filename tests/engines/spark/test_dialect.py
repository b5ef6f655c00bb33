"""Spark's dialect: what is spelled in a way of its own is exact, for random numbers up to 126 bits and odd texts."""

import hashlib
import math
import struct

import pytest

from discreet.engines.dialect import MOST_ROWS
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.spark.dialect import DIALECT as SPARK
from tests.plan.worlds import Chance
from tests.spark import SMALL, loaded, opened

pytestmark = pytest.mark.xdist_group("spark")

ODD = ["", "it's", "\\", "\\'", "a\\nb", "a\nb", "\\u0041", "${spark.app.name}", "--", "/* x", ";", '"', "`", "%_"]
ODD += ["ü", "u\u0308", "😀", "İ", "ﬁ", "\u2028", "\x01", "a" * 300, "東京", "?", ":x"]


@pytest.fixture(scope="module", params=["interpreted", pytest.param("generated", marks=pytest.mark.slow)])
def engine(request):
    """Both ways in which Spark may run an expression; which one it takes depends on its size."""
    with opened(
        b"s",
        settings=SMALL if request.param == "generated" else {**SMALL, "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
    ) as found:
        if request.param == "generated":
            found._session.conf.set("spark.sql.codegen.wholeStage", "true")
            found._session.conf.set("spark.sql.codegen.factoryMode", "CODEGEN_ONLY")
        yield found


def integers(chance, most):
    """Draw an integer from 0 up to below 2^most, of any size."""
    bits = 1 + chance.below(most)
    return sum(chance.below(1 << 20) << at for at in range(0, 140, 20)) % (1 << bits)


def asked(engine, rows, kinds, expressions):
    """Compute expressions of the columns c0, c1, ... in one statement, for rows of the given types."""
    names = {f"c{place}": kind for place, kind in enumerate(kinds)} | {"i": "INTEGER"}
    table = loaded(engine, names, [(*row, place) for place, row in enumerate(rows)])
    return engine.rows(f"SELECT {', '.join(expressions)} FROM {table} ORDER BY i")


def test_wide_division_is_exact(engine):
    chance = Chance("division")
    pairs = [(integers(chance, 126), 1 + integers(chance, 125)) for _ in range(400)]
    edges = [2**126 - 1, 10**38 // 2, 10**32, 10**32 - 1, 10**12, 2**62, 999_999, 10**6, 1, 0]
    pairs += [(above, below) for above in edges for below in edges if below and above < 2**126]
    pairs += [(product, below) for above, below in pairs[:100] if (product := above // below * below) < 2**126]
    wide = [SPARK.floor_div("c0", "c1", wide=True), SPARK.remainder("c0", "c1", wide=True)]
    found = asked(engine, [*pairs, (None, 3), (3, None)], ("HUGEINT", "HUGEINT"), wide)
    assert found == [*(divmod(*pair) for pair in pairs), (None, None), (None, None)]


def test_a_wide_key_is_divided_exactly_whatever_its_sign(engine):
    chance = Chance("signs")
    keys = [(integers(chance, 80) * sign, 10 ** chance.below(13)) for sign in (1, -1) for _ in range(100)]
    found = asked(
        engine,
        [(key * unit, unit) for key, unit in keys],
        ("HUGEINT", "HUGEINT"),
        [SPARK.floor_div("c0", "c1", wide=True)],
    )
    assert found == [(key,) for key, _ in keys]


def test_wide_sums_and_products_are_exact(engine):
    chance = Chance("products")
    pairs = [(integers(chance, bits), -integers(chance, 125 - bits)) for bits in range(5, 121) for _ in range(2)]
    found = asked(engine, pairs, ("HUGEINT", "HUGEINT"), ["(c0 * c1)", "(c0 + c1)", "(c1 - c0)", "abs(c1)"])
    assert found == [(one * two, one + two, two - one, -two) for one, two in pairs]


@pytest.mark.parametrize("bits", [20, 22, 30, 43, 44, 61, 62])
def test_a_sum_is_exact_at_every_size(engine, bits):
    chance = Chance("sums", bits)
    largest = (1 << bits) - 1
    values = [chance.choice([-1, 1]) * integers(chance, bits) for _ in range(50)] + [largest, -largest, largest]
    kind = "HUGEINT" if bits == 62 else "BIGINT"
    rows = [(value,) for value in [*values, None]]
    sql = SPARK.total("c0", -largest, largest)
    assert asked_sum(engine, rows, kind, sql) == [(sum(values),)]
    assert asked_sum(engine, [(None,)], kind, sql) == [(None,)]
    # What one row adds to each part fits as often as a table may have rows.
    assert largest * MOST_ROWS < 1 << 62 or bits == 62 or sql.count("sum(") == -(-bits // 22)


def asked_sum(engine, rows, kind, sql):
    return engine.rows(f"SELECT {sql} FROM {loaded(engine, {'c0': kind}, rows)}")


def test_floats_become_whole_numbers_exactly(engine):
    chance = Chance("floats")
    bits = [struct.unpack("<d", struct.pack("<Q", integers(chance, 64)))[0] for _ in range(300)]
    shapes = [math.ldexp(1 + chance.below(1 << 20) / (1 << 20), chance.below(126)) for _ in range(300)]
    doubles = [x for x in (*bits, *shapes, *(-x for x in shapes), 0.5, -0.5, -0.0, 2.0**52, -1.0) if abs(x) < 2.0**126]
    rows = [(repr(x),) for x in doubles]
    floor = SPARK.floor("c0")
    sql = [
        SPARK.whole_of_double(floor, "HUGEINT"),
        f"CASE WHEN abs(c0) < 4e18 THEN {SPARK.whole_of_double(floor, 'BIGINT')} END",
    ]
    found = asked(engine, rows, ("DOUBLE",), sql)
    assert found == [(math.floor(x), math.floor(x) if abs(x) < 4e18 else None) for x in doubles]
    same = asked(engine, [("NaN",), ("Infinity",), ("-Infinity",), ("1e300",)], ("DOUBLE",), [f"{floor} = c0"])
    assert same == [(True,)] * 4


def test_the_number_of_a_text_is_that_of_duckdb(engine):
    texts = [*ODD, *(f"person {number}" for number in range(200))]
    found = asked(
        engine, [(text,) for text in texts] + [(None,)], ("VARCHAR",), SPARK.digest_limbs(SPARK.text_number("c0"))
    )
    digests = [int.from_bytes(hashlib.md5(text.encode()).digest()[8:], "little") for text in texts]
    assert found == [*((each % 2**31, each // 2**31 % 2**31) for each in digests), (None, None)]
    import duckdb

    with duckdb.connect() as connection:
        theirs = [connection.execute(f"SELECT {DUCKDB.text_number('?')}", [text]).fetchone()[0] for text in texts]
    assert theirs == digests


def test_texts_and_names_mean_what_they_say(engine):
    listed = ", ".join(f"{SPARK.literal(text)} AS {SPARK.quote(text or 'none')}" for text in ODD)
    assert engine.rows(f"SELECT {listed}") == [tuple(ODD)]
    names = ", ".join(SPARK.quote(text or "none") for text in reversed(ODD))
    assert engine.rows(f"SELECT {names} FROM (SELECT {listed})") == [tuple(reversed(ODD))]


@pytest.mark.parametrize("many", [1, 40, 64, 65, 300])
def test_a_place_is_found_among_any_number_of_values(engine, many):
    texts = [*ODD, *(f"key {number}" for number in range(300))][:many][::-1]
    wholes = [(number * 7919 - 1000) * (10**30 if many == 40 and number > 30 else 1) for number in range(many)][::-1]
    kind = "HUGEINT" if many == 40 else "BIGINT"
    rows = [*zip(texts, wholes, strict=True), ("no key", 5), (None, None)]
    found = asked(
        engine,
        rows,
        ("VARCHAR", kind),
        [SPARK.position("c0", texts), SPARK.position("c1", wholes), SPARK.among("c0", texts)],
    )
    assert found == [*((place, place, text) for place, text in enumerate(texts, 1)), (0, 0, None), (None, None, None)]
    flags = asked(engine, [("true",), ("false",), (None,)], ("BOOLEAN",), [SPARK.position("c0", [True])])
    assert flags == [(1,), (0,), (None,)]


def test_texts_are_measured_in_code_points(engine):
    rows = [(text,) for text in ODD]
    sql = [
        SPARK.length("c0"),
        SPARK.prefix("c0", 2),
        SPARK.starts_with("c0", SPARK.literal("😀")),
        SPARK.ascii_lower("c0"),
    ]
    lowered = [text.translate({upper: upper + 32 for upper in range(65, 91)}) for text in ODD]
    assert asked(engine, rows, ("VARCHAR",), sql) == [
        (len(text), text[:2], text.startswith("😀"), lower) for text, lower in zip(ODD, lowered, strict=True)
    ]
    found = asked(engine, [("12",), ("12\n",), ("١٢",), ("",), (None,)], ("VARCHAR",), [SPARK.matches("c0", "[0-9]+")])
    assert found == [(True,), (False,), (False,), (False,), (None,)]
