"""Reading: whatever a record holds, every engine reads it as the reference does, and raises nothing."""

import datetime as dt
import math
from fractions import Fraction

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import Refusal
from discreet.plan.expressions import Name, when
from discreet.plan.to_sql.scalar import expression_sql, raw_sql
from tests.plan import reference
from tests.plan.to_sql.test_scalar import DECLARED, ODD, RAW

LONG = ["1" + "0" * 400, "0." + "0" * 400 + "1", "-1e999999999999", "1e-99999999999", "9" * 700 + "e-690", "0e999999"]
LONG += [
    "1." + "0" * 900 + "1e1",
    "2.47e-324",
    "2.48e-324",
    "4.9e-324",
    "1.7976931348623158e308",
    "1.8e308",
    "-1.8e308",
]
LONG += [
    "1797693134862315" + "8" * 293,
    "1.00000000000000011102230246251565404236316680908203125",
    "0" * 300 + "7",
    "+0e-400",
]
LONG += [
    "1.00000000000000011102230246251565404236316680908203124",
    "." + "0" * 322 + "25",
    "1e+0000000000000000000000002",
]
LONG += ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", "0" * 60 + "5"]
LONG += ["170141183460469231731687303715884105728", "-170141183460469231731687303715884105729"]
DAYS = ["0000-02-29", "0001-01-01", "1900-02-29", "2000-02-29", "2024-00-10", "2024-13-01", "2024-04-31", "2024-01-00"]
DAYS += ["12000-01-01", "120000-13-99 10:00", "1200000-01-01", "0044-03-15 (BC) 10:00:00", "0044-03-15 BC", "-inf "]
DAYS += [
    " +Infinity",
    "-INFINITY",
    "in f",
    "++inf",
    "1969-12-31",
    "1582-10-10",
    "9999-12-31T25:61",
    "2024-01-01 00:00:00+99",
    "2024-01-0\u0661",
    "2024-01-01x",
]


def declared(kinds):
    """Name columns of every kind, so that all of them read one and the same raw column."""
    return [column.named("raw") for column in kinds.values()]


def check(subject, physical, columns, raw, expected=None):
    """Compare how columns read raw values of a physical type with the reference, all in one statement."""
    readable, written = [], []
    for column in columns:
        try:
            written.append(raw_sql(column, physical, subject.dialect))
            readable.append(column)
        except Refusal:  # so many decimal places below so wide bounds fit no integer
            assert physical.startswith(("DECIMAL(38,", "NUMERIC"))
    relation = subject.relation(["place", "raw"], ["INTEGER", physical], list(enumerate(raw)))
    rows = subject.engine.rows(f'SELECT "place", {", ".join(written)} FROM {relation}')
    found = {place: values for place, *values in rows}
    for place, value in enumerate(raw):
        mine = tuple(reference.read(column, value) for column in readable) if expected is None else expected[place]
        pairs = [
            (theirs, ours)
            for theirs, ours, column in zip(found[place], mine, readable, strict=True)
            if subject.spells_fractions or column.kind != "text" or not is_fraction(value)
        ]
        assert [(type(each), each) for each, _ in pairs] == [(type(each), each) for _, each in pairs], (value, readable)


def is_fraction(value):
    """Whether a value is a float that is spelled with a point or an exponent."""
    return isinstance(value, float) and math.isfinite(value) and (value != int(value) or abs(value) >= 1 << 126)


@pytest.mark.parametrize("physical", [name for name in RAW if name != "BLOB"])
def test_every_raw_value_is_read_as_the_reference_reads_it(subject, physical):
    if physical in subject.lacks:
        pytest.skip(f"{subject.name} has no {physical}")

    @settings(max_examples=subject.examples, database=None, derandomize=True, phases=[Phase.generate])
    @given(st.fixed_dictionaries(DECLARED), st.lists(st.one_of(*[RAW[physical]] * 6, st.none()), min_size=40))
    def run(kinds, raw):
        check(subject, physical, declared(kinds), [value for value in raw if "\0" not in str(value)])

    run()


