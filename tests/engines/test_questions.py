"""Whole questions: every engine gives the integers of the plain Python evaluator, and so keeps the same rows."""

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.plan.keys import NO_KEYS, Keys, Tally, TallyQuery, bins, keys_of
from discreet.plan.nodes import Scan, Union, columns_of, public
from discreet.plan.stability import unit_of
from discreet.plan.to_sql.cells import CellRequest, cells
from discreet.plan.to_sql.key_counts import people_by_key
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql
from tests.plan import worlds
from tests.plan.relational import Data, Oracle
from tests.plan.worlds import Chance

KINDS = ("row", "groups", "rows", "table")
ALONE = ([], ["filter"], ["derive"], ["project"], ["join"], ["join numbers"], ["union"], ["join", "union"])
MEETINGS = (
    ["meet"],
    ["meet outer"],
    ["exists"],
    ["exists itself"],
    ["exists not", "join"],
    ["meet itself"],
    ["meet union"],
    ["meet public"],
    ["filter", "meet", "join"],
)


def answered(subject, question, relations, unit=None):
    return in_order(subject.engine.rows(tallies_sql(question, relations, subject.dialect, unit).sql), question)


def world(subject, *seed, kind, meets=False):
    """Draw tables of one or two files from a seed, and put them before the engine."""
    chance = Chance("engines", *seed)
    unit = worlds.unit_of(chance, kind)
    found = (
        worlds.world_of(chance, unit) if meets else {"t": worlds.table_of(chance, unit, whole=bool(chance.below(2)))}
    )
    tables = {name: data.table for name, data in found.items()}
    return chance, found, tables, {name: subject.loaded(data) for name, data in found.items()}


def check(subject, chance, plan, found, tables, relations):
    """Compare tallies, cells and selected keys with those of the reference."""
    unit, oracle = unit_of(plan, tables), Oracle()
    question = worlds.question_of(chance, plan, tables)
    assert answered(subject, question, relations) == oracle.tallied(question, found, unit)
    of, keys = chance.choice([worlds.X, worlds.N, worlds.DAY]), question.keys
    low = 19_700 if of is worlds.DAY else -6
    same = [CellRequest(group, low, 7, 60) for group in range(keys.size)]
    other = [CellRequest(chance.below(keys.size), low + chance.below(9), 1 + chance.below(9), 5) for _ in range(6)]
    columns = columns_of(plan, tables)
    if of.name in columns:
        with cells(subject.engine, plan, keys, of, relations, subject.dialect) as count:
            for requests in (same, other):
                assert opened(count(requests)) == oracle.counts(plan, keys, of, found, unit, requests)
    selected = keys_of(("note", "ward") if chance.below(2) else ("note",), columns)
    if not selected.selected:  # a projection put declared keys in their place
        return
    people = people_by_key(subject.engine, plan, selected, relations, subject.dialect)
    assert opened(people) == oracle.people_by_key(plan, selected, found, unit)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operators", ALONE, ids=lambda operators: " ".join(operators) or "scan")
def test_answers_are_those_of_the_reference(subject, kind, operators):
    for seed in range(subject.examples):
        chance, found, tables, relations = world(subject, kind, operators, seed, kind=kind)
        check(subject, chance, worlds.plan_of(chance, operators), found, tables, relations)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("operators", MEETINGS, ids=" ".join)
def test_two_tables_of_the_same_people_meet_as_in_the_reference(subject, kind, operators):
    for seed in range(subject.examples):
        chance, found, tables, relations = world(subject, kind, operators, seed, kind=kind, meets=True)
        check(subject, chance, worlds.plan_of(chance, operators), found, tables, relations)


