"""Bounding: which rows are kept depends on a person's own rows and the secret, and on nothing else."""

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import Refusal
from discreet.engines.dialect import MOST_ROWS
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.kept_rows import Ranks
from discreet.engines.engine import MULTIPLIERS
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.cells import CellRequest, counts
from discreet.plan.to_sql.rows import scan_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql
from tests.plan import worlds
from tests.plan.relational import SECRET, Data, Oracle
from tests.plan.worlds import Chance

KEYS = keys_of(("ward",), worlds.COLUMNS)
QUESTION = TallyQuery(Scan("t"), KEYS, (Tally("rows"), Tally("people"), Tally("sum", (worlds.N,))))
UNITS = {
    "groups": dp.person("id", max_rows=4, max_groups=2),
    "rows": dp.person("id", max_rows=4),
    "table": dp.person("id", max_rows=4, max_groups=2, bound="table"),
}


def people(unit, many=40):
    chance = Chance("kept")
    data = worlds.table_of(chance, unit)
    data.rows = [row for who in range(many) for row in worlds.rows_of(chance, who)]
    return data


def answers(data, secret=SECRET, threads=2, memory=256):
    with DuckDBEngine(secret, threads=threads, memory=memory) as engine:
        relations = {"t": worlds.loaded(engine, data)}
        tallies = in_order(engine.rows(tallies_sql(QUESTION, relations).sql), QUESTION)
        requests = [CellRequest(group, 0, 100, 11) for group in range(KEYS.size)]
        return tallies, opened(counts(engine, Scan("t"), KEYS, worlds.N, relations, requests))


@pytest.mark.parametrize("kind", UNITS)
def test_the_same_rows_are_kept_whatever_the_order_of_the_file_and_the_threads(kind):
    data = people(UNITS[kind])
    first = answers(data)
    assert first == answers(Data(data.table, data.rows[::-1]), threads=1)
    assert first == answers(Data(data.table, data.rows[7:] + data.rows[:7]), threads=4)
    assert first == answers(data)


@pytest.mark.parametrize("kind", UNITS)
def test_another_secret_keeps_other_rows_but_no_more(kind):
    data = people(UNITS[kind])
    one, other = answers(data)[0], answers(data, secret=b"another")[0]
    assert one != other
    for found in (one, other):
        assert sum(rows for rows, _, _ in found) <= 40 * 4


def test_other_people_do_not_change_which_rows_of_a_person_are_kept():
    data = people(UNITS["rows"], many=12)
    columns = dict(worlds.COLUMNS)
    everyone = Oracle().first_rows(Oracle().scanned(data), columns, 4, True)
    for who in range(12):
        alone = Data(data.table, [row for row in data.rows if row["id"] == who])
        mine = Oracle().first_rows(Oracle().scanned(alone), columns, 4, True)
        assert mine == [row for row in everyone if row[0] == who]


def test_every_row_of_a_person_is_as_likely_to_be_kept():
    # 2,000 people with the same five rows, two kept of each: every row is kept by 800 of them, give or take five
    # standard deviations of 22 (false alarms below 1e-6 for each of five rows); a linear order would fail by far.
    rows = [{"id": who, **dict.fromkeys(worlds.RAW), "n": year} for who in range(2000) for year in range(5)]
    data = Data(dp.Table("t", dp.person("id", max_rows=2), worlds.COLUMNS), rows)
    kept = Oracle().first_rows(Oracle().scanned(data), dict(worlds.COLUMNS), 2, True)
    found = [sum(row["n"] == year for _, row in kept) for year in range(5)]
    assert sum(found) == 4000
    assert all(abs(each - 800) < 110 for each in found)


