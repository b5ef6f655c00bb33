"""The engine's integers are those of the plain Python evaluator, for random tables, plans and questions."""

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import Refusal, UnknownName
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Filter, PersonJoin, Scan, columns_of
from discreet.plan.stability import unit_of
from discreet.plan.to_sql.cells import CellRequest, cells, counts
from discreet.plan.to_sql.key_counts import people_by_key
from discreet.plan.to_sql.rows import rows_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql
from tests.plan import worlds
from tests.plan.relational import SECRET, Data, Oracle
from tests.plan.worlds import Chance

KINDS = ("row", "groups", "rows", "table")
OPERATORS = ([], ["filter"], ["derive"], ["join"], ["join numbers"], ["union"], ["join", "union"], ["union", "join"])
PROJECTIONS = (["project"], ["derive", "project"], ["join", "project"], ["project", "union"])
MEETINGS = (
    ["meet"],
    ["meet itself"],
    ["meet union"],
    ["meet public"],
    ["meet twice"],
    ["meet outer"],
    ["meet outer", "project"],
    ["exists"],
    ["exists itself"],
    ["exists not", "project"],
    ["meet", "exists"],
    ["filter", "meet"],
    ["join", "meet"],
    ["meet", "join"],
    ["meet", "project"],
    ["project", "meet", "union"],
)


def seeds(many, few):
    """The first few of many seeds in `make test`, the others in `make check`."""
    return [seed if seed < few else pytest.param(seed, marks=pytest.mark.slow) for seed in range(many)]


@pytest.fixture(scope="module")
def engine():
    with DuckDBEngine(SECRET, threads=2) as found:
        yield found


def answered(engine, question, relations, unit=None):
    return in_order(engine.rows(tallies_sql(question, relations, unit=unit).sql), question)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(40, 12))
def test_tallies_are_those_of_the_reference(engine, kind, seed):
    chance = Chance("tallies", kind, seed)
    unit = worlds.unit_of(chance, kind)
    data = worlds.table_of(chance, unit, whole=bool(chance.below(2)))
    relations, world = {"t": worlds.loaded(engine, data)}, {"t": data}
    for operators in OPERATORS[seed % 2 :: 2]:
        plan = worlds.plan_of(chance, operators)
        question = worlds.question_of(chance, plan, {"t": data.table})
        assert answered(engine, question, relations) == Oracle().tallied(question, world, unit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operators", PROJECTIONS, ids=" ".join)
def test_projected_rows_are_told_apart_by_the_columns_that_are_left(engine, kind, operators):
    for seed in range(5):
        chance = Chance("project", kind, operators, seed)
        unit = worlds.unit_of(chance, kind)
        data = worlds.table_of(chance, unit, whole=bool(chance.below(2)))
        relations, world, tables = {"t": worlds.loaded(engine, data)}, {"t": data}, {"t": data.table}
        plan = worlds.plan_of(chance, operators)
        question = worlds.question_of(chance, plan, tables)
        assert answered(engine, question, relations) == Oracle().tallied(question, world, unit)
        requests = [CellRequest(group, -6, 7, 60) for group in range(question.keys.size)]
        found = opened(counts(engine, plan, question.keys, worlds.X, relations, requests))
        assert found == Oracle().counts(plan, question.keys, worlds.X, world, unit, requests)


@pytest.mark.parametrize("many", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("operators", MEETINGS, ids=" ".join)
def test_rows_of_the_same_people_meet_as_in_the_reference(engine, kind, operators, many):
    for seed in range(many):
        chance = Chance("meet", kind, operators, seed)
        world = worlds.world_of(chance, worlds.unit_of(chance, kind))
        relations = {name: worlds.loaded(engine, data) for name, data in world.items()}
        tables = {name: data.table for name, data in world.items()}
        plan = worlds.plan_of(chance, operators)
        question, unit = worlds.question_of(chance, plan, tables), unit_of(plan, tables)
        assert answered(engine, question, relations) == Oracle().tallied(question, world, unit)
        requests = [CellRequest(group, -6, 7, 60) for group in range(question.keys.size)]
        found = opened(counts(engine, plan, question.keys, worlds.X, relations, requests))
        assert found == Oracle().counts(plan, question.keys, worlds.X, world, unit, requests)
        if "project" not in operators:
            keys = keys_of(("note",), columns_of(plan, tables))
            found = opened(people_by_key(engine, plan, keys, relations))
            assert found == Oracle().people_by_key(plan, keys, world, unit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(20, 8))
def test_cells_are_those_of_the_reference(engine, kind, seed):
    chance = Chance("cells", kind, seed)
    unit = worlds.unit_of(chance, kind)
    data = worlds.table_of(chance, unit, whole=bool(chance.below(2)))
    plan = worlds.plan_of(chance, chance.choice(OPERATORS))
    keys = worlds.keys_among(chance, columns_of(plan, {"t": data.table}))
    relations, of = {"t": worlds.loaded(engine, data)}, chance.choice([worlds.X, worlds.N, worlds.DAY])
    low = 19_700 if of is worlds.DAY else -6
    same = [CellRequest(group, low, 7, 60) for group in range(keys.size)]
    other = [CellRequest(chance.below(keys.size), low + chance.below(9), 1 + chance.below(9), 5) for _ in range(6)]
    with cells(engine, plan, keys, of, relations) as count:
        for requests in (same, other, same[:1] * 2, []):
            assert opened(count(requests)) == Oracle().counts(plan, keys, of, {"t": data}, unit, requests)
    found = opened(counts(engine, plan, keys, of, relations, same))
    assert found == Oracle().counts(plan, keys, of, {"t": data}, unit, same)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(20, 8))
def test_people_by_key_are_those_of_the_reference(engine, kind, seed):
    chance = Chance("selection", kind, seed)
    unit = worlds.unit_of(chance, kind)
    data = worlds.table_of(chance, unit, whole=bool(chance.below(2)))
    plan = worlds.plan_of(chance, chance.choice(OPERATORS[:5]))
    keys = keys_of(("note", "ward") if chance.below(2) else ("note",), columns_of(plan, {"t": data.table}))
    found = opened(people_by_key(engine, plan, keys, {"t": worlds.loaded(engine, data)}))
    assert found == Oracle().people_by_key(plan, keys, {"t": data}, unit)
    assert list(found) == sorted(found)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_table_has_zeros_in_every_group(engine, kind):
    unit = worlds.unit_of(Chance(kind), kind)
    data = Data(worlds.table_of(Chance(1), unit).table, [])
    relations = {"t": worlds.loaded(engine, data)}
    for keys, size in ((NO_KEYS, 1), (keys_of(("ward",), worlds.COLUMNS), 4)):
        question = TallyQuery(Scan("t"), keys, tuple(worlds.TALLIES))
        assert answered(engine, question, relations) == [(0,) * len(worlds.TALLIES)] * size


@pytest.mark.parametrize("groups", [2, 5])
def test_one_giant_person_counts_no_more_than_anyone(engine, groups):
    chance = Chance("giant")
    unit = dp.person("id", max_rows=5, max_groups=groups)
    data = worlds.table_of(chance, unit)
    data.rows = [worlds.raw_row(chance, 9) for _ in range(3000)]
    question = TallyQuery(Scan("t"), keys_of(("ward",), worlds.COLUMNS), (Tally("rows"), Tally("people")))
    found = answered(engine, question, {"t": worlds.loaded(engine, data)})
    assert sum(rows for rows, _ in found) <= 5
    assert sum(people for _, people in found) <= groups
    assert found == Oracle().tallied(question, {"t": data}, unit)


@pytest.mark.parametrize("unit", [dp.person("id", max_rows=4), dp.person("id", max_rows=4, bound="table")], ids=str)
def test_rows_without_an_identifier_are_those_of_one_person(engine, unit):
    chance = Chance("nobody")
    data = worlds.table_of(chance, unit)
    data.rows = [worlds.raw_row(chance, who) for who in (None, None, None, 1, 1, 2)]
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("people"),))
    assert answered(engine, question, {"t": worlds.loaded(engine, data)}) == [(3,)]


