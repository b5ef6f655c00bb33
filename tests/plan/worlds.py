"""Random tables, plans and questions, drawn from a seed; and how a world is put before the engine."""

from dataclasses import replace
from hashlib import shake_256
from itertools import count

import discreet as dp
from discreet.core.schema import Table
from discreet.plan.expressions import Name, when
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, bins, keys_of
from discreet.plan.nodes import Derive, Filter, Join, MarkJoin, PersonJoin, Project, Scan, Union, columns_of, public
from discreet.plan.to_sql.scalar import Relation
from tests.plan.relational import Data

COLUMNS = {
    "x": dp.between(-3, 7, step=0.5),
    "n": dp.between(0, 1000),
    "ward": dp.one_of("A", "b", "Ü\u0308", "O'Neil"),
    "level": dp.one_of(3, 1, 40),
    "ill": dp.flag(),
    "day": dp.date("2024-01-30", "2024-02-02"),
    "note": dp.text(),
}
PHYSICAL = {
    "x": "DOUBLE",
    "n": "BIGINT",
    "ward": "VARCHAR",
    "level": "INTEGER",
    "ill": "BOOLEAN",
    "day": "VARCHAR",
    "note": "VARCHAR",
}
RAW = {
    "x": [None, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 0.25, 0.24999, -3.0, 7.0, 2.5, 1.0, -0.0],
    "n": [None, -5, 0, 1, 17, 500, 1000, 2**63 - 1, -(2**63)],
    "ward": [None, "A", "b", "Ü\u0308", "O'Neil", "a", "", "Ü"],
    "level": [None, 1, 3, 40, 2],
    "ill": [None, True, False],
    "day": [None, "2024-01-31", "2024-02-01", "1900-01-01", "2024-02-30", "x"],
    "note": [None, "", "fever", "Fieber 😀", "it's"],
}
WARDS = public(
    "wards", {"ward": ["A", "A", "b", "O'Neil", "Z"], "floor": [1, 2, 2, None, 9], "old": [True, False] * 2 + [True]}
)
LEVELS = public("levels", {"level_code": [1.0, 3.5, 3, 3], "name": ["one", "none", "three", "drei"]})


class Chance:
    """A stream of choices that a seed decides."""

    def __init__(self, *seed):
        blocks = (shake_256(repr((seed, number)).encode()).digest(3000) for number in count())
        self.bits = (byte for block in blocks for byte in block)

    def below(self, n):
        return int.from_bytes(bytes(next(self.bits) for _ in range(3)), "big") % n

    def choice(self, values):
        return values[self.below(len(values))]

    def some(self, values, most):
        return [self.choice(values) for _ in range(self.below(most + 1))]


def raw_row(chance, who):
    return {"id": who, **{name: chance.choice(values) for name, values in RAW.items()}}


PEOPLE = {True: [1, 2, -7, 2**62, 5, None], False: ["1", "2", "ä", "O'Neil", "", None]}


def rows_of(chance, who):
    """Draw a person's rows: usually few, at times very many, often in one group."""
    many = chance.choice([1, 1, 2, 3, 5, 8, 40])
    row = raw_row(chance, who)
    alike = chance.below(3) == 0
    return [{**raw_row(chance, who), **({"ward": row["ward"], "x": row["x"]} if alike else {})} for _ in range(many)]


def table_of(chance, unit, name="t", whole=True, people=4):
    table = Table(name, unit, COLUMNS)
    who = PEOPLE[whole]
    rows = [row for one in range(1 + chance.below(people)) for row in rows_of(chance, who[one])]
    return Data(table, rows, whole)


def unit_of(chance, kind):
    """Draw a unit: "row", "groups" and "rows" (people, bounded in the query, with fewer or as many groups), "table".

    "capped" are people with fewer groups, in each of which they count for fewer rows.
    """
    relation = chance.choice(["add_remove", "replace"])
    if kind == "row":
        return dp.row(relation=relation)
    rows = chance.choice([2, 3, 5, 10])
    groups = rows if kind == "rows" else 1 + chance.below(rows - 1) if kind == "groups" else 1 + chance.below(rows)
    bound = "table" if kind == "table" else "query"
    cap = 1 + chance.below(rows) if kind == "capped" else None
    return dp.person("id", max_rows=rows, max_groups=groups, relation=relation, bound=bound, max_rows_per_group=cap)