def test_groups_share_in_proportion_to_their_rows():
    # 300 people with 30 rows in one ward and 10 in another share 4 rows as 3 and 1 on average, exactly rounded.
    rows = [
        {"id": who, **dict.fromkeys(worlds.RAW), "ward": ward} for who in range(300) for ward in "A" * 30 + "b" * 10
    ]
    data = Data(dp.Table("t", dp.person("id", max_rows=4), worlds.COLUMNS), rows)
    question = TallyQuery(Scan("t"), KEYS, (Tally("rows"),))
    found = Oracle().tallied(question, {"t": data}, data.table.unit)
    assert found[:2] == [(900,), (300,)]
    with DuckDBEngine(SECRET) as engine:
        relations = {"t": worlds.loaded(engine, data)}
        assert in_order(engine.rows(tallies_sql(question, relations).sql), question) == found


@pytest.mark.parametrize("groups", [2, 4])
def test_cached_and_uncached_answers_are_identical(tmp_path, groups):
    unit = dp.person("id", max_rows=4, max_groups=groups, bound="table")
    data = people(unit)
    ranks = Ranks(tmp_path / "kept", SECRET)
    with DuckDBEngine(SECRET) as engine:
        relation = worlds.loaded(engine, data)
        cold = engine.rows(tallies_sql(QUESTION, {"t": relation}).sql)
        declaration = data.table.to_json()
        source = ranks.kept(engine, "t", 1, declaration, scan_sql(relation, DUCKDB))
        warm = Relation(relation.table, relation.physical, source, kept=True)
        assert in_order(engine.rows(tallies_sql(QUESTION, {"t": warm}).sql), QUESTION) == in_order(cold, QUESTION)
        engine.run(f"DROP TABLE {relation.from_sql}")
        assert ranks.kept(engine, "t", 1, declaration, "SELECT nothing") == source
    (file,) = (tmp_path / "kept").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert ranks.remove(but=["t"]) == 0
    assert ranks.remove(but=["other"]) == 1
    assert not list((tmp_path / "kept").iterdir())


def test_the_cache_keeps_wide_integers_exactly(tmp_path):
    unit = dp.person("id", max_rows=2, bound="table")
    table = dp.Table("t", unit, {"big": dp.between(0, 2**80)})
    rows = f"(VALUES (1, {2**70 + 1}::HUGEINT), (1, NULL), (2, {2**75 + 3}::HUGEINT)) AS v(id, big)"
    relation = Relation(table, {"id": "INTEGER", "big": "HUGEINT"}, rows)
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("sum", (Name("big"),)),))
    with DuckDBEngine(SECRET) as engine:
        source = Ranks(tmp_path, SECRET).kept(engine, "t", 1, table.to_json(), scan_sql(relation, DUCKDB))
        warm = Relation(table, relation.physical, source, kept=True)
        for each in (relation, warm):
            found = in_order(engine.rows(tallies_sql(question, {"t": each}).sql), question)
            assert found == [(2**70 + 2**75 + 4,)]


def test_the_cache_knows_a_table_by_version_declaration_and_secret(tmp_path):
    ranks = Ranks(tmp_path, SECRET)
    paths = {
        ranks.path("t", 1, "a"),
        ranks.path("t", 2, "a"),
        ranks.path("t", 1, "b"),
        ranks.path("u", 1, "a"),
        Ranks(tmp_path, b"x").path("t", 1, "a"),
    }
    assert len(paths) == 5


def test_groups_that_tie_in_the_order_are_told_apart_by_themselves(monkeypatch):
    # With no multiplier for the group all groups of a person tie, as two of them do by chance once in 2^31.
    flat = tuple(0 if place == 3 else 1 + place for place in range(MULTIPLIERS))
    monkeypatch.setattr("discreet.engines.duckdb.engine.multipliers", lambda _secret: (flat, flat))
    rows = [
        {"id": who, **dict.fromkeys(worlds.RAW), "ward": ward, "n": 5}
        for who in range(50)
        for ward in ("b", "A", "O'Neil")
    ]
    for rows_in_order in (rows, rows[::-1]):
        data = Data(dp.Table("t", UNITS["groups"], worlds.COLUMNS), rows_in_order)
        tallies, cells = answers(data)
        assert [found[:2] for found in tallies] == [(50, 50), (50, 50), (0, 0), (0, 0)]
        assert [sum(found.values()) for found in cells] == [50, 50, 0, 0]


