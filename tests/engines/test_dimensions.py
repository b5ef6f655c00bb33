"""Registered public tables on every engine: what is joined, how often, and what a person changes behind a join."""

import math
from collections import Counter

import pytest

import discreet as dp
from discreet.plan.dimension import Dimension
from discreet.plan.expressions import Name
from discreet.plan.keys import Tally, TallyQuery, keys_of
from discreet.plan.nodes import Join, Scan, columns_of
from discreet.plan.to_sql.dimension_join import partners_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import tallies_sql

KEY, KEYS = dp.between(1, 6), {"BIGINT", "DOUBLE", "VARCHAR"}
COLUMNS = tuple(
    column.named(name)
    for name, column in {
        "key": KEY,
        "weight": dp.between(0, 5, step=0.5),
        "colour": dp.one_of("red", "blue"),
        "day": dp.date("2020-01-01", "2020-12-31"),
        "new": dp.flag(),
        "words": dp.text(),
    }.items()
)
TYPES = {"weight": "DECIMAL(9,2)", "colour": "VARCHAR", "day": "DATE", "new": "BOOLEAN", "words": "VARCHAR"}
LINES = dp.Table(
    "lines",
    dp.person("id", max_rows=6, max_groups=2),
    {"ref": dp.between(0, 10, step=0.5), "n": dp.between(0, 9), "g": dp.one_of("A", "B")},
)
# Of 2 and 5 there are two rows, of 6 three and none of 4; a key may be missing, and be no number at all.
PUBLIC = [
    (1, "0.5", "red", "2020-02-29", True, "a"),
    (2, "1.0", "blue", None, False, "b"),
    (2, "2.0", "green", "2020-03-01", None, None),
    (3, None, None, None, None, None),
    (5, "9.9", "red", "1999-01-01", True, ""),
    (5, "0.1", "red", "2031-01-01", True, "e"),
    (6, "0.0", "red", "2020-01-01", True, "f"),
    (6, "0.0", "red", "2020-01-01", True, "f"),
    (6, "0.0", "red", "2020-01-01", True, "f"),
    (None, "1.5", "blue", "2020-01-01", True, "nobody's"),
]
# 1.5 is between two keys, 0 is no key, 42 is clamped to 10, and a reference may be missing.
ROWS = [(1, 1.0, 1, "A"), (1, 2.0, 2, "A"), (1, 5.0, 3, "B"), (1, 6.0, 4, "A"), (2, 1.0, 5, "B"), (2, None, 6, "A")]
ROWS += [(2, 1.5, 7, "A"), (3, 0.0, 8, "B"), (3, 42.0, 9, "A"), (3, 3.0, 1, "Z"), (None, 5.0, 2, "B"), (4, 4.0, 3, "A")]


def public_of(subject, kind, reuses, rows=PUBLIC):
    """Put public rows before an engine, their keys stored as some type."""
    types = {"key": kind, **TYPES}
    more = [(math.nan, "1.0", "red", None, None, None)] if kind == "DOUBLE" else []
    more += [("x", "1.0", "red", None, None, None), ("", None, None, None, None, None)] if kind == "VARCHAR" else []
    raw = [
        [None if key is None else float(key) if kind == "DOUBLE" else key, *others] for key, *others in [*rows, *more]
    ]
    source = subject.relation([*types], [*types.values()], raw)
    return Dimension("public", COLUMNS, (), reuses), Relation(
        dp.Table("public", dp.row(), COLUMNS), types, source, is_public=True
    )


def lines_of(subject, rows=ROWS, unit=LINES.unit):
    types = {"id": "INTEGER", "ref": "DOUBLE", "n": "INTEGER", "g": "VARCHAR"}
    table = dp.Table("lines", unit, LINES.columns)
    return Relation(table, types, subject.relation([*types], [*types.values()], [list(row) for row in rows]))


def asked(subject, dimension, relations, tallies):
    plan = Join(Scan("lines"), dimension, (("ref", "key"),))
    columns = columns_of(plan, {"lines": relations["lines"].table})
    sql = tallies_sql(TallyQuery(plan, keys_of(["g"], columns), tallies), relations, subject.dialect).sql
    return {row[0]: tuple(int(each or 0) for each in row[1:]) for row in subject.engine.rows(sql)}


