"""Schemas: random tables linked to one another, with hostile references, and whose each row is, by a reading in Python.

The first table has the identifier; each other one refers to one before it. A schema is rows, so that it can lack a
person. It can be put before an engine as it stands, linked, or with the identifier written into every table by hand.
"""

import math
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import count

import discreet as dp
from discreet.plan.dimension import Dimension
from discreet.plan.expressions import Name
from discreet.plan.keys import Tally, TallyQuery, keys_of
from discreet.plan.nodes import Derive, Filter, Join, PersonJoin, Scan, columns_of
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import tallies_sql

COLUMNS = {"x": dp.between(0, 9), "g": dp.one_of("A", "B")}
WHOLE = ("INTEGER", "BIGINT")
KINDS = (*WHOLE, "VARCHAR", "DOUBLE", "DECIMAL(9,2)")
# Beside null: what no key is, or only looks like one.
DANGLING = {
    "INTEGER": [-1, 999],
    "BIGINT": [-1, 2**62],
    "VARCHAR": ["", "nobody", " 7", "007", "7.0", "NaN", "null"],
    "DOUBLE": [math.nan, math.inf, -0.5, 1e300],
    "DECIMAL(9,2)": ["0.01", "-1.00"],
}


@dataclass(frozen=True)
class Linked:
    """A table of a schema: what its columns are stored as, which table it refers to, and its rows."""

    name: str
    types: dict
    refers: int | None
    rows: tuple

    @property
    def told(self):
        """The column that tells whose a row is."""
        return "id" if self.refers is None else "ref"


@dataclass(frozen=True)
class Schema:
    """Tables, the first of which names people; `keyed` declares keys and references as texts."""

    tables: tuple
    keyed: bool = False

    def owners(self):
        """Return, for each table, whose each of its rows is: a text, None for the one called null, or NOBODY."""
        found = []
        for table in self.tables:
            if table.refers is None:
                found.append([text_of(row["id"]) for row in table.rows])
                continue
            referred, theirs = self.tables[table.refers], found[table.refers]
            keys = [text_of(row["key"]) for row in referred.rows]
            found.append(
                [
                    theirs[keys.index(text)] if text is not None and keys.count(text) == 1 else NOBODY
                    for text in (text_of(row["ref"]) for row in table.rows)
                ]
            )
        return found

    def without(self, person, *, behind=False):
        """Return the schema without the rows of a person; `behind`: only those that name them, so others dangle."""
        owners = self.owners()
        return replace(
            self,
            tables=tuple(
                replace(
                    table,
                    rows=tuple(
                        row
                        for row, owner in zip(table.rows, mine, strict=True)
                        if owner != person or (behind and table.refers is not None)
                    ),
                )
                for table, mine in zip(self.tables, owners, strict=True)
            ),
        )

    def linked(self, subject, limits):
        """Put the tables before an engine as they are, each linked to the one that it refers to."""
        relations = []
        for table, (rows, groups) in zip(self.tables, limits, strict=True):
            via = None if table.refers is None else dp.link("ref", self.tables[table.refers].name, "key")
            unit = dp.person(None if via else "id", max_rows=rows, max_groups=groups, via=via)
            found = self._relation(subject, table, unit, table.types, table.rows)
            if via is not None:
                found = found.linked(relations[table.refers], subject.engine.remembered, subject.dialect)
            relations.append(found)
        return {relation.table.name: relation for relation in relations}

    def by_hand(self, subject, limits):
        """Put the tables before an engine with the identifier in every one of them, and without anybody's rows."""
        relations, kind = [], self.tables[0].types["id"]
        for table, mine, (rows, groups) in zip(self.tables, self.owners(), limits, strict=True):
            unit = dp.person("id", max_rows=rows, max_groups=groups)
            kept = [{**row, "id": owner} for row, owner in zip(table.rows, mine, strict=True) if owner is not NOBODY]
            relations.append(self._relation(subject, table, unit, {**table.types, "id": kind}, kept))
        return {relation.table.name: relation for relation in relations}

    def _relation(self, subject, table, unit, types, rows):
        raw = [[row[name] for name in types] for row in rows]
        source = subject.relation(list(types), list(types.values()), raw)
        keys = {name: dp.text() for name in ("key", "ref") if self.keyed and name in types}
        return Relation(dp.Table(table.name, unit, {**COLUMNS, **keys}), types, source)


NOBODY = "~nobody"


class Draw:
    """Numbers and choices that are the same for the same seed."""

    def __init__(self, seed):
        self._seed, self._count = seed, count()

    def number(self, low, high):
        """A number from low to high, both included."""
        digest = blake2b(f"{self._seed} {next(self._count)}".encode(), digest_size=8).digest()
        return low + int.from_bytes(digest) % (high - low + 1)

    def one(self, of):
        """One of several."""
        return of[self.number(0, len(of) - 1)]

    def chance(self, share):
        """Whether something that happens so often happens now."""
        return self.number(1, 1000) <= 1000 * share