@pytest.mark.parametrize("kind", ["groups", "rows"])
@pytest.mark.parametrize("operators", [["join"], ["join", "join numbers"], ["meet", "join"]], ids=" ".join)
def test_rows_are_limited_before_they_meet_partners_as_in_the_reference(subject, kind, operators, monkeypatch):
    monkeypatch.setattr("discreet.plan.stability.MOST_PAIRS", 4)
    meets = "meet" in operators
    for seed in range(subject.more_examples):
        chance, found, tables, relations = world(subject, "limited", kind, operators, seed, kind=kind, meets=meets)
        people = [row["id"] for row in found["t"].rows]
        found["t"].rows += [worlds.raw_row(chance, people[0]) for _ in range(30)]
        relations["t"] = subject.loaded(found["t"])
        plan = worlds.plan_of(chance, operators)
        question = worlds.question_of(chance, plan, tables)
        unit = unit_of(plan, tables)
        assert answered(subject, question, relations) == Oracle().tallied(question, found, unit)


@pytest.mark.parametrize("kind", KINDS)
def test_every_tally_of_many_people_with_skewed_rows(subject, kind):
    chance = Chance("skewed", kind)
    unit = worlds.unit_of(chance, kind)
    for whole in (True, False):
        data = worlds.table_of(chance, unit, whole=whole)
        people = range(-3, 20) if whole else [*worlds.PEOPLE[False], "\U0001f600", "A\u0308", "\\", "x" * 100]
        data.rows = [row for who in people for row in worlds.rows_of(chance, who)]
        data.rows += [worlds.raw_row(chance, people[-1]) for _ in range(300)]
        question = TallyQuery(Scan("t"), keys_of(("ward", "ill"), worlds.COLUMNS), tuple(worlds.TALLIES))
        assert answered(subject, question, {"t": subject.loaded(data)}) == Oracle().tallied(question, {"t": data}, unit)


@pytest.mark.parametrize("cap", [1, 3])
@pytest.mark.parametrize("by", ["ward and ill", "bin"])
def test_rows_that_are_capped_by_group_weigh_what_they_do_in_the_reference(subject, by, cap):
    chance, columns = Chance("capped", by), worlds.COLUMNS
    keys = (
        Keys((bins("bin", columns["n"].named("n"), [1, 17, 501]),))
        if by == "bin"
        else keys_of(("ward", "ill"), columns)
    )
    unit = dp.person("id", max_rows=7, max_groups=2, max_rows_per_group=cap)
    data = worlds.table_of(chance, unit)
    data.rows = [row for who in (*range(9), None) for row in worlds.rows_of(chance, who)]
    question = TallyQuery(Scan("t"), keys, tuple(worlds.TALLIES), weighed=True)
    assert answered(subject, question, {"t": subject.loaded(data)}) == Oracle().tallied(question, {"t": data}, unit)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_table_has_zeros_in_every_group(subject, kind):
    unit = worlds.unit_of(Chance(kind), kind)
    data = Data(worlds.table_of(Chance(1), unit).table, [])
    relations = {"t": subject.loaded(data)}
    for keys, size in ((NO_KEYS, 1), (keys_of(("ward",), worlds.COLUMNS), 4)):
        question = TallyQuery(Scan("t"), keys, tuple(worlds.TALLIES))
        assert answered(subject, question, relations) == [(0,) * len(worlds.TALLIES)] * size


def test_a_question_may_bound_people_more_tightly_than_the_table(subject):
    chance = Chance("tighter")
    data = worlds.table_of(chance, dp.person("id", max_rows=10, max_groups=3))
    data.rows = [worlds.raw_row(chance, who % 5) for who in range(200)]
    question = TallyQuery(Scan("t"), keys_of(("ward",), worlds.COLUMNS), (Tally("rows"), Tally("sum", (worlds.N,))))
    tight = dp.person("id", max_rows=2, max_groups=1)
    found = answered(subject, question, {"t": subject.loaded(data)}, unit=tight)
    assert found == Oracle().tallied(question, {"t": data}, tight)
    assert sum(rows for rows, _ in found) == 10


