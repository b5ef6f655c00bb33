"""The engine: exact integers out, spilling within a limit, and no word of its own or of the secret."""

import traceback

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, Refusal
from discreet.core.schema import Table
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine, EngineFailed
from discreet.engines.engine import MULTIPLIERS, multipliers
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.cells import CellRequest, cells_sql, values_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import SettledPlan, in_order, tallies_sql

SECRET = b"an unlikely secret"
COLUMNS = {"n": dp.between(0, 9), "ward": dp.one_of("A", "B")}
PHYSICAL = {"id": "BIGINT", "n": "BIGINT", "ward": "VARCHAR"}
UNITS = [
    dp.person("id", max_rows=3, max_groups=1),
    dp.person("id", max_rows=3),
    dp.person("id", max_rows=3, bound="table"),
]
ROWS = "(SELECT range % 50 AS id, range % 7 AS n, CASE WHEN range % 3 = 0 THEN 'A' ELSE 'B' END AS ward FROM range({}))"


def relation(unit, rows=1000):
    return {"t": Relation(Table("t", unit, COLUMNS), PHYSICAL, ROWS.format(rows))}


def test_integers_of_any_width_come_back_exactly():
    with DuckDBEngine(SECRET) as engine:
        assert engine.rows("SELECT 2::HUGEINT ** 0 + 170141183460469231731687303715884105726::HUGEINT * 0") is not None
        (row,) = engine.rows("SELECT 85070591730234615865843651857942052863::HUGEINT, true, 'ä', NULL, ?::BIGINT", [-5])
    assert row == (2**126 - 1, True, "ä", None, -5)
    assert [type(each) for each in row] == [int, bool, str, type(None), int]


@pytest.mark.parametrize("unit", UNITS)
def test_neither_the_secret_nor_its_multipliers_are_in_any_text_or_plan(unit):
    question = TallyQuery(Scan("t"), keys_of(("ward",), COLUMNS), (Tally("rows"), Tally("sum", (Name("n"),))))
    relations = relation(unit)
    asked = SettledPlan.of(Scan("t"), question.keys, relations, DUCKDB, None)
    requests = [CellRequest(0, 0, 1, 5), CellRequest(1, 2, 1, 5)]
    cells = cells_sql(values_sql(asked, Name("n"), relations), COLUMNS["n"], requests)
    secrets = {
        SECRET.decode(),
        SECRET.hex(),
        *(str(each) for row in multipliers(SECRET) for each in row if each > 10**5),
    }
    with DuckDBEngine(SECRET) as engine:
        for sql in (tallies_sql(question, relations).sql, cells):
            plans = [text for _, text in engine.rows(f"EXPLAIN {sql}") + engine.rows(f"EXPLAIN ANALYZE {sql}")]
            for text in (sql, *plans):
                assert not [each for each in secrets if each in text]


def test_what_the_engine_says_is_never_shown():
    texts = []
    for sql in ("SELECT error('secret record')", "SELEC", "SELECT * FROM read_parquet('no-such-file.parquet')"):
        with DuckDBEngine(SECRET) as engine, pytest.raises(EngineFailed) as refused:
            engine.rows(sql)
        texts.append(str(refused.value))
        shown = "".join(traceback.format_exception(refused.value))
        assert "secret record" not in shown.replace("SELECT error('secret record')", "")
        assert "duckdb.duckdb" not in shown
    assert len(set(texts)) == 1


def test_a_file_that_vanishes_or_breaks_is_refused_in_the_same_words(tmp_path):
    path, told = tmp_path / "t.parquet", []
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("rows"),))
    table = Table("t", dp.row(), COLUMNS)
    with DuckDBEngine(SECRET) as engine:
        engine.run(f"COPY {ROWS.format(10)} TO '{path}'")
        found = {"t": Relation(table, PHYSICAL, f"read_parquet('{path}')")}
        statement = tallies_sql(question, found)
        assert in_order(engine.rows(statement.sql), question) == [(10,)]
        for change in (lambda: path.write_bytes(b"PAR1 no longer"), path.unlink):
            change()
            with pytest.raises(EngineFailed) as refused:
                engine.rows(statement.sql)
            told.append(str(refused.value))
    assert len(set(told)) == 1


def test_a_question_larger_than_memory_spills_and_is_answered(tmp_path):
    unit = dp.person("id", max_rows=3, max_groups=1)
    rows = "(SELECT (range * 7919) % 600000 AS id, range % 7 AS n, 'A' AS ward FROM range(1200000))"
    question = TallyQuery(Scan("t"), keys_of(("ward", "n"), COLUMNS), (Tally("rows"), Tally("sum", (Name("n"),))))
    found = {"t": Relation(Table("t", unit, COLUMNS), PHYSICAL, rows)}
    answers = []
    for memory in (64, 1024):
        with DuckDBEngine(SECRET, memory=memory, threads=1, folder=tmp_path) as engine:
            answers.append(in_order(engine.rows(tallies_sql(question, found).sql), question))
            (folder,) = tmp_path.iterdir()
            assert folder.stat().st_mode & 0o777 == 0o700
        assert not list(tmp_path.iterdir())
    assert answers[0] == answers[1]
    assert sum(rows for rows, _ in answers[0]) > 0


def test_a_closed_engine_and_senseless_settings_are_refused():
    engine = DuckDBEngine(SECRET)
    with pytest.raises(Refusal):
        engine.rows("SELECT 1")
    for settings in ({"memory": 1}, {"threads": 0}):
        with pytest.raises(BadParameter):
            DuckDBEngine(SECRET, **settings)


def test_kept_tables_are_gone_after_the_block():
    with DuckDBEngine(SECRET) as engine:
        with engine.kept("SELECT 1 AS one") as name:
            assert engine.rows(f"SELECT one FROM {name}") == [(1,)]
        with pytest.raises(EngineFailed):
            engine.rows(f"SELECT one FROM {name}")


def test_multipliers_follow_from_the_secret_and_are_never_zero():
    first, second = multipliers(SECRET)
    assert (first, second) == multipliers(SECRET) != multipliers(b"another")
    assert len(first) == len(second) == MULTIPLIERS
    assert all(0 < each < 1 << 28 for each in (*first, *second))
