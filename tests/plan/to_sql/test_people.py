"""People: one row for each, of values within the bounds that were derived, whatever their rows are."""

import itertools

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Filter, PersonJoin, Scan, columns_of
from discreet.plan.person_plans import people_plan
from discreet.plan.stability import reach, unit_of
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql
from discreet.plan.to_sql.tally_tables import tallied
from tests.plan import worlds
from tests.plan.relational import SECRET, Oracle
from tests.plan.worlds import Chance

WIDE = worlds.N * 10**17
ASKED = {
    "n": dp.count(),
    "noted": dp.count(worlds.NOTE),
    "total": dp.sum(worlds.X),
    "clamped": dp.sum(worlds.N - 300, per_person=(-50, 900)),
    "wide": dp.sum(WIDE),
    "mean": dp.mean(worlds.X),
    "mean_wide": dp.mean(WIDE),
    "first": dp.min(worlds.DAY),
    "most": dp.max(worlds.X),
}
VALUES = [name for name in ASKED if name not in ("n", "noted", "first")]
TALLIES = (
    *(Tally("rows"), Tally("people"), Tally("sum", (Name("first"),))),
    *(Tally("sum", (Name(name),)) for name in ("n", "noted", *VALUES)),
    *(Tally("present", (Name(name),)) for name in VALUES),
)


def people_of(plan, tables, **asked):
    return people_plan(plan, (asked or ASKED).items(), tables)


def question_of(plan, tables, keyed=True):
    columns = columns_of(plan, tables)
    keys = keys_of(("noted",), columns) if keyed else NO_KEYS
    return TallyQuery(plan, keys, TALLIES)


@pytest.fixture(scope="module")
def engine():
    with DuckDBEngine(SECRET, threads=2) as found:
        yield found


@pytest.mark.parametrize("kind", ["groups", "rows", "table"])
@pytest.mark.parametrize("operators", [[], ["filter", "derive"], ["join"], ["union"], ["meet"]], ids=" ".join)
def test_the_rows_of_people_are_those_of_the_reference(engine, kind, operators):
    chance = Chance("people", kind, operators)
    world = worlds.world_of(chance, worlds.unit_of(chance, kind))
    tables = {name: data.table for name, data in world.items()}
    plan = people_of(worlds.plan_of(chance, operators), tables)
    relations = {name: worlds.loaded(engine, data) for name, data in world.items()}
    unit = unit_of(plan, tables)
    for narrowed in (plan, Filter(plan, Name("total") > 1)):
        question = question_of(narrowed, tables, keyed=narrowed is plan)
        found = opened(tallied(engine, question, relations))
        assert found == Oracle().tallied(question, world, unit)


def test_people_are_joined_with_rows_and_with_one_another(engine):
    chance = Chance("people meet")
    world = worlds.world_of(chance, dp.person("id", max_rows=3))
    tables = {name: data.table for name, data in world.items()}
    relations = {name: worlds.loaded(engine, data) for name, data in world.items()}
    one, other = (people_of(Scan(name), tables, n=dp.count(), total=dp.sum(worlds.X)) for name in "tu")
    plans = (
        PersonJoin(Scan("t"), one, columns=(("mine", "total"),)),
        PersonJoin(one, Scan("u"), columns=(("mine", "x"),)),
        PersonJoin(one, other, columns=(("mine", "n"),)),
    )
    for plan in plans:
        question = TallyQuery(plan, NO_KEYS, (Tally("rows"), Tally("sum", (Name("mine"),))))
        found = opened(tallied(engine, question, relations))
        assert found == Oracle().tallied(question, world, unit_of(plan, tables))
    # One person has one row in both, and as many as they have in the table that they are joined with.
    assert [reach(plan, unit_of(plan, tables), tables) for plan in plans] == [3, tables["u"].unit.max_rows, 1]


TINY = [("A", 3), ("A", -2), ("B", 2), (None, 3), ("B", None)]
COLUMNS = {"g": dp.one_of("A", "B"), "x": dp.between(-2, 3)}


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("bound", ["query", "table"])
def test_no_neighbour_of_a_tiny_table_has_more_than_one_row_of_people_more(engine, relation, bound):
    unit = dp.person("id", max_rows=2, relation=relation, bound=bound)
    tables = {"t": dp.Table("t", unit, COLUMNS)}
    asked = {"n": dp.count(), "s": dp.sum("x"), "c": dp.sum("x", per_person=(-1, 4)), "m": dp.mean("x")}
    plan = people_of(Scan("t"), tables, **asked)
    columns = columns_of(plan, tables)
    assert {name: column.steps for name, column in columns.items()} == {
        "n": (0, 2),
        "s": (-4, 6),
        "c": (-1, 4),
        "m": (-200, 300),
    }
    tallies = (Tally("rows"), Tally("people"), *(Tally("sum", (Name(name),)) for name in columns))
    grouped, whole = (TallyQuery(plan, keys, tallies) for keys in (keys_of(("n",), columns), NO_KEYS))

    def answered(people, question):
        listed = [(who, g, x) for who, mine in people for g, x in mine] or [("NULL", None, None)]
        written = (f"({who}, {'NULL' if g is None else repr(g)}, {'NULL' if x is None else x})" for who, g, x in listed)
        physical = {"id": "BIGINT", "g": "VARCHAR", "x": "INTEGER"}
        source = f'(VALUES {", ".join(written)}) AS r("id", "g", "x")'
        relation = Relation(tables["t"], physical, source)
        return in_order(engine.rows(tallies_sql(question, {"t": relation}).sql), question)

    mine = [found for size in range(4) for found in itertools.combinations_with_replacement(TINY, size)]
    times = 1 if relation == "add_remove" else 2
    for number, (one, other) in enumerate([*zip(mine, mine[7:] + mine[:7], strict=True)][::2]):
        base = [(7, mine[(5 * number) % len(mine)])]
        pair = [*base, (1, one)], [*base, (1, other)] if relation == "replace" else base
        for question in (grouped, whole):
            before, after = (answered(people, question) for people in pair)
            lines = zip(before, after, strict=True)
            moved = [[b - a for a, b in zip(first, second, strict=True)] for first, second in lines]
            assert sum(map(any, moved)) <= times
            for place, tally in enumerate(tallies):
                assert sum(abs(each[place]) for each in moved) <= times * tally.most(columns)


def test_rows_without_an_identifier_are_nobody(engine):
    tables = {"t": dp.Table("t", dp.person("id", max_rows=2), COLUMNS)}
    plan = people_of(Scan("t"), tables, n=dp.count())
    source = "(VALUES (NULL, 'A', 3), (NULL, 'B', 3), (1, 'A', 1)) AS r(\"id\", \"g\", \"x\")"
    relation = Relation(tables["t"], {"id": "BIGINT", "g": "VARCHAR", "x": "INTEGER"}, source)
    question = TallyQuery(plan, NO_KEYS, (Tally("rows"), Tally("people")))
    assert opened(tallied(engine, question, {"t": relation})) == [(1, 1)]