X, N, WARD, LEVEL, ILL, DAY, NOTE = (Name(name) for name in COLUMNS)
PREDICATES = [X > 1, N <= 500, ILL, ~ILL, WARD == "A", NOTE.is_null(), (X > 0) | ILL, DAY.month() == 2]
DERIVED = [X * 2, N + X.abs(), when(ILL, N).otherwise(0), LEVEL.as_number() * N, N.clip(0, 50), ILL.as_number()]


def plan_of(chance, operators, table="t"):
    """Draw a plan in which each of the operators occurs, and some of the harmless ones."""
    plan, names = Scan(table), count()
    for operator in [*operators, *chance.some(["filter", "derive"], 2)]:
        match operator:
            case "filter":
                plan = Filter(plan, chance.choice(PREDICATES))
            case "derive":
                plan = Derive(plan, f"d{next(names)}", chance.choice(DERIVED))
            case "join":
                plan = Join(plan, WARDS, (("ward", "ward"),))
            case "join numbers":
                plan = Derive(plan, "number", LEVEL.as_number())
                plan = Join(plan, LEVELS, (("number", "level_code"),))
            case "project":
                plan = Project(plan, chance.choice(PROJECTED))
            case "union":
                plan = Union(Filter(plan, chance.choice(PREDICATES)), plan)
            case "meet":
                other = chance.choice(OTHERS)
                plan = meeting(chance, plan, other, next(names))
            case "meet outer":
                plan = replace(meeting(chance, plan, chance.choice(OTHERS), next(names)), outer=True)
            case "exists" | "exists itself" | "exists not":
                other = plan if operator == "exists itself" else chance.choice(OTHERS)
                name = f"exists{next(names)}"
                on, compare = chance.choice(MATCHED), chance.choice(COMPARED)
                plan = MarkJoin(plan, other, on, compare, name)
                plan = Filter(plan, ~Name(name) if operator == "exists not" else Name(name))
            case "meet itself":
                plan = meeting(chance, plan, Derive(plan, f"d{next(names)}", chance.choice(DERIVED)), next(names))
            case "meet union":
                other = Union(Filter(Scan("u"), chance.choice(PREDICATES)), Scan("u"))
                plan = meeting(chance, Union(plan, plan), other, next(names))
            case "meet public":
                plan = meeting(chance, plan, Join(Scan("u"), WARDS, (("ward", "ward"),)), next(names))
            case "meet twice":
                inner = meeting(chance, Scan("u"), Scan("t"), next(names))
                plan = meeting(chance, plan, inner, next(names))
    return plan


# All columns under their names, in another order and with a duplicate; or wards for notes, so that more rows are equal.
PROJECTED = (
    (*((name, name) for name in reversed(COLUMNS)), ("duplicate", "n")),
    tuple((name, "ward" if name == "note" else name) for name in COLUMNS),
)
OTHERS = (
    Scan("u"),
    Scan("t"),
    Filter(Scan("u"), X > 1),
    Project(Scan("u"), tuple((name, name) for name in COLUMNS if name != "day")),
    Derive(Scan("u"), "half", X * 2),
)
MATCHED = ((), (), (("ward", "ward"),), (("ill", "ill"), ("level", "level")), (("x", "n"),), (("note", "ward"),))
COMPARED = (None, None, ("x", "<", "n"), ("n", ">=", "x"), ("n", "!=", "n"), ("note", "!=", "ward"), ("x", "<=", "x"))


def meeting(chance, plan, other, number):
    """Join two sides on the person, and often on something else, with and without a bound on partners."""
    most = chance.choice([None, None, 1, 2, 7])
    columns = ((f"n{number}", "n"), (f"ward{number}", "ward"), (f"note{number}", "note"))
    return PersonJoin(plan, other, chance.choice(MATCHED), most, columns[: 1 + chance.below(3)])


