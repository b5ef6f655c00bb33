"""Stability: between neighbours no answer changes by more than was claimed, measured in exact integers."""

from itertools import islice

import pytest

import discreet as dp
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Filter, Join, MarkJoin, PersonJoin, Project, Scan, Union, columns_of, public
from discreet.plan.stability import (
    GRAIN,
    MOST_PAIRS,
    Stability,
    UnboundedSensitivity,
    expansion,
    partners,
    rows_before,
    stability,
    unit_of,
    weighed_stability,
)
from discreet.plan.to_sql.rows import rows_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql
from tests.plan import worlds
from tests.plan.relational import SECRET, Data, Oracle
from tests.plan.worlds import Chance

PAIRS, NEIGHBOURS = 2000, 4
# One pair in four in `make test`, all in `make check`.
SHARES = [pytest.param(4, id="a quarter"), pytest.param(1, id="all", marks=pytest.mark.slow)]
OPERATORS = {
    "filter": (["filter"], ("row", "groups", "rows", "table")),
    "derive": (["derive"], ("row", "groups", "rows", "table")),
    "project": (["project"], ("row", "groups", "rows", "table")),
    "join": (["join", "join numbers"], ("row", "groups", "rows", "table")),
    "union": (["union"], ("row", "groups", "rows", "table")),
    "group by": ([], ("row", "groups", "rows", "table")),
    "groups path": ([], ("groups",)),
    "caps path": ([], ("capped",)),
    "capped joins and unions": (["union", "join"], ("capped",)),
    "rows path": ([], ("rows",)),
    "table bound": (["join"], ("table",)),
}
# Operators between two tables of the same people, and of a table with itself; what is built on them has fewer pairs.
MEETINGS = {
    "meet": (["meet"], PAIRS),
    "meet itself": (["meet itself"], PAIRS),
    "meet after a filter": (["filter", "meet"], PAIRS),
    "meet a union": (["meet union"], 400),
    "meet a public join": (["meet public"], 400),
    "meet twice": (["meet twice"], 400),
    "meet outer": (["meet outer"], 400),
    "exists": (["exists"], 400),
    "exists itself": (["exists itself"], 400),
    "exists not": (["exists not"], 400),
    "exists of what met": (["meet", "exists"], 400),
    "project what met": (["meet", "project"], 400),
    "join what met": (["meet", "join"], 400),
    "unite what met": (["meet", "union"], 400),
}
FRESH = {True: 77, False: "77"}