def met(most):
    """The keys that may be met, by a reading in Python, with how many rows each has."""
    times = Counter(key for key, *_ in PUBLIC if key is not None)
    return {key: many for key, many in times.items() if many <= most}


@pytest.mark.parametrize("kind", sorted(KEYS))
@pytest.mark.parametrize("most", [1, 2])
def test_a_row_meets_no_more_partners_than_declared_and_is_read_by_itself(subject, kind, most):
    dimension, relation = public_of(subject, kind, ((("key",), most),))
    partners = met(most)
    rows = subject.engine.rows(partners_sql(dimension, ["key"], relation, subject.dialect))
    assert Counter(row[0] for row in rows) == partners
    assert (1, 1, "red", 18321, True, "a") in rows
    assert (3, None, None, None, None, None) in rows
    if most == 2:
        assert (2, 4, None, 18322, None, None) in rows
        assert (5, 10, "red", 18262, True, "") in rows
    found = asked(
        subject,
        dimension,
        {"lines": lines_of(subject), "public": relation},
        (Tally("rows"), Tally("people"), Tally("sum", (Name("n"),)), Tally("sum", (Name("weight"),))),
    )
    expected = {}
    read = {key: [row for row in rows if row[0] == key] for key in partners}
    for group in (0, 1):
        pairs = [
            (person, n, each[1])
            for person, ref, n, g in ROWS
            if g == "AB"[group] and ref is not None
            for each in read.get(ref, [])
        ]
        if pairs:
            expected[group] = (
                len(pairs),
                len({person for person, _, _ in pairs}),
                sum(n for _, n, _ in pairs),
                sum(weight or 0 for *_, weight in pairs),
            )
    assert found == expected


@pytest.mark.parametrize("rows", [LINES.unit, dp.person("id", max_rows=2, bound="table"), dp.row()], ids=str)
def test_a_person_changes_no_more_than_is_claimed_behind_a_join_that_repeats_rows(subject, rows):
    from discreet.plan.stability import stability

    dimension, relation = public_of(subject, "BIGINT", ((("key",), 2),), PUBLIC[:6])
    plan = Join(Scan("lines"), dimension, (("ref", "key"),))
    table = dp.Table("lines", rows, LINES.columns)
    claim, tallies = stability(plan, rows, {"lines": table}, groups=True), (Tally("rows"),)
    full = asked(subject, dimension, {"lines": lines_of(subject, ROWS * 2, rows), "public": relation}, tallies)
    moved = 0
    for gone in {1: [1], 2: [2]} if not rows.is_row else [0, 2]:
        kept = (
            [row for row in ROWS * 2 if row[0] != gone]
            if not rows.is_row
            else (ROWS * 2)[:gone] + (ROWS * 2)[gone + 1 :]
        )
        lacking = asked(subject, dimension, {"lines": lines_of(subject, kept, rows), "public": relation}, tallies)
        apart = [full.get(group, (0,))[0] - lacking.get(group, (0,))[0] for group in {*full, *lacking}]
        assert min(apart, default=0) >= 0
        assert sum(apart) <= claim.l1
        assert sum(each > 0 for each in apart) <= claim.l0
        moved += sum(apart)
    assert moved > 0


def test_one_key_of_several_columns_is_met_where_all_are_equal(subject):
    columns = tuple(
        column.named(name) for name, column in {"a": KEY, "b": dp.one_of("A", "B"), "x": dp.between(0, 6)}.items()
    )
    types = {"a": "BIGINT", "b": "VARCHAR", "x": "BIGINT"}
    raw = [[1, "A", 1], [1, "B", 2], [2, "A", 3], [2, "A", 4], [3, None, 5], [3, "B", 6]]
    source = subject.relation([*types], [*types.values()], raw)
    relation = Relation(dp.Table("public", dp.row(), columns), types, source, is_public=True)
    dimension = Dimension("public", columns, (), ((("a", "b"), 1),))
    plan = Join(Scan("lines"), dimension, (("ref", "a"), ("g", "b")))
    relations = {"lines": lines_of(subject), "public": relation}
    tallies = (Tally("rows"), Tally("sum", (Name("x"),)))
    found = subject.engine.rows(tallies_sql(TallyQuery(plan, keys_of([], {}), tallies), relations, subject.dialect).sql)
    # A 1 of person 1, B 1 of person 2, and nobody of 2 or 3, whose group is none.
    assert [tuple(map(int, row[1:])) for row in found] == [(2, 3)]
