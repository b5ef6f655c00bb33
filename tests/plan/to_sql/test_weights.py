"""Weights: what each row of a person counts for, by brute force over tiny tables, and as engines keep it."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import ORDER_TABLE
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Filter, Join, PersonJoin, Scan, columns_of, public
from discreet.plan.stability import GRAIN, stability, unit_of, weighed_stability
from discreet.plan.to_sql.cells import CellRequest, cells
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql
from tests.plan.relational import SECRET

COLUMNS = {"g": dp.one_of("A", "B"), "x": dp.between(-2, 3)}
PHYSICAL = {"id": "INTEGER", "g": "VARCHAR", "x": "INTEGER"}
TALLIES = (Tally("rows"), Tally("sum", (Name("x"),)), Tally("present", (Name("x"),)), Tally("people"))
SCAN = Scan("t")
FLOORS = public("floors", {"g": ["A", "A", "B"], "floor": [1, 2, 1]})


@pytest.fixture(scope="module")
def engine():
    with DuckDBEngine(SECRET, threads=1) as found:
        yield found


def relation(rows, name="t", **unit):
    """Rows of (person, group, value), as a relation of their own."""
    listed = ", ".join(f"({sql(who)}::INTEGER, {sql(group)}, {sql(x)}::INTEGER)" for who, group, x in rows)
    table = dp.Table(name, dp.person("id", **{"max_rows": 2, **unit}), COLUMNS)
    source = f"(VALUES {listed or '(NULL::INTEGER, NULL::VARCHAR, NULL::INTEGER)'}) AS v(id, g, x)"
    return Relation(table, PHYSICAL, source if rows else f"(SELECT * FROM {source} WHERE false)")


def sql(value):
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def asked(plan=SCAN, tallies=TALLIES, keyed=True, tables=None):
    columns = columns_of(plan, tables or {"t": relation([(1, "A", 1)]).table})
    return TallyQuery(plan, keys_of(["g"], columns) if keyed else NO_KEYS, tallies, weighed=True)


def found(engine, question, *relations, remembering=False):
    known = {each.table.name: each for each in relations}
    statement = tallies_sql(question, known, engine=engine if remembering else None).sql
    return in_order(engine.rows(statement), question)


def test_each_row_weighs_its_share_rounded_down(engine):
    rows = [(1, "A", 3), (1, "B", 3), (1, "B", None), (2, "A", 1)]
    third = 2 * GRAIN // 3
    assert found(engine, asked(), relation(rows)) == [
        (third + GRAIN, 3 * third + GRAIN - -2 * (third + GRAIN), third + GRAIN, 2),
        (2 * third, (3 - -2) * third, third, 1),
    ]
    assert third * 3 < 2 * GRAIN  # rounded down, so that no person's weights add up to more


def test_a_row_without_an_identifier_weighs_nothing(engine):
    rows = [(1, "A", 3), *[(None, "A", 3)] * 5]
    assert found(engine, asked(), relation(rows))[0][:3] == (GRAIN, 5 * GRAIN, GRAIN)


def test_no_order_and_no_secret_decides_what_a_row_weighs():
    assert ORDER_TABLE not in tallies_sql(asked(tallies=TALLIES[:3]), {"t": relation([(1, "A", 3)])}).sql


def every_person(rows):
    """All sets of up to so many rows that one person may have, of two groups and three values."""
    kinds = [(1, group, x) for group, x in product(["A", "B", None], [-2, None, 3])]
    for many in range(rows + 1):
        yield from combinations_with_replacement(kinds, many)


def moved(engine, question, others, mine, **unit):
    one, other = (found(engine, question, relation([*others, *rows], **unit)) for rows in (mine, []))
    return [[a - b for a, b in zip(*each, strict=True)] for each in zip(one, other, strict=True)]


@pytest.mark.parametrize("max_rows", [1, 2])
def test_no_person_moves_weighed_sums_beyond_the_claim_whatever_their_rows(engine, max_rows):
    others, tables = [(2, "A", 3), (2, "B", -2), (2, "B", 1), (None, "A", 3)], {"t": relation([]).table}
    question = asked()
    claim = stability(
        question.source, dp.person("id", max_rows=max_rows), {"t": relation([], max_rows=max_rows).table}, True
    )
    most = [tally.most(columns_of(Scan("t"), tables)) for tally in question.tallies]
    reached = [0, 0, 0]
    for mine in every_person(3):
        changes = moved(engine, question, others, mine, max_rows=max_rows)
        for place in range(3):
            column = [abs(each[place]) for each in changes]
            assert sum(column) <= claim.l1 * GRAIN * most[place]
            assert sum(each**2 for each in column) <= claim.l2_squared * (GRAIN * most[place]) ** 2
            reached[place] = max(reached[place], sum(column))
    # The claim is met: noise for less would be too little.
    assert reached == [claim.l1 * GRAIN * each for each in most[:3]]


CAPS = [(max_rows, groups, cap) for max_rows in (2, 3) for groups in (1, 2) for cap in (1, 2) if groups <= max_rows]


@pytest.mark.parametrize(("max_rows", "max_groups", "cap"), CAPS)
def test_no_person_moves_capped_sums_beyond_the_claim_whatever_their_rows(engine, max_rows, max_groups, cap):
    others, unit = (
        [(2, "A", 3), (2, "B", -2), (None, "A", 3)],
        {
            "max_rows": max_rows,
            "max_groups": max_groups,
            "max_rows_per_group": cap,
        },
    )
    tables = {"t": relation([], **unit).table}
    question = asked(tallies=TALLIES[:3], tables=tables)
    claim = weighed_stability(question.source, tables["t"].unit, tables, question.keys)
    most = [tally.most(columns_of(SCAN, tables)) for tally in question.tallies]
    rows = reached = squares = 0
    before = found(engine, question, relation(others, **unit))
    for many in range(1, 5):
        for groups in combinations_with_replacement(["A", "B", None], many):
            after = found(engine, question, relation([*others, *((1, group, 3) for group in groups)], **unit))
            changes = [[a - b for a, b in zip(*each, strict=True)] for each in zip(after, before, strict=True)]
            for place in range(3):
                column = [abs(each[place]) for each in changes]
                assert max(column) <= claim.linf * GRAIN * most[place]
                assert sum(column) <= claim.l1 * GRAIN * most[place]
                assert sum(each**2 for each in column) <= claim.l2_squared * (GRAIN * most[place]) ** 2
            rows = max(rows, *(abs(each[0]) for each in changes))
            reached = max(reached, sum(abs(each[0]) for each in changes))
            squares = max(squares, sum(each[0] ** 2 for each in changes))
    assert claim.l1 == min(max_rows, cap * max_groups)
    # The claim is met: noise for less would be too little.
    assert (rows, reached) == (claim.linf * GRAIN, claim.l1 * GRAIN)
    assert squares == claim.l2_squared * GRAIN**2


def test_capped_rows_of_a_group_weigh_alike_and_the_caps_are_filled_first(engine):
    # Five rows of A and one of B, of which two and one count: three of at most four.
    rows = [(1, "A", 1)] * 5 + [(1, "B", 1), (1, None, 1), (None, "A", 1)]
    capped = {"max_rows": 4, "max_rows_per_group": 2}
    fifth = 2 * GRAIN // 5
    assert found(engine, asked(tallies=TALLIES[:1]), relation(rows, **capped)) == [(5 * fifth,), (GRAIN,)]
    # In one group at most, two rows count: shared in proportion to what was taken of each.
    few = relation(rows, **capped, max_groups=1)
    assert found(engine, asked(tallies=TALLIES[:1]), few) == [(5 * (4 * GRAIN // 15),), (2 * GRAIN // 3,)]
    # Without groups a person has as many rows as in all of them, and rows in no group count too.
    whole = found(engine, asked(tallies=TALLIES[:1], keyed=False), relation(rows, **capped))
    assert whole == [(7 * (4 * GRAIN // 7),)]


def test_people_are_counted_beside_capped_rows(engine):
    rows = [(1, "A", 1)] * 5 + [(2, "A", 1), (2, "B", 1)]
    capped = relation(rows, max_rows=4, max_rows_per_group=1)
    assert found(engine, asked(tallies=(TALLIES[0], TALLIES[3])), capped) == [(5 * (GRAIN // 5) + GRAIN, 2), (GRAIN, 1)]


def test_a_public_join_multiplies_rows_before_they_are_weighed(engine):
    rows = [(1, "A", 1), (1, "B", 1)]
    plan = Join(Scan("t"), FLOORS, (("g", "g"),))
    # Two partners for the first row and one for the second: three rows, of which two count.
    assert found(engine, asked(plan, TALLIES[:1]), relation(rows)) == [(2 * (2 * GRAIN // 3),), (2 * GRAIN // 3,)]
    kept = found(engine, asked(plan, TALLIES[:1]), relation(rows, bound="table"))
    assert kept == [(2 * GRAIN,), (GRAIN,)]  # bounded before: each row kept is whole, and the claim is 2 x 2 rows
    assert (
        stability(plan, relation([], bound="table").table.unit, {"t": relation([], bound="table").table}, True).l1 == 4
    )


def test_pairs_of_a_person_are_weighed_as_pairs(engine):
    one = relation([(1, "A", 1)] * 3 + [(2, "A", 1)])
    other = relation([(1, "B", 1)] * 2, "u")
    tables = {"t": one.table, "u": other.table}
    plan = PersonJoin(Scan("t"), Scan("u"), (), None, ())
    pairs = found(engine, asked(plan, TALLIES[:1], keyed=False, tables=tables), one, other)
    assert pairs == [(6 * (2 * GRAIN // 6),)]
    assert unit_of(plan, tables).max_rows == 2


def test_a_filter_comes_before_the_weights_and_groups_come_after(engine):
    rows = [(1, "A", 3), (1, "A", 0), (1, "B", 3), (1, None, 3)]
    all_of_them, some = asked(tallies=TALLIES[:1]), asked(Filter(Scan("t"), Name("x") > 0), TALLIES[:1])
    assert found(engine, all_of_them, relation(rows)) == [(GRAIN,), (GRAIN // 2,)]
    assert found(engine, some, relation(rows)) == [(2 * GRAIN // 3,), (2 * GRAIN // 3,)]


def test_kept_rows_are_whole_since_parts_of_a_table_are_charged_by_whole_rows(engine):
    """Where one row of a person is kept, the parts of a partition cost what one of them does (`Partition`)."""
    rows, met = [(1, "A", 1), (1, "B", 1)], []
    kept = relation(rows, max_rows=1, bound="table")
    for group in ("A", "B"):
        part = Filter(SCAN, Name("g") == group)
        counted = found(engine, asked(part, TALLIES[:1], keyed=False), kept)[0][0]
        with cells(engine, part, NO_KEYS, Name("x"), {"t": kept}) as count:
            (ranked,) = opened(count([CellRequest(0, -2, 6, 1)]))
        met.append((counted, sum(ranked.values()) * GRAIN))
    # What is counted and what is ranked is the same row: whatever either part is asked, a person meets one of them.
    assert sorted(met) == [(0, 0), (GRAIN, GRAIN)]
    # Weights of all rows would put half a row into each part: one part counted and the other ranked, that is 3/2.
    weights = [counted for (counted,) in found(engine, asked(tallies=TALLIES[:1]), relation(rows, max_rows=1))]
    assert max(weights[1 - place] + ranked for place, (_, ranked) in enumerate(met)) == 3 * GRAIN // 2


def test_a_bound_beyond_any_table_weighs_every_row_whole(engine):
    rows = [(1, "A", 3)] * 4
    assert found(engine, asked(tallies=TALLIES[:1]), relation(rows, max_rows=2**60))[0] == (4 * GRAIN,)
    assert found(engine, asked(tallies=TALLIES[:1]), relation(rows, max_rows=2**39))[0] == (4 * GRAIN,)


def test_sums_too_wide_for_weights_are_refused_before_anything_is_read():
    wide = dp.Table("t", dp.person("id", max_rows=1), {"x": dp.between(0, 2**66)})
    known = {"t": Relation(wide, {"id": "INTEGER", "x": "HUGEINT"}, "t")}
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("sum", (Name("x"),)),))
    tallies_sql(question, known)
    with pytest.raises(dp.Refusal, match="126 bits"):
        tallies_sql(TallyQuery(question.source, NO_KEYS, question.tallies, weighed=True), known)


def test_remembered_weights_give_the_same_answer_and_never_that_of_another_question():
    rows = [(who % 7, "AB"[who % 2], who % 6 - 2) for who in range(60)]
    plans = [Scan("t"), Filter(Scan("t"), Name("x") > 0), Filter(Scan("t"), Name("x") > 1)]
    with DuckDBEngine(SECRET, threads=1) as engine:
        for _ in range(2):
            for plan, tallies, most in product(plans, (TALLIES, TALLIES[1:2]), (1, 2, 3)):
                question, table = asked(plan, tallies), relation(rows, max_rows=most)
                fresh = found(engine, question, table)
                assert found(engine, question, table, remembering=True) == fresh
                assert found(engine, question, table, remembering=True) == fresh
        kept = engine.rows("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE '~remembered%'")
        assert kept == [(8,)]  # the oldest made room


def test_remembered_weights_are_read_and_not_found_anew():
    rows, question = [(1, "A", 3)] * 3, asked(tallies=TALLIES[:1])
    with DuckDBEngine(SECRET, threads=1) as engine:
        engine.run("CREATE TABLE source AS SELECT 1 AS id, 'A' AS g, 3 AS x FROM range(3)")
        table = Relation(relation(rows).table, PHYSICAL, "source")
        first = found(engine, question, table, remembering=True)
        engine.run("DROP TABLE source")
        assert found(engine, question, table, remembering=True) == first
        with pytest.raises(dp.Refusal):
            found(engine, question, table)


def test_a_table_declared_to_be_large_is_not_kept_twice():
    table = dp.Table("t", dp.person("id", max_rows=2), COLUMNS, rows=50_000_001)
    known = Relation(table, PHYSICAL, relation([(1, "A", 3)] * 3).from_sql)
    with DuckDBEngine(SECRET, threads=1) as engine:
        assert found(engine, asked(tallies=TALLIES[:1]), known, remembering=True)[0] == (3 * (2 * GRAIN // 3),)
        assert engine.rows("SELECT count(*) FROM duckdb_tables()") == [(0,)]


def test_an_engine_that_keeps_nothing_is_asked_for_the_whole_statement():
    class Forgetful:
        def remembered(self, sql, made=None):
            return f"({sql})"

    known = {"t": relation([(1, "A", 3)])}
    statement = tallies_sql(asked(), known, DUCKDB, None, Forgetful())
    assert statement == tallies_sql(asked(), known)


def test_a_person_is_worth_at_most_the_bound_for_any_number_of_rows():
    for most, many in product((1, 2, 3, 7, 20), range(1, 400)):
        weight = min(GRAIN, most * GRAIN // many)
        assert many * weight <= most * GRAIN
        assert many * weight > (most * GRAIN - many if many > most else many * GRAIN - 1)
        assert Fraction(weight, GRAIN) <= Fraction(most, many) or many <= most


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("tallies", [TALLIES[3:], TALLIES[:1], TALLIES[2:], TALLIES])
def test_any_of_the_tallies_may_be_asked_for_alone_of_what_is_remembered(keyed, tallies):
    rows = relation([(1, "A", 3), (1, "A", 2), (1, "B", None), (2, "B", 1)])
    question = asked(tallies=tallies, keyed=keyed)
    with DuckDBEngine(SECRET, threads=1) as engine:
        assert found(engine, question, rows, remembering=True) == found(engine, question, rows)
