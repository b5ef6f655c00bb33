"""Large texts: one value of hundreds of megabytes is null, and costs a question neither an error nor its time."""

import re
import time

import pytest

import discreet as dp
from discreet.engines.dialect import MOST_BYTES, MOST_SPELLED
from discreet.plan.expressions import Name
from discreet.plan.keys import Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.to_sql.column_values import DAY, NUMBER, WHOLE
from discreet.plan.to_sql.scalar import Relation, raw_sql
from discreet.plan.to_sql.statement import tallies_sql
from tests.plan import reference

COLUMNS = {
    "number": dp.between(0, 100),
    "wide": dp.between(0, 10**20),
    "day": dp.date("2020-01-01", "2020-12-31"),
    "flag": dp.flag(),
    "key": dp.one_of("1", "22"),
    "place": dp.one_of(1, 22),
    "text": dp.text(),
}
TABLE = dp.Table("t", dp.person("id", max_rows=2), COLUMNS)
PHYSICAL = dict.fromkeys(["id", *COLUMNS], "VARCHAR")


def holding(subject, texts, large):
    """A table whose rows hold one text in every column, each written as SQL, and a last row with large ones."""
    rows = [dict.fromkeys(PHYSICAL, text) for text in texts] + [{**dict.fromkeys(PHYSICAL, "NULL"), **large}] * bool(
        large
    )
    written = " UNION ALL ".join(
        "SELECT " + ", ".join(f"{text} AS {subject.dialect.quote(name)}" for name, text in row.items()) for row in rows
    )
    return subject.held(written)


def asked(subject, texts, large=None):
    """The tallies of a question about every column, and the seconds they took."""
    tables = {"t": Relation(TABLE, PHYSICAL, holding(subject, texts, large or {}))}
    present = [Tally("present", (Name(name),)) for name in COLUMNS]
    keys = keys_of(["key"], columns_of(Scan("t"), {"t": TABLE}))
    question = TallyQuery(Scan("t"), keys, (Tally("rows"), Tally("people"), Tally("sum", (Name("number"),)), *present))
    began = time.perf_counter()
    found = subject.engine.rows(tallies_sql(question, tables, subject.dialect, TABLE.unit).sql)
    return sorted(found), time.perf_counter() - began


SHORT = ["'1'", "'22'", "'1'", "'2020-05-05'"]


def check(subject, large, seconds):
    quick, before = asked(subject, SHORT)
    found, after = asked(subject, SHORT, large)
    assert found == quick
    assert after < before + seconds


@pytest.mark.parametrize("one", ["9", " ", "é"])
def test_a_row_of_large_texts_changes_no_other_row_and_costs_no_time(subject, one):
    check(subject, dict.fromkeys(PHYSICAL, f"repeat('{one}', 1000000)"), 2)


@pytest.mark.soak
@pytest.mark.parametrize("column", PHYSICAL)
def test_a_text_of_300_megabytes_in_any_column_changes_nothing(subject, column):
    check(subject, {column: "repeat('9', 300000000)"}, 30)


def test_a_text_is_read_up_to_its_limit_and_null_beyond(subject):
    for column, most in (("number", MOST_SPELLED), ("day", MOST_SPELLED), ("flag", MOST_SPELLED), ("text", MOST_BYTES)):
        word = {"number": "7", "day": "2020-05-05 ", "flag": "1"}.get(column, "é")
        fill = {"number": " ", "day": "0", "flag": " "}.get(column, "x")
        sizes = [most - 1, most, most + 1]
        raw = [word + fill * (size - len(word.encode())) for size in sizes]
        sql = raw_sql(COLUMNS[column].named("raw"), "VARCHAR", subject.dialect)
        relation = subject.relation(["place", "raw"], ["INTEGER", "VARCHAR"], list(enumerate(raw)))
        found = subject.engine.rows(f'SELECT "place", {sql} FROM {relation} ORDER BY "place"')
        assert [value for _, value in found] == [reference.read(COLUMNS[column], text) for text in raw]
        assert [value is None for _, value in found] == [False, False, True]


@pytest.mark.parametrize("pattern", [NUMBER, WHOLE, DAY])
def test_no_pattern_goes_over_a_text_more_than_a_few_times(pattern):
    """Python's engine, like Java's, tries one way after the other: what is ambiguous costs quadratic time."""
    for text in ("9" * 200_000 + "x", " " * 200_000 + "x", "1." + "0" * 200_000 + "x", "1e" + "0" * 200_000 + "x"):
        began = time.perf_counter()
        assert re.fullmatch(pattern, text) is None
        assert time.perf_counter() - began < 1
