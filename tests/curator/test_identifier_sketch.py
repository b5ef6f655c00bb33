"""Sketches: a text is tried for a number or a day where it can be one, and is written as such a column writes it."""

import itertools

import duckdb

from discreet.curator.identifier_sketch import _DAY, _NUMBER, _value
from discreet.engines.duckdb.dialect import DIALECT
from discreet.engines.physical import Physical
from discreet.plan.to_sql.column_values import READERS

WRITTEN = (
    *("true", "False", " TRUE ", "t", "1", " 12", "+1.5", "-3", "  -.5 ", "1e5", "inf", " -Inf", "+INFINITY", "nan"),
    *("2020-01-02", " 2020-01-02", "20200-01-02", "0044-03-15 (BC)", "2020-01-02T00:00", "abc", "1-URGENT", "", " "),
    *("infinite", "\t5", "Infinity ", "0x1", "+", "e5", "\u0663", "\uff11", "9" * 250, "a comment, of some length"),
)


def test_what_reads_as_a_number_or_a_day_is_one_and_all_else_is_its_words():
    drawn = ["".join(each) for long in range(1, 5) for each in itertools.product("09+-. eT", repeat=long)]
    text = Physical.parse("VARCHAR")
    number, day = (READERS[each.kind](each, text, '"x"', DIALECT) for each in (_NUMBER, _DAY))
    connection = duckdb.connect()
    connection.execute('CREATE TABLE t ("x" VARCHAR)')
    connection.execute("INSERT INTO t SELECT unnest(?)", [[*WRITTEN, *drawn]])
    found = connection.execute(f'SELECT "x", {number}, {day}, {_value("x", "VARCHAR", DIALECT)} FROM t').fetchall()
    numbers = 0
    for written, steps, days, value in found:
        numbers += steps is not None
        if len(written) > 200:
            expected = None
        elif steps is not None or days is not None:
            expected = f"d{days}" if steps is None else f"n{steps}"
        else:
            words = written.strip(" ")
            lowered = "".join(each.lower() if each.isascii() else each for each in words)
            expected = {"true": "n1000", "false": "n0"}.get(lowered, lowered)
        assert value == expected, written
    assert numbers > 100