def text_of(value):
    """What a key, a reference or an identifier is compared as."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value
    return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)


def random_schema(seed, lacks=(), *, repeated=False):
    """Return a schema of 2 to 5 tables; `repeated`: with keys that occur twice, which are outside the promise."""
    draw = Draw(seed)
    kinds = [kind for kind in KINDS if kind not in lacks]
    tables, types, many = [], [draw.one(kinds) for _ in range(5)], draw.number(2, 5)
    identifier = draw.one(("INTEGER", "VARCHAR"))
    for place in range(many):
        rows, refers = [], None if place == 0 else draw.number(0, place - 1)
        wanted = draw.number(4, 14)
        told = identifier if refers is None else draw.one(kinds)
        for number in range(wanted):
            row = {"key": _key(number + 1, types[place]), "x": draw.number(0, 12), "g": draw.one(["A", "B", "C"])}
            if draw.chance(0.1):
                row["key"] = None
            elif repeated and draw.chance(0.4):
                row["key"] = _key(1, types[place])
            if refers is None:
                row["id"] = None if draw.chance(0.15) else _key(draw.number(1, 4), identifier)
            else:
                row["ref"] = _reference(draw, len(tables[refers].rows), told)
            rows.append(row)
        column = "id" if refers is None else "ref"
        tables.append(
            Linked(
                f"t{place}", {column: told, "key": types[place], "x": "INTEGER", "g": "VARCHAR"}, refers, tuple(rows)
            )
        )
    return Schema(tuple(tables))


def _reference(draw, keys, kind):
    if draw.chance(0.1):
        return None
    return _value(draw.one(DANGLING[kind]), kind) if draw.chance(0.2) else _key(draw.number(1, keys), kind)


def _key(number, kind):
    return _value(number, kind)


def _value(value, kind):
    if kind == "VARCHAR":
        return str(value)
    return float(value) if kind in ("DOUBLE", "DECIMAL(9,2)") else value


def lookups(schema):
    """Return the plan of each table whose rows meet the one row that they refer to, and that one's, up to the first."""
    found = []
    for table in schema.tables:
        plan, place, ours = Scan(table.name), table.refers, "ref"
        while place is not None:
            other = schema.tables[place]
            last = other.refers is None
            taken = (("x0", "x"),) if last else ((f"ref{place}", "ref"),)
            plan = PersonJoin(plan, Scan(other.name), ((ours, "key"),), 1, taken)
            ours, place = f"ref{place}", other.refers
        if table.refers is not None:
            found.append(plan)
    return found


def looked_up(subject, relations, plan):
    """Return the rows, people and sums of what is looked up, by group."""
    keys = keys_of(["g"], COLUMNS_BY_NAME)
    tallies = (Tally("rows"), Tally("people"), Tally("sum", (Name("x"),)), Tally("sum", (Name("x0"),)))
    sql = tallies_sql(TallyQuery(plan, keys, tallies), relations, subject.dialect).sql
    return {row[0]: tuple(int(each or 0) for each in row[1:]) for row in subject.engine.rows(sql)}


COLUMNS_BY_NAME = {name: column.named(name) for name, column in COLUMNS.items()}


# What is joined with a number: of 1 there are two rows, of 2 three, which is one too many, and of most none.
PUBLIC = Dimension("public", (dp.between(0, 9).named("y"), dp.flag().named("f")), (), ((("y",), 2),))


def public_of(subject):
    """Put the public rows before an engine."""
    rows = [[0, True], [1, True], [1, False], [2, True], [2, True], [2, True], [None, True], [7, None], [12, True]]
    types = {"y": "INTEGER", "f": "BOOLEAN"}
    source = subject.relation([*types], [*types.values()], rows)
    return Relation(dp.Table(PUBLIC.name, dp.row(), PUBLIC.columns), types, source, is_public=True)


def asked(subject, relations):
    """Return what each question of a few about a schema hands to the mechanisms: integers by group."""
    columns = columns_of(Scan("t0"), {"t0": relations["t0"].table})
    tallies = (Tally("rows"), Tally("people"), Tally("sum", (Name("x"),)))
    names = [*relations]
    scans = [*map(Scan, names)] if subject.one_in == 1 else [Scan(names[-1])]  # a slow engine is asked less
    some = Derive(Filter(Scan(names[-1]), Name("x") >= 2), "y2", Name("x") + 1)
    plans = [
        *scans,
        PersonJoin(Scan(names[-1]), Scan(names[0]), (), 2, ()),
        Join(Scan(names[-1]), PUBLIC, (("x", "y"),)),
        some,
    ]
    relations = {**relations, PUBLIC.name: public_of(subject)}
    found = []
    for plan in plans:
        sql = tallies_sql(
            TallyQuery(plan, keys_of(["g"], columns), tallies, weighed=True), relations, subject.dialect
        ).sql
        found.append({row[0]: tuple(int(each or 0) for each in row[1:]) for row in subject.engine.rows(sql)})
    return found
