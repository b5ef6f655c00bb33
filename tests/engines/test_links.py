"""Linked tables, on every engine: whose a row is, what a person changes, and references that lead nowhere."""

from dataclasses import replace

import pytest

from discreet.plan.nodes import Scan
from discreet.plan.referents import most_partners
from discreet.plan.stability import GRAIN, reach, stability, unit_of
from discreet.plan.to_sql.owners import person_of, repeated_sql
from tests.neighbours.schemas import NOBODY, Draw, asked, looked_up, lookups, random_schema, text_of

ROUNDS = {"duckdb": 4, "postgres": 2}


def schemas(subject, first=0, **others):
    for seed in range(first, first + ROUNDS.get(subject.name, 1)):
        yield random_schema(seed, subject.lacks, **others), Draw(seed)


def limits_of(schema, draw, rows=(1, 2, 3, 20)):
    found = [draw.one(rows) for _ in schema.tables]
    return [(each, draw.number(1, each)) for each in found]


@pytest.mark.parametrize("repeated", [False, True], ids=["unique", "repeated"])
def test_a_linked_table_answers_as_one_with_the_identifier_written_into_it(subject, repeated):
    for schema, draw in schemas(subject, repeated=repeated):
        limits = limits_of(schema, draw)
        linked, by_hand = schema.linked(subject, limits), schema.by_hand(subject, limits)
        assert asked(subject, linked) == asked(subject, by_hand), (schema, limits)


@pytest.mark.parametrize("behind", [False, True], ids=["all their rows", "rows that refer to theirs stay"])
def test_a_person_of_a_linked_schema_changes_no_more_than_is_claimed(subject, behind):
    moved = 0
    for schema, draw in schemas(subject, 100):
        limits = limits_of(schema, draw)
        most = max(limits[0][0], limits[-1][0])
        owners = schema.owners()
        # First those who have most rows in the last table, which every engine is asked about.
        people = sorted(
            {owner for mine in owners for owner in mine} - {NOBODY}, key=lambda p: (-owners[-1].count(p), str(p))
        )
        full = asked(subject, schema.linked(subject, limits))
        # Where one pair takes long it is that of the person with most rows, so that something moves.
        last = schema.owners()[-1]
        people = people[:2] if subject.one_in == 1 else sorted(people, key=last.count)[-1:]
        for person in people:
            lacking = asked(subject, schema.without(person, behind=behind).linked(subject, limits))
            pair = [*limits, (most, most), limits[-1], limits[-1]][-len(full) :]
            for before, after, (rows, groups) in zip(full, lacking, pair, strict=True):
                apart = [
                    [
                        ours - theirs
                        for ours, theirs in zip(before.get(g, (0,) * 3), after.get(g, (0,) * 3), strict=True)
                    ]
                    for g in {*before, *after}
                ]

                for moves, claim in zip(
                    zip(*apart or [(0,) * 3], strict=True), (rows * GRAIN, groups, rows * 9 * GRAIN), strict=True
                ):
                    assert min(moves) >= 0, (schema, person)
                    assert sum(moves) <= claim, (schema, person, limits)
                    moved += sum(moves)
    assert moved > 0


def keyed(subject, first, **others):
    """Yield schemas whose keys are declared, stored alike on both sides of each link."""
    for schema, draw in schemas(subject, first, **others):
        types = {"key": "INTEGER", "ref": "INTEGER"}
        tables = []
        for table in schema.tables:
            rows = [
                {name: _whole(value) if name in types else value for name, value in row.items()} for row in table.rows
            ]
            kinds = {name: types.get(name, kind) for name, kind in table.types.items()}
            tables.append(replace(table, rows=tuple(rows), types=kinds))
        yield replace(schema, tables=tuple(tables), keyed=True), draw


def _whole(value):
    text = text_of(value)
    return int(text) if text is not None and text.isdecimal() and len(text) < 9 else None


@pytest.mark.parametrize("repeated", [False, True], ids=["unique", "repeated"])
def test_a_row_joined_with_what_it_refers_to_stays_one_row(subject, repeated):
    for schema, _ in keyed(subject, 300, repeated=repeated):
        relations = schema.linked(subject, [(99, 99)] * len(schema.tables))
        tables = {name: relation.table for name, relation in relations.items()}
        owners = schema.owners()
        for plan in lookups(schema):
            assert most_partners(plan.other, plan.on, tables) == 1
            assert reach(plan, unit_of(plan, tables), tables) == 99
            (place,) = [place for place, table in enumerate(schema.tables) if Scan(table.name).table == first(plan)]
            mine = zip(schema.tables[place].rows, owners[place], strict=True)
            counted = [row for row, owner in mine if owner not in (NOBODY, None) and row["g"] in ("A", "B")]
            found = looked_up(subject, relations, plan)
            assert sum(rows for rows, *_ in found.values()) == len(counted)
            assert sum(total for _, _, total, _ in found.values()) == sum(min(row["x"], 9) for row in counted)


def first(plan):
    """The table whose rows are looked up."""
    while not isinstance(plan, Scan):
        plan = plan.one
    return plan.table


def test_a_person_moves_what_is_joined_along_links_by_no_more_than_is_claimed(subject):
    moved = 0
    for schema, draw in keyed(subject, 400):
        limits = limits_of(schema, draw)
        relations = schema.linked(subject, limits)
        tables = {name: relation.table for name, relation in relations.items()}
        people = sorted({owner for mine in schema.owners() for owner in mine} - {NOBODY}, key=str)
        for plan in lookups(schema)[-2:]:
            claim = stability(plan, unit_of(plan, tables), tables, groups=True)
            before = looked_up(subject, relations, plan)
            some = people[:2] if subject.one_in == 1 else sorted(people, key=schema.owners()[-1].count)[-1:]
            for person in some:
                after = looked_up(subject, schema.without(person).linked(subject, limits), plan)
                apart = [
                    [a - b for a, b in zip(before.get(g, (0,) * 4), after.get(g, (0,) * 4), strict=True)]
                    for g in {*before, *after}
                ]
                claims = (claim.l1, claim.l0, claim.l1 * 9, claim.l1 * 9)
                for moves, most in zip(zip(*apart or [(0,) * 4], strict=True), claims, strict=True):
                    assert min(moves) >= 0, (schema, person)
                    assert sum(moves) <= most, (schema, person, limits)
                    moved += sum(moves)
    assert moved > 0


def test_repeated_keys_are_counted_exactly(subject):
    for schema, _ in schemas(subject, 200, repeated=True):
        for table in schema.tables:
            keys = [text for row in table.rows if (text := text_of(row["key"])) is not None]
            source = subject.relation(["key"], [table.types["key"]], [[row["key"]] for row in table.rows])
            compared = person_of("key", table.types["key"], subject.dialect)
            expected = sum(keys.count(each) > 1 for each in {*keys})
            assert subject.engine.rows(repeated_sql(source, compared)) == [(expected,)]