def test_every_odd_spelling_is_read_as_the_reference_reads_it(subject):
    steps = [Fraction(1), Fraction(1, 100), Fraction(5), Fraction(1, 10**200), Fraction(7, 3)]
    numbers = [dp.between(-(10**6) * step, 10**6 * step, step=step) for step in steps]
    huge = [dp.between(-(2**60), 2**60), dp.between(-(2**120), 2**120)]
    others = [dp.date("0001-01-01", "9999-12-31"), dp.flag(), dp.text(), dp.one_of("A", "true", "12", "O'Neil", "-1")]
    others += [dp.one_of("true", "false"), dp.one_of("1", "false")]
    columns = [
        each.named("raw") for each in (*numbers, *huge, *others, dp.one_of(*range(-3, 13)), dp.one_of(5, 2**100))
    ]
    check(subject, "VARCHAR", columns, [*ODD, *LONG, *DAYS, "\\", "\\'", "'", '"', "A\u0308", "Ä", "İ", "\u017f", None])


def test_flags_are_read_from_the_words_that_hospitals_write(subject):
    spelled = {True: ("y", "Y", " y", "YES ", "t", "True", " TRUE  ", "1"), False: ("n", "N", "  n ", "No", "F", "0 ")}
    spelled[None] = (
        "",
        " ",
        "ye",
        "nope",
        "j",
        "\ty",
        "y\n",
        "\u00a0y",
        "y\u3000",
        "\uff59",
        "y y",
        "1.0",
        "-1",
        "01",
        None,
    )
    raw = [(word, (flag,)) for flag, words in spelled.items() for word in words]
    check(subject, "VARCHAR", [dp.flag().named("raw")], [word for word, _ in raw], [flag for _, flag in raw])
    check(subject, "VARCHAR", [dp.flag().named("raw")], [word for word, _ in raw])


def test_tiny_floats_divided_by_large_steps_are_zero(subject):
    raw = [5e-324, -5e-324, 1e-310, -1e-300, 2.5, -2.5, 2.4999999999999996, 7.5, 1e308, -1e308, math.nan, math.inf]
    columns = [dp.between(-100 * step, 100 * step, step=step) for step in (5, 10**9, 10**30, 10**300)]
    check(subject, "DOUBLE", [each.named("raw") for each in columns], raw)


def test_floats_beyond_53_bits_are_read_to_the_last_bit(subject):
    raw = [
        sign * (2.0**power + odd) for power in range(50, 127, 3) for odd in (0, 2.0 ** (power - 50)) for sign in (1, -1)
    ]
    columns = [dp.between(-(2**125), 2**125), dp.between(-(2**61), 2**61), dp.between(0, 2**124, step=3)]
    check(subject, "DOUBLE", [each.named("raw") for each in columns], raw)


@pytest.mark.parametrize("physical", ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
def test_days_at_the_ends_of_time_are_clamped(subject, physical):
    if not subject.has_infinite_days:
        pytest.skip(f"{subject.name} has no infinite days")
    column = dp.date("2020-01-01", "2020-01-31").named("raw")
    check(subject, physical, [column], ["infinity", "-infinity", "4000-01-01"], [(18292,), (18262,), (18292,)])


def test_days_before_1970_are_days(subject):
    columns = [dp.date("0001-01-01", "9999-12-31").named("raw")]
    days = [dt.date(1, 1, 1), dt.date(1582, 10, 4), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]
    check(subject, "DATE", columns, days)
    moments = [
        dt.datetime(1, 1, 1, 0, 0, 1),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
        dt.datetime(9999, 12, 31, 23),
    ]
    check(subject, "TIMESTAMP", columns, moments)
    check(subject, "TIMESTAMP WITH TIME ZONE", columns, [moment.replace(tzinfo=dt.UTC) for moment in moments])


def test_texts_reach_the_engine_as_quoted_literals_alone(subject):
    text = "'); DROP TABLE t; --\\\" \\' \n \U0001f600"
    schema = {'a"b': dp.text().named('a"b')}
    sql = expression_sql(when(Name('a"b') == text, text).otherwise("no"), schema, subject.dialect)
    relation = subject.relation(['a"b'], ["VARCHAR"], [[text], ["x"]])
    assert sorted(subject.engine.rows(f"SELECT {sql} FROM {relation}")) == sorted([(text,), ("no",)])