def pairs(name, operators, kinds, many):
    """Yield units, plans, questions and two neighbouring tables; four neighbours for each table."""
    for seed in range(many // NEIGHBOURS):
        chance = Chance(name, seed)
        unit = worlds.unit_of(chance, kinds[seed % len(kinds)])
        data = worlds.table_of(chance, unit, whole=bool(chance.below(2)), people=3)
        plan = worlds.plan_of(chance, operators)
        question = worlds.question_of(chance, plan, {"t": data.table})
        for _ in range(NEIGHBOURS):
            yield unit, question, data, worlds.neighbours(chance, data, unit, FRESH[data.whole])


def breaches(question, unit, one, other, *declared):
    """Return how answers break the claim: nothing, if it holds."""
    tables = {table.name: table for table in declared}
    whole = stability(question.source, unit, tables, groups=bool(question.keys.columns))
    columns, found = columns_of(question.source, tables), []
    for place, tally in enumerate(question.tallies):
        moved = [abs(a[place] - b[place]) for a, b in zip(one, other, strict=True)]
        people = tally.kind == "people" and not unit.is_row
        weighed = question.weighed and not people and not unit.is_row
        most = tally.most(columns) * (GRAIN if weighed else 1)
        claim = weighed_stability(question.source, unit, tables, question.keys) if weighed else whole
        rows, in_one = (claim.l0, 1) if people else (claim.l1, claim.linf)
        squares = claim.l0 if people else claim.l2_squared
        # Weights bound no number of groups, but each that is met moves by one part of a row at least.
        entries = claim.entries * most if weighed else claim.l0
        limits = (entries, in_one * most, rows * most, squares * most**2)
        measured = (sum(map(bool, moved)), max(moved), sum(moved), sum(each**2 for each in moved))
        found += [(tally.kind, m, limit) for m, limit in zip(measured, limits, strict=True) if m > limit]
    return found


def measured(oracle, name, operators, kinds, many):
    """Return how many pairs moved at all, and all breaches."""
    moved, broken, last = 0, [], (None, None)
    for unit, question, data, neighbour in pairs(name, operators, kinds, many):
        if last[0] is not data:
            last = data, oracle.tallied(question, {"t": data}, unit)
        one, other = last[1], oracle.tallied(question, {"t": neighbour}, unit)
        moved += one != other
        broken += breaches(question, unit, one, other, data.table)
    return moved, broken


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", OPERATORS)
def test_no_neighbour_moves_an_answer_beyond_its_claim(name, share):
    moved, broken = measured(Oracle(), name, *OPERATORS[name], PAIRS // share)
    assert broken == []
    assert moved > PAIRS // share // 10


@pytest.mark.parametrize("name", [each for each in OPERATORS if "join" in OPERATORS[each][0]])
def test_no_neighbour_moves_an_answer_beyond_its_claim_where_rows_are_limited_before_a_join(name, monkeypatch):
    monkeypatch.setattr("discreet.plan.stability.MOST_PAIRS", 3)
    moved, broken = measured(Oracle(), name, *OPERATORS[name], PAIRS // 4)
    assert broken == []
    assert moved > PAIRS // 40


def meetings(name):
    """Yield units, questions and two neighbouring worlds of two tables; four neighbours for each."""
    operators, many = MEETINGS[name]
    for seed in range(many // NEIGHBOURS):
        chance = Chance("meetings", name, seed)
        world = worlds.world_of(
            chance, worlds.unit_of(chance, ("groups", "rows", "table", "capped")[seed % 4]), people=2
        )
        tables = {each: data.table for each, data in world.items()}
        plan = worlds.plan_of(chance, operators)
        question, unit = worlds.question_of(chance, plan, tables), unit_of(plan, tables)
        for _ in range(NEIGHBOURS):
            yield unit, question, world, worlds.neighbouring(chance, world, unit)


def met(oracle, name, many=PAIRS):
    """Return how many pairs moved at all, and all breaches."""
    moved, broken, last = 0, [], (None, None)
    for unit, question, world, neighbour in islice(meetings(name), many):
        if last[0] is not world:
            last = world, oracle.tallied(question, world, unit)
        one, other = last[1], oracle.tallied(question, neighbour, unit)
        moved += one != other
        broken += breaches(question, unit, one, other, *(data.table for data in world.values()))
    return moved, broken


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", MEETINGS)
def test_no_neighbour_moves_what_two_tables_say_of_people_beyond_its_claim(name, share):
    many = MEETINGS[name][1] // share
    moved, broken = met(Oracle(), name, many)
    assert broken == []
    assert moved > many // 20


def test_neighbours_who_meet_in_the_engine_stay_within_the_claim_too():
    moved = 0
    with DuckDBEngine(SECRET, threads=1) as engine:
        for unit, question, *both in islice(meetings("meet"), 32):
            answers = []
            for world in both:
                relations = {name: worlds.loaded(engine, data) for name, data in world.items()}
                answers.append(in_order(engine.rows(tallies_sql(question, relations).sql), question))
            assert breaches(question, unit, *answers, *(data.table for data in both[0].values())) == []
            moved += answers[0] != answers[1]
    assert moved


def test_strangers_who_meet_are_caught():
    _, broken = met(Oracle(strangers_meet=True), "meet", 400)
    assert broken


def test_strangers_who_decide_whether_a_row_counts_are_caught():
    chance, world, lacking = Chance("strangers"), {}, {}
    for name in ("t", "u"):
        table = dp.Table(name, dp.person("id", max_rows=3, bound="table"), worlds.COLUMNS)
        who = (1, 2) if name == "t" else (1,)
        rows = [worlds.raw_row(chance, one) for one in who for _ in range(9)]
        world[name], lacking[name] = Data(table, rows), Data(table, [row for row in rows if row["id"] != 1])
    tables = {name: data.table for name, data in world.items()}
    plan = Filter(MarkJoin(Scan("t"), Scan("u"), (), None, "found"), Name("found"))
    question, unit = TallyQuery(plan, NO_KEYS, (Tally("rows"),)), unit_of(plan, tables)
    for oracle, caught in ((Oracle(), False), (Oracle(strangers_meet=True), True)):
        one, other = (oracle.tallied(question, each, unit) for each in (world, lacking))
        assert one != other
        assert bool(breaches(question, unit, one, other, *tables.values())) == caught


def test_rows_without_partners_that_are_kept_twice_are_caught():
    chance, world = Chance("lonely"), {}
    for name, rows in (("t", 3), ("u", 5)):
        table = dp.Table(name, dp.person("id", max_rows=rows, bound="table"), worlds.COLUMNS)
        world[name] = Data(table, [worlds.raw_row(chance, 1) for _ in range(9)] if name == "t" else [])
    nobody = {name: Data(data.table, []) for name, data in world.items()}
    tables = {name: data.table for name, data in world.items()}
    plan = PersonJoin(Scan("t"), Scan("u"), most=1, outer=True)
    question, unit = TallyQuery(plan, NO_KEYS, (Tally("rows"),)), unit_of(plan, tables)
    for oracle, moved in ((Oracle(), 3), (Oracle(lonely_doubled=True), 6), (Oracle(lonely_dropped=True), 0)):
        one, other = (oracle.tallied(question, each, unit) for each in (world, nobody))
        assert (one, other) == ([(moved,)], [(0,)])
        assert bool(breaches(question, unit, one, other, *tables.values())) == (moved > 3)


@pytest.mark.parametrize(("most", "pairs"), [(1, 3), (4, 12), (None, 15)])
def test_partners_without_the_bound_that_was_declared_are_caught(most, pairs):
    chance, world = Chance("partners"), {}
    for name, rows in (("t", 3), ("u", 5)):
        table = dp.Table(name, dp.person("id", max_rows=rows, bound="table"), worlds.COLUMNS)
        world[name] = Data(table, [worlds.raw_row(chance, 1) for _ in range(9)])
    nobody = {name: Data(data.table, []) for name, data in world.items()}
    tables = {name: data.table for name, data in world.items()}
    plan = PersonJoin(Scan("t"), Scan("u"), most=most)
    question, unit = TallyQuery(plan, NO_KEYS, (Tally("rows"),)), unit_of(plan, tables)
    for oracle, moved in ((Oracle(), pairs), (Sociable(), 15)):
        one, other = (oracle.tallied(question, each, unit) for each in (world, nobody))
        assert (one, other) == ([(moved,)], [(0,)])
        assert bool(breaches(question, unit, one, other, *tables.values())) == (moved > pairs)


class Sociable(Oracle):
    """A mutant that keeps all partners of a row."""

    def partners(self, plan, world, unit):
        return self.rows(plan.other, world, unit)


def test_no_neighbour_moves_cells_beyond_the_claim():
    moved = 0
    for unit, question, data, neighbour in pairs("cells", ["join"], ("row", "groups", "rows", "table"), PAIRS):
        claim = stability(question.source, unit, {"t": data.table}, groups=bool(question.keys.columns))
        both = []
        for each in (data, neighbour):
            values = Oracle().values(question.source, question.keys, worlds.X, {"t": each}, unit)
            cells = {}
            for group, value in values:
                cells.setdefault(group, {}).setdefault(value // 3, []).append(value)
            both.append({g: {c: len(v) for c, v in found.items()} for g, found in cells.items()})
        one, other = both
        change = {
            g: sum(abs(one.get(g, {}).get(c, 0) - other.get(g, {}).get(c, 0)) for c in range(-3, 6))
            for g in {*one, *other}
        }
        assert sum(map(bool, change.values())) <= claim.l0
        assert sum(change.values()) <= claim.l1
        moved += any(change.values())
    assert moved > PAIRS // 10


def test_neighbours_through_the_engine_stay_within_the_claim_too():
    with DuckDBEngine(SECRET, threads=1) as engine:
        kinds = ("row", "groups", "rows", "table", "capped")
        for unit, question, data, neighbour in pairs("engine", ["join"], kinds, 60):
            answers = [
                in_order(engine.rows(tallies_sql(question, {"t": worlds.loaded(engine, each)}).sql), question)
                for each in (data, neighbour)
            ]
            assert breaches(question, unit, *answers, data.table) == []


@pytest.mark.parametrize(
    ("unit", "keys", "expected"),
    [
        ({}, 9, (4, 20, 20, 400)),
        ({"max_rows_per_group": 4}, 9, (4, 4, 16, 4 * 16)),
        ({"max_rows_per_group": 4}, 2, (4, 4, 8, 2 * 16)),
        ({"max_rows_per_group": 7}, 9, (4, 7, 20, 2 * 49 + 36)),
        ({"max_rows_per_group": 4, "relation": "replace"}, 2, (8, 8, 16, 4 * 2 * 16)),
        ({"max_rows_per_group": 4}, None, (1, 20, 20, 400)),
    ],
)
def test_weighed_sums_move_by_no_more_than_the_caps_of_the_groups_that_there_are(unit, keys, expected):
    table = dp.Table("t", dp.person("id", max_rows=20, max_groups=4, **unit), {"n": dp.between(0, 99)})
    columns = columns_of(Scan("t"), {"t": table})
    asked = NO_KEYS if keys is None else keys_of(["n"], columns, {"n": [*range(keys)]})
    assert weighed_stability(Scan("t"), table.unit, {"t": table}, asked) == Stability(*expected)


def test_bounding_before_a_fan_out_join_is_caught():
    _, broken = measured(Unbound(bound_before_joins=True), "mutant", ["join"], ("groups", "rows"), 300)
    assert broken


def test_an_order_by_place_in_the_file_is_caught():
    broken = []
    for unit, question, data, neighbour in pairs("index", [], ("rows",), 300):
        cells = [
            Oracle(order_by_index=True).values(question.source, question.keys, worlds.N, {"t": each}, unit)
            for each in (data, neighbour)
        ]
        claim = stability(question.source, unit, {"t": data.table}, groups=bool(question.keys.columns))
        one, other = (sorted(each) for each in cells)
        change = sum(abs(one.count(each) - other.count(each)) for each in {*one, *other})
        broken += [change] if change > claim.l1 else []
    assert broken


class Unbound(Oracle):
    """A mutant that trusts the bounding it did before the joins."""

    def bounded(self, question, groups, unit, whole, rows):
        return super().bounded(question, groups, unit, whole, 10**6)


@pytest.mark.parametrize(
    ("unit", "groups", "expected"),
    [
        (dp.row(), True, Stability(1, 1, 1, 1)),
        (dp.row(relation="replace"), True, Stability(2, 2, 2, 4)),
        (dp.person("id", max_rows=20, max_groups=3), True, Stability(3, 20, 20, 400)),
        (dp.person("id", max_rows=20, max_groups=3), False, Stability(1, 20, 20, 400)),
        (dp.person("id", max_rows=20, max_groups=3, relation="replace"), True, Stability(6, 40, 40, 1600)),
    ],
)
def test_a_scan_is_as_stable_as_its_unit_says(unit, groups, expected):
    assert stability(Scan("t"), unit, {"t": dp.Table("t", unit, worlds.COLUMNS)}, groups) == expected


def test_a_public_join_multiplies_rows_but_not_people_bounded_after_it():
    join = Join(Scan("t"), worlds.WARDS, (("ward", "ward"),))
    for unit, rows in (
        (dp.row(), 2),
        (dp.person("id", max_rows=5), 5),
        (dp.person("id", max_rows=5, bound="table"), 10),
    ):
        assert stability(join, unit, {"t": dp.Table("t", unit, worlds.COLUMNS)}, groups=False).l1 == rows
    assert stability(Union(join, Scan("t")), dp.row(), {"t": dp.Table("t", dp.row(), worlds.COLUMNS)}, False).l1 == 3


JOINED = {
    "query": (dp.person("id", max_rows=20, max_groups=3), dp.person("other", max_rows=50, max_groups=7)),
    "table": (dp.person("id", max_rows=3, bound="table"), dp.person("other", max_rows=5, max_groups=2, bound="table")),
    "replace": (dp.person("id", max_rows=3, relation="replace"), dp.person("id", max_rows=5, relation="replace")),
}
MEET, PUBLIC = PersonJoin(Scan("t"), Scan("u")), Join(Scan("u"), worlds.WARDS, (("ward", "ward"),))


@pytest.mark.parametrize(
    ("kind", "plan", "kept", "expected"),
    [
        ("query", MEET, 50, Stability(7, 50, 50, 2500)),
        ("query", PersonJoin(Scan("t"), Scan("u"), most=2), 2, Stability(7, 40, 40, 1600)),
        ("query", PersonJoin(Scan("u"), Scan("t"), most=99), 20, Stability(7, 50, 50, 2500)),
        ("query", PersonJoin(Scan("t"), Scan("t")), 20, Stability(3, 20, 20, 400)),
        ("table", MEET, 5, Stability(3, 15, 15, 225)),
        ("table", PersonJoin(Scan("t"), Scan("u"), most=2), 2, Stability(3, 6, 6, 36)),
        ("table", PersonJoin(Scan("t"), Scan("u"), most=99), 5, Stability(3, 15, 15, 225)),
        ("table", PersonJoin(Scan("u"), Scan("u")), 5, Stability(2, 25, 25, 625)),
        ("table", PersonJoin(Union(Scan("t"), Scan("t")), PUBLIC), 10, Stability(3, 60, 60, 3600)),
        ("table", PersonJoin(Project(Filter(Scan("t"), worlds.ILL), (("n", "n"),)), Scan("u")), 5, None),
        ("replace", MEET, 5, Stability(10, 10, 10, 100)),
    ],
)
def test_a_join_of_people_reaches_as_far_as_their_rows_in_both_tables(kind, plan, kept, expected):
    tables = {name: dp.Table(name, unit, worlds.COLUMNS) for name, unit in zip("tu", JOINED[kind], strict=True)}
    assert partners(plan, tables) == kept
    unit = unit_of(plan, tables)
    assert stability(plan, unit, tables, groups=True) == (expected or Stability(3, 15, 15, 225))


def test_a_question_may_lower_what_a_join_reaches_and_not_raise_it():
    tables = {name: dp.Table(name, unit, worlds.COLUMNS) for name, unit in zip("tu", JOINED["query"], strict=True)}
    lower, higher = (dp.person("id", max_rows=rows, max_groups=2) for rows in (9, 51))
    assert stability(MEET, lower, tables, groups=True) == Stability(2, 9, 9, 81)
    with pytest.raises(UnboundedSensitivity):
        stability(MEET, higher, tables, groups=True)


def test_a_long_chain_of_joins_is_settled_at_once():
    tables = {"t": dp.Table("t", dp.person("id", max_rows=2, bound="table"), worlds.COLUMNS)}
    left = right = Scan("t")
    for _ in range(60):
        left, right = PersonJoin(left, Scan("t")), PersonJoin(Scan("t"), right)
    assert unit_of(left, tables).max_rows == unit_of(right, tables).max_rows == 2**61


def test_partners_multiply_over_all_joins_of_a_plan_public_and_private():
    tables = {"t": dp.Table("t", dp.person("id", max_rows=5), {"k": dp.between(0, 9)})}
    wards = public("wards", {"k": [1, 1, 1, 2, None], "floor": [1, 2, 3, 4, 5]})
    once = Join(Scan("t"), wards, (("k", "k"),))
    twice = Join(Project(once, (("k", "k"),)), wards, (("k", "k"),))
    met = PersonJoin(twice, Project(once, (("n", "floor"),)), (), 4, (("n", "n"),))
    plans = (Scan("t"), once, twice, met, Union(Project(once, (("k", "k"),)), Scan("t")))
    assert [expansion(plan, tables) for plan in plans] == [1, 3, 9, 36, 3]
    assert expansion(Join(Scan("t"), public("none", {"k": [12], "x": [1]}), (("k", "k"),)), tables) == 1


@pytest.mark.parametrize(
    ("unit", "most", "kept"),
    [
        (dp.person("id", max_rows=5), 1, None),
        (dp.person("id", max_rows=5), 400, 25),
        (dp.person("id", max_rows=5), 10_000, 5),
        (dp.person("id", max_rows=5, bound="table"), 400, None),
        (dp.row(), 400, None),
    ],
)
def test_rows_of_a_person_are_limited_before_they_meet_partners_where_they_are_bounded_after(unit, most, kept):
    assert rows_before(Scan("t"), most, {"t": dp.Table("t", unit, {"k": dp.between(0, 9)})}) == kept


def test_one_person_makes_no_more_rows_than_partners_allow_whatever_they_have():
    data = Data(dp.Table("t", dp.person("id", max_rows=2), {"n": dp.between(0, 9)}), [], whole=True)
    codes = public("codes", {"n": [1] * 100, "x": list(range(100))})
    plan = Join(Project(Join(Scan("t"), codes, (("n", "n"),)), (("n", "n"),)), codes, (("n", "n"),))
    relation = Relation(data.table, {"id": "BIGINT", "n": "BIGINT"}, "(SELECT 7 AS id, 1 AS n FROM range(500))")
    with DuckDBEngine(SECRET, threads=1) as engine:
        sql = rows_sql(plan, {"t": relation}, data.table.unit, DUCKDB)
        assert engine.rows(f"SELECT count(*) FROM ({sql})") == [(MOST_PAIRS,)]


def test_tables_with_different_units_are_not_asked_together():
    tables = {
        "t": dp.Table("t", dp.row(), worlds.COLUMNS),
        "u": dp.Table("u", dp.person("id", max_rows=2), worlds.COLUMNS),
    }
    with pytest.raises(UnboundedSensitivity) as refused:
        stability(Union(Scan("t"), Scan("u")), dp.row(), tables, groups=False)
    assert refused.value.value == "u"


def test_disjoint_rows_of_one_person_reach_many_groups():
    unit = dp.person("id", max_rows=4)
    chance = Chance("disjoint")
    data = Data(dp.Table("t", unit, worlds.COLUMNS), [worlds.raw_row(chance, 1) for _ in range(50)])
    question = TallyQuery(Scan("t"), keys_of(("ward",), worlds.COLUMNS), (Tally("rows"),))
    with_one = Oracle().tallied(question, {"t": data}, unit)
    assert sum(rows > 0 for (rows,) in with_one) > 1
    assert stability(Scan("t"), unit, {"t": data.table}, groups=True).l0 == 4
    assert Oracle().tallied(TallyQuery(Scan("t"), NO_KEYS, (Tally("rows"),)), {"t": data}, unit) == [(4,)]