@pytest.mark.parametrize("width", [2**20 - 1, 2**20, 2**23])
def test_sums_are_exact_on_both_sides_of_the_width_at_which_they_share_with_their_count(width):
    unit = dp.person("id", max_rows=3, max_groups=2)
    table = dp.Table("t", unit, {"n": dp.between(-7, width - 7), "ward": worlds.COLUMNS["ward"]})
    values = [(1, -7, "A"), (1, width - 7, "A"), (1, None, "A"), (2, width - 7, "A"), (2, None, "b"), (3, None, "b")]
    values += [(4, width - 7, "b")] * 5
    rows = ", ".join(f"({who}, {'NULL' if n is None else n}::BIGINT, '{ward}')" for who, n, ward in values)
    relation = Relation(
        table, {"id": "INTEGER", "n": "BIGINT", "ward": "VARCHAR"}, f"(VALUES {rows}) AS v(id, n, ward)"
    )
    tallies = Tally("rows"), Tally("sum", (Name("n"),)), Tally("present", (Name("n"),))
    question = TallyQuery(Scan("t"), KEYS, tallies)
    with DuckDBEngine(SECRET) as engine:
        found = in_order(engine.rows(tallies_sql(question, {"t": relation}).sql), question)
    assert found == [(4, 2 * width, 3), (5, 3 * width, 3), (0, 0, 0), (0, 0, 0)]


def test_a_sum_shares_a_number_with_its_count_only_where_the_most_rows_there_may_be_stay_below_it():
    unit, shared = dp.person("id", max_rows=3), []
    for power in range(10, 60):
        table = dp.Table("t", unit, {"n": dp.between(0, 2**power)})
        relation = Relation(table, {"id": "INTEGER", "n": "HUGEINT"}, "nothing")
        try:
            sql = tallies_sql(TallyQuery(Scan("t"), NO_KEYS, (Tally("sum", (Name("n"),)),)), {"t": relation}).sql
        except Refusal:
            continue
        if '"~p0"' in sql:
            shared.append(power)
    assert shared
    assert 2 ** max(shared) * MOST_ROWS < 2**60


def test_a_folder_that_is_called_like_a_partition_adds_no_column_to_the_cache(tmp_path):
    table = dp.Table("t", dp.person("id", max_rows=1, bound="table"), {"year": dp.between(0, 3000)})
    relation = Relation(table, {"id": "INTEGER", "year": "INTEGER"}, "(VALUES (1, 5), (2, 6)) AS v(id, year)")
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("sum", (Name("year"),)),))
    ranks = Ranks(tmp_path / "year=2024" / "[odd] *", SECRET)
    with DuckDBEngine(SECRET) as engine:
        source = ranks.kept(engine, "t", 1, table.to_json(), scan_sql(relation, DUCKDB))
        warm = Relation(table, relation.physical, source, kept=True)
        assert engine.rows(tallies_sql(question, {"t": warm}).sql) == [(0, 11)]


def test_rows_whose_columns_are_too_wide_to_be_ordered_are_refused():
    table = dp.Table("t", dp.person("id", max_rows=1), {"x": dp.between(1 - 2**126, 2**126 - 1), "y": dp.flag()})
    relations = {"t": Relation(table, {"id": "INTEGER", "x": "HUGEINT", "y": "BOOLEAN"}, "t")}
    with DuckDBEngine(SECRET) as engine, pytest.raises(dp.Refusal) as refused:
        counts(engine, Scan("t"), NO_KEYS, Name("y").as_number(), relations, [CellRequest(0, 0, 1, 2)])
    assert "126 bits" in refused.value.why
