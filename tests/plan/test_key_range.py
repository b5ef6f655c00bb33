"""Which keys conditions leave: a value that is left out is that of no row, under SQL's three truths."""

import datetime as dt
from fractions import Fraction
from itertools import product

import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.plan.expressions import Name
from discreet.plan.key_range import passing, possible
from discreet.plan.keys import KeyedRows, declared, keys_of
from discreet.plan.nodes import Derive, Filter, Join, PersonJoin, Project, Scan, Union, columns_of, public
from tests.plan.reference import evaluate
from tests.plan.worlds import Chance

COLUMNS = {
    "ward": dp.one_of("A", "B", "C"),
    "level": dp.one_of(3, 1, 40),
    "n": dp.between(0, 6),
    "x": dp.between(-1, 2, step=0.5),
    "day": dp.date("2023-12-30", "2024-01-03"),
    "ill": dp.flag(),
    "note": dp.text(),
}
TABLES = {"t": Table("t", dp.person("id", max_rows=3), COLUMNS)}
DECLARED = columns_of(Scan("t"), TABLES)
WARD, LEVEL, N, X, DAY, ILL, NOTE = map(Name, COLUMNS)
ATOMS = [
    *(WARD == "A", WARD != "B", WARD.is_in(["B", "C"]), WARD == "C", ~WARD.is_in(["A"])),
    *(N < 3, N <= 2.5, N >= 5, N > 5.5, N == 4, N == 4.5, N != 0, N < 3, N.is_in([1, 2, 9]), ~(N < 4), N.is_null()),
    *(
        Fraction(1, 3) < X,
        X == 0.5,
        dt.date(2024, 1, 1) <= DAY,
        dt.date(2024, 1, 2) > DAY,
        dt.date(2023, 12, 31) == DAY,
    ),
    *(ILL, ~ILL, ILL == True, LEVEL == 3, LEVEL != 40, N + 1 > 3, NOTE == "a", NOTE.is_null()),  # noqa: E712
]
VALUES = {name: [None, *(declared(column) or ("a", "b", ""))] for name, column in DECLARED.items()}


def condition(chance, depth=3):
    match chance.below(4) if depth else 0:
        case 0:
            return chance.choice(ATOMS)
        case 1:
            return condition(chance, depth - 1) & condition(chance, depth - 1)
        case 2:
            return condition(chance, depth - 1) | condition(chance, depth - 1)
    return ~condition(chance, depth - 1)


def names(expression):
    return {expression.name} if isinstance(expression, Name) else {n for part in expression.parts for n in names(part)}


def rows_for(predicate):
    used = sorted(names(predicate))
    for row in product(*(VALUES[name] for name in used)):
        yield dict(zip(used, row, strict=True))


def left(plan, name):
    column = columns_of(plan, TABLES)[name]
    return set(passing(declared(column), possible(plan, name, column, TABLES)))


def test_a_value_is_left_out_only_where_no_row_that_passes_has_it():
    for seed in range(400):
        predicate = condition(Chance(seed, "ranges"))
        if len(names(predicate)) > 3:
            continue
        passed = [row for row in rows_for(predicate) if evaluate(predicate, row, DECLARED) is True]
        plan = Filter(Scan("t"), predicate)
        for name in names(predicate) - {"note"}:
            met = {row[name] for row in passed} - {None}
            assert met <= left(plan, name), (seed, predicate, name)


def test_conditions_on_one_column_are_understood_in_full():
    for seed in range(400):
        chance = Chance(seed, "exact")
        name = chance.choice(["ward", "level", "n", "x", "day", "ill"])
        atoms = [atom for atom in ATOMS if names(atom) == {name} and "+" not in repr(atom)]
        predicate = ~chance.choice(atoms) & chance.choice(atoms) | chance.choice(atoms)
        met = {row[name] for row in rows_for(predicate) if evaluate(predicate, row, DECLARED) is True} - {None}
        assert left(Filter(Scan("t"), predicate), name) == met, (seed, predicate)


def test_keys_follow_through_names_years_joins_and_people_and_not_through_unions():
    few = Filter(Scan("t"), WARD.is_in(["A", "B"]) & (dt.date(2024, 1, 1) <= DAY))
    assert left(Project(few, (("station", "ward"),)), "station") == {"A", "B"}
    assert left(Derive(few, "again", WARD), "again") == {"A", "B"}
    assert left(Derive(few, "year", DAY.year()), "year") == {2024}
    assert left(Filter(Derive(few, "year", DAY.year()), Name("year") == 2023), "year") == set()
    floors = public("floors", {"ward": ["A", "B"], "floor": [1, 2]})
    assert left(Filter(Join(few, floors, (("ward", "ward"),)), Name("floor") == 1), "floor") == {1}
    assert left(Join(few, floors, (("ward", "ward"),)), "ward") == {"A", "B"}
    met = PersonJoin(Filter(Scan("t"), N < 2), few, (), None, (("theirs", "ward"),))
    assert left(met, "theirs") == {"A", "B"}
    assert left(met, "n") == {0, 1}
    assert left(met, "ward") == {"A", "B", "C"}
    assert left(Union(few, Scan("t")), "ward") == {"A", "B", "C"}


def test_keys_that_were_given_stay_and_conditions_declare_those_of_texts():
    plan = Filter(Scan("t"), NOTE.is_in(["b", "a"]) & (WARD == "A"))
    rows, columns = KeyedRows(plan, TABLES), columns_of(plan, TABLES)
    assert keys_of(("note", "ward"), columns, None, rows).listed() == (("a", "A"), ("b", "A"))
    assert keys_of(("ward",), columns, {"ward": ["C", "A"]}, rows).listed() == (("C",), ("A",))
    assert keys_of(("note",), columns, None, KeyedRows(Filter(Scan("t"), NOTE != "a"), TABLES)).selected


def test_a_range_that_leaves_few_of_very_many_values_makes_keys_of_them():
    tables = {"t": Table("t", dp.row(), {"order": dp.between(0, 10**9)})}
    plan = Filter(Scan("t"), (Name("order") >= 10) & (Name("order") < 13))
    found = keys_of(("order",), columns_of(plan, tables), None, KeyedRows(plan, tables))
    assert found.listed() == ((10,), (11,), (12,))


def test_conditions_that_leave_no_key_are_refused_by_name():
    plan = Filter(Scan("t"), (WARD == "A") & (WARD == "B"))
    with pytest.raises(BadParameter, match="let none of its keys through"):
        keys_of(("ward",), columns_of(plan, TABLES), None, KeyedRows(plan, TABLES))