def test_many_keys_and_bins_are_found_in_their_places(subject):
    chance = Chance("many")
    data = worlds.table_of(chance, dp.row())
    data.rows = [{**worlds.raw_row(chance, None), "n": number} for number in range(0, 1000, 3)]
    every = keys_of(("n",), worlds.COLUMNS, {"n": [*range(999, -1, -7)]})
    listed = keys_of(("n", "ward"), worlds.COLUMNS, {"n": [*range(0, 400, 2)]})
    chosen = listed.chosen(key for place, key in enumerate(listed.listed()) if place % 3)
    relations = {"t": subject.loaded(data)}
    for keys in (every, listed, chosen):
        question = TallyQuery(Scan("t"), keys, (Tally("rows"), Tally("sum", (worlds.N,))))
        found = answered(subject, question, relations)
        assert found == Oracle().tallied(question, {"t": data}, dp.row())
        assert any(rows for rows, _ in found)


PERSON = dp.person("id", max_rows=1)
PEOPLE = {
    "BIGINT": ["0", "1", "-7", "9007199254740993"],
    "DOUBLE": ["0", "-0", "1", "-7", "0.5", "NaN", "NaN", "1e20"],
    "FLOAT": ["-0", "1", "-7", "0.5", "NaN"],
    "DECIMAL(9,2)": ["0", "1", "-7", "0.5", "100"],
    "DECIMAL(20,10)": ["0", "1", "-7", "0.50", "100"],
    "DECIMAL(38,0)": ["1", "9007199254740993", "100000000000000000000"],
    "VARCHAR": ["0", "1", "-7", "0.5", "100", "9007199254740993"],
}


def test_a_person_whose_number_is_stored_in_several_types_is_one_person(subject):
    relations = {
        kind: Relation(
            dp.Table(kind, PERSON, {"x": dp.flag()}),
            {"id": kind, "x": "BOOLEAN"},
            subject.relation(["id", "x"], [kind, "BOOLEAN"], [[who, True] for who in people]),
        )
        for kind, people in PEOPLE.items()
    }
    first, *others = map(Scan, PEOPLE)
    for other in others:
        first = Union(first, other)
    question = TallyQuery(first, NO_KEYS, (Tally("rows"), Tally("people")))
    # 0, 1, -7, 2^53 + 1, 1/2, not a number, 10^20 and 100
    assert answered(subject, question, relations) == [(8, 8)]


@pytest.mark.parametrize(("columns", "many", "unit"), [(3, 1300, PERSON), (15, 20, PERSON), (3, 400, dp.row())])
def test_no_row_overflows_the_number_of_a_listed_key(subject, columns, many, unit):
    names = [f"c{place:02}" for place in range(columns)]
    listed = public("listed", dict.fromkeys(names, range(0, 3 * many, 3)))
    table = dp.Table("t", unit, {name: dp.between(0, 9999) for name in names})
    last = 3 * many - 3
    rows = [[number] * columns for number in (0, last, last, last + 1)]
    rows += [[last] * (columns - 1) + [other] for other in (0, None)]
    physical = dict.fromkeys(["id", *names], "INTEGER")
    source = subject.relation(list(physical), list(physical.values()), [[who, *row] for who, row in enumerate(rows)])
    keys = keys_of(names, columns_of(Scan("t"), {"t": table}), listed)
    question = TallyQuery(Scan("t"), keys, (Tally("rows"),))
    relations = {"t": Relation(table, physical, source)}
    assert answered(subject, question, relations) == [(1,)] + [(0,)] * (many - 2) + [(2,)]
    assert len(tallies_sql(question, relations, subject.dialect).sql) < 1_000_000


def test_edges_beyond_all_integers_divide_nothing(subject):
    column = dp.between(-5, 9).named("x")
    table = dp.Table("t", dp.row(), [column])
    relations = {"t": Relation(table, {"x": "INTEGER"}, subject.relation(["x"], ["INTEGER"], [[-5], [0], [9], [None]]))}
    keys = Keys((bins("bin", column, [-(10**60), -5, 0, 10, 10**60]),))
    found = answered(subject, TallyQuery(Scan("t"), keys, (Tally("rows"),)), relations)
    assert found == [(0,), (0,), (1,), (2,), (0,), (0,)]