def keys_among(chance, columns):
    match chance.below(6):
        case 0:
            return NO_KEYS
        case 1:
            return keys_of(("ward", "ill"), columns)
        case 2:
            return keys_of(("level", "day"), columns, {"level": [40, 1]})
        case 3:
            return keys_of(("ward", "ill"), columns).chosen([("b", True), ("A", False), ("A", True)])
        case 4:
            return type(NO_KEYS)((bins("bin", columns["n"], [1, 17, 501]),))
    return keys_of(("ward",), columns)


TALLIES = [
    Tally("rows"),
    Tally("people"),
    Tally("present", (X,)),
    Tally("present", (X, N)),
    Tally("present", (NOTE,)),
    Tally("sum", (X,)),
    Tally("sum", (N * 3 - 5,)),
    Tally("sum", (DAY,)),
    Tally("sum", (ILL,)),
    Tally("product", (X, X)),
    Tally("product", (X, N)),
    Tally("product", (N * 10**8, N * 10**7)),
]


def question_of(chance, plan, tables):
    keys = keys_among(chance, columns_of(plan, tables))
    tallies = (chance.choice(TALLIES), *chance.some(TALLIES, 3))
    return TallyQuery(plan, keys, tallies, weighed=chance.below(3) > 0)


def neighbours(chance, data, unit, fresh):
    """Return a neighbouring table: one row, or one person's rows, added, removed or replaced; rows may move about."""
    rows, change = list(data.rows), "replaced" if unit.relation == "replace" else chance.choice(["added", "removed"])
    if unit.is_row:
        added, place = [raw_row(chance, None)], chance.below(len(rows))
        others = rows[:place] + rows[place + 1 :]
    else:
        who = chance.choice(rows)["id"]
        added = [{**row, "id": who if change == "replaced" else fresh} for row in rows_of(chance, fresh)]
        others = [row for row in rows if row["id"] != who]
    found = {"added": added + rows, "removed": others, "replaced": added + others}[change]
    return Data(data.table, found[::-1] if chance.below(2) else found, data.whole)


def world_of(chance, unit, people=4):
    """Draw two tables of the same people; the second has bounds of its own, and often others as well."""
    rows = chance.choice([1, 2, 3, 6])
    cap = None if unit.max_rows_per_group is None else 1 + chance.below(rows)
    other = replace(unit, max_rows=rows, max_groups=1 + chance.below(rows), max_rows_per_group=cap)
    return {
        "t": table_of(chance, unit, "t", whole=bool(chance.below(3)), people=people),
        "u": table_of(chance, other, "u", whole=bool(chance.below(3)), people=people),
    }


def held(data, who):
    """Return how a table writes a person, None where it cannot."""
    if who is None or not data.whole:
        return who if who is None else str(who)
    return int(who) if str(who).lstrip("-").isdigit() else None


def neighbouring(chance, world, unit):
    """Return a world in which one person was added, removed or replaced, in all tables at once."""
    change = "replaced" if unit.relation == "replace" else chance.choice(["added", "removed"])
    ids = [row["id"] for data in world.values() for row in data.rows]
    gone = chance.choice(ids)
    comes = chance.choice([gone, 77]) if change == "replaced" else 77
    found = {}
    for name, data in world.items():
        rows = data.rows if change == "added" else [row for row in data.rows if str(row["id"]) != str(gone)]
        who = held(data, comes)
        if change != "removed" and (who is not None or comes is None) and chance.below(4):
            rows = [*rows_of(chance, who), *rows]
        found[name] = Data(data.table, rows[::-1] if chance.below(2) else rows, data.whole)
    return found


_tables = count()


def loaded(engine, data):
    """Put raw rows into a table of the engine, and return the relation that reads it."""
    name = f"raw{next(_tables)}"
    physical = {"id": "BIGINT" if data.whole else "VARCHAR", **PHYSICAL}
    engine.run(f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in physical.items())})")
    if data.rows:
        marks = ", ".join(f"({', '.join('?' * len(physical))})" for _ in data.rows)
        values = [row[column] for row in data.rows for column in physical]
        engine.run(f"INSERT INTO {name} VALUES {marks}", values)
    return Relation(data.table, physical, name)