def test_one_giant_person_in_both_tables_makes_no_more_pairs_than_partners_allow(engine):
    chance, relations = Chance("giants"), {}
    for name, rows in (("t", 5), ("u", 3)):
        data = Data(dp.Table(name, dp.person("id", max_rows=rows), worlds.COLUMNS), [])
        data.rows = [worlds.raw_row(chance, 9) for _ in range(2000)]
        relations[name] = worlds.loaded(engine, data)
    for most, kept in ((None, 3), (2, 2), (99, 3)):
        sql = rows_sql(PersonJoin(Scan("t"), Scan("u"), most=most), relations, dp.person("id", max_rows=5), DUCKDB)
        assert engine.rows(f"SELECT count(*) FROM ({sql}) AS found") == [(2000 * kept,)]


def test_a_question_may_bound_people_more_tightly_than_the_table(engine):
    chance = Chance("tighter")
    unit = dp.person("id", max_rows=10, max_groups=3)
    data = worlds.table_of(chance, unit)
    data.rows = [worlds.raw_row(chance, who % 5) for who in range(200)]
    tight = dp.person("id", max_rows=2, max_groups=1)
    question = TallyQuery(Scan("t"), keys_of(("ward",), worlds.COLUMNS), (Tally("rows"), Tally("sum", (worlds.N,))))
    relations = {"t": worlds.loaded(engine, data)}
    found = answered(engine, question, relations, unit=tight)
    assert found == Oracle().tallied(question, {"t": data}, tight)
    assert sum(rows for rows, _ in found) == 10
    with pytest.raises(Refusal):
        answered(engine, question, relations, unit=dp.person("id", max_rows=20, max_groups=3))


def test_an_unknown_column_is_answered_with_the_nearest_one(engine):
    data = worlds.table_of(Chance(2), dp.row())
    plan = Filter(Scan("t"), Name("warld") == "A")
    with pytest.raises(UnknownName) as refused:
        tallies_sql(TallyQuery(plan, NO_KEYS, (Tally("rows"),)), {"t": worlds.loaded(engine, data)})
    assert "did you mean 'ward'" in str(refused.value)
    assert "SELECT" not in str(refused.value)


def test_a_sum_that_might_not_fit_is_refused_with_the_fix(engine):
    data = worlds.table_of(Chance(3), dp.row())
    wide = Name("n") * 2**80 + Name("x")
    with pytest.raises(Refusal) as refused:
        tallies_sql(TallyQuery(Scan("t"), NO_KEYS, (Tally("sum", (wide,)),)), {"t": worlds.loaded(engine, data)})
    assert "clip" in refused.value.fix


def test_two_keys_far_apart_take_no_memory_for_what_lies_between_them(engine):
    table = dp.Table("t", dp.row(), {"x": dp.between(0, 2**100)})
    relations = {"t": Relation(table, {"x": "HUGEINT"}, f"(VALUES ({2**99}::HUGEINT), (5), (7)) AS v(x)")}
    keys = keys_of(("x",), columns_of(Scan("t"), {"t": table}), {"x": [5, 2**99, 2**125]})
    question = TallyQuery(Scan("t"), keys, (Tally("rows"),))
    assert in_order(engine.rows(tallies_sql(question, relations).sql), question) == [(1,), (1,), (0,)]
