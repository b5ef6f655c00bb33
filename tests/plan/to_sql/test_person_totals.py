"""Totals of people: clamped person by person, in as many groups as were declared, whatever the rows."""

import itertools

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import Refusal
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.mechanisms import PersonTotal
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan
from discreet.plan.stability import groups_of_one, unit_of
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.tally_tables import tallied
from tests.plan import worlds
from tests.plan.relational import SECRET, Data, Oracle
from tests.plan.totals import totalled
from tests.plan.worlds import Chance

KINDS = ("groups", "rows", "table")
OPERATORS = ([], ["filter", "derive"], ["join"], ["union"], ["meet", "project"])
TOTALS = [
    Tally("total", (worlds.X,), (-4, 9)),
    Tally("total", (worlds.N,), (0, 700)),
    Tally("total", (worlds.N - 400,), (-600, -5)),
    Tally("total", (worlds.N * 10**18,), (-(10**18), 3 * 10**20)),
]
COLUMNS = {"g": dp.one_of("A", "B"), "x": dp.between(-2, 3)}
TINY = [("A", 3), ("A", -2), ("B", 2), (None, 3), ("B", None)]
CLAMPS = ((0, 2), (-4, 1), (1, 5), (-3, -1))


@pytest.fixture(scope="module")
def engine():
    with DuckDBEngine(SECRET, threads=2) as found:
        yield found


def answered(engine, question, relations, unit=None):
    return opened(tallied(engine, question, relations, unit=unit))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operators", OPERATORS, ids=lambda operators: " ".join(operators) or "scan")
def test_totals_are_those_of_the_reference(engine, kind, operators):
    for seed in range(2):
        chance = Chance("totals", kind, operators, seed)
        world = worlds.world_of(chance, worlds.unit_of(chance, kind))
        tables = {name: data.table for name, data in world.items()}
        plan = worlds.plan_of(chance, operators)
        keys = worlds.keys_among(chance, worlds.columns_of(plan, tables))
        question = TallyQuery(plan, keys, (chance.choice(TOTALS), chance.choice(TOTALS)))
        relations = {name: worlds.loaded(engine, data) for name, data in world.items()}
        unit = unit_of(plan, tables)
        assert answered(engine, question, relations) == totalled(Oracle(), question, world, unit)


def test_tallies_of_rows_and_totals_come_in_the_order_in_which_they_were_asked_for(engine):
    chance = Chance("mixed")
    data = worlds.table_of(chance, dp.person("id", max_rows=3))
    relations, keys = {"t": worlds.loaded(engine, data)}, keys_of(("ward",), worlds.COLUMNS)
    mixed = (TOTALS[1], Tally("rows"), TOTALS[0], Tally("sum", (worlds.N,)))
    found = answered(engine, TallyQuery(Scan("t"), keys, mixed), relations)
    for place, tally in enumerate(mixed):
        alone = answered(engine, TallyQuery(Scan("t"), keys, (tally,)), relations)
        assert [row[place] for row in found] == [each for (each,) in alone]


def tables_of_one():
    """What one person may have in a tiny table: up to three rows."""
    for size in range(4):
        yield from itertools.combinations_with_replacement(TINY, size)


def tiny(unit, people):
    rows = [{"id": who, "g": g, "x": x} for who, mine in people for g, x in mine]
    return Data(dp.Table("t", unit, COLUMNS), rows)


def moved(engine, unit, question, one, other):
    """How far the integers of two tables lie apart, tally by tally."""
    found = []
    for people in (one, other):
        values = ", ".join(
            f"({who!r}, {'NULL' if g is None else repr(g)}, {'NULL' if x is None else x})"
            for who, mine in people
            for g, x in mine
        )
        source = f'(VALUES {values or "(0, NULL, NULL)"}) AS r("id", "g", "x")'
        relation = Relation(tiny(unit, ()).table, {"id": "BIGINT", "g": "VARCHAR", "x": "INTEGER"}, source)
        found.append(answered(engine, question, {"t": relation}))
    rows = [[b - a for a, b in zip(first, second, strict=True)] for first, second in zip(*found, strict=True)]
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_no_neighbour_of_a_tiny_table_moves_the_totals_further_than_the_noise_was_made_for(
    engine, groups, grouped, relation
):
    unit = dp.person("id", max_rows=2, max_groups=groups, relation=relation)
    keys = keys_of(("g",), {name: column.named(name) for name, column in COLUMNS.items()}) if grouped else NO_KEYS
    question = TallyQuery(Scan("t"), keys, tuple(Tally("total", (Name("x"),), clamp) for clamp in CLAMPS))
    most = groups_of_one(unit.max_rows, unit, keys)
    ours = [*tables_of_one()]
    theirs = ours[::9] if relation == "replace" else [()]
    largest = [[0, 0] for _ in CLAMPS]
    for number, mine in enumerate(ours if relation == "add_remove" else ours[::6]):
        for other in theirs:
            base = [(7, ours[(5 * number) % len(ours)])]
            pair = [*base, (1, mine)], [*base, (1, other)] if other else base
            for place, column in enumerate(moved(engine, unit, question, *pair)):
                low, high = CLAMPS[place]
                ((noise, _),) = PersonTotal(low=low, high=high, epsilon=1, groups=most, relation=relation).noises
                sizes = sum(map(abs, column)), sum(each**2 for each in column)
                assert sum(map(bool, column)) <= noise.sensitivity.l0
                assert sizes[0] <= noise.sensitivity.l1
                assert sizes[1] <= noise.sensitivity.l2_squared
                largest[place] = [max(pair) for pair in zip(largest[place], sizes, strict=True)]
    if (relation, most) == ("add_remove", 1):  # no noise is wasted: the farther bound is reached, both ways
        assert [l1 for l1, _ in largest] == [max(map(abs, clamp)) for clamp in CLAMPS]


def test_rows_without_an_identifier_and_values_that_are_missing_add_nothing(engine):
    unit = dp.person("id", max_rows=2)
    table = dp.Table("t", unit, COLUMNS)
    rows = "(NULL, 'A', 3), (NULL, 'A', 3), (1, 'A', NULL), (2, 'A', 1), (2, 'A', 1), (2, 'A', 1)"
    relation = Relation(
        table, {"id": "BIGINT", "g": "VARCHAR", "x": "INTEGER"}, f'(VALUES {rows}) AS r("id", "g", "x")'
    )
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("total", (Name("x"),), (2, 9)),))
    assert answered(engine, question, {"t": relation}) == [(3,)]


def test_totals_that_might_not_fit_are_refused(engine):
    table = dp.Table("t", dp.person("id", max_rows=2), {"x": dp.between(0, 10**30)})
    relation = Relation(table, {"id": "BIGINT", "x": "BIGINT"}, "nowhere")
    for of, within in ((Name("x"), (0, 5)), (Name("x").clip(0, 9), (0, 10**30))):
        with pytest.raises(Refusal, match="126 bits"):
            tallied(engine, TallyQuery(Scan("t"), NO_KEYS, (Tally("total", (of,), within),)), {"t": relation})
