"""Pairs: neighbouring tables, asked the same questions; their integers may differ by what one person is worth."""

import math
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import discreet as dp
from discreet.core.errors import Refusal
from discreet.curator.register import check_columns
from discreet.curator.runner import Runner
from discreet.data.home import home_of
from discreet.plan.dialects import dialect_of
from discreet.plan.expressions import Name
from discreet.plan.keys import keys_of
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.relation import Relation
from discreet.plan.tallies import Question, Tally
from tests.neighbours.sources import KINDS
from tests.neighbours.values import LARGE

SECRET = b"neighbours of a vault's secret"
PEOPLE, EACH = 40, 3
UNITS = {"one row": (1, 1), "few rows": (2, 2)}
COMPARED = Counter()
WORD = "text word"


@dataclass
class World:
    """Neighbours of one kind of source whose people are told apart by a column of one type."""

    kind: str
    identifier: str
    unit: str = "one row"

    def __post_init__(self):
        self.source = KINDS[self.kind]
        self.family = self.source.types[self.identifier]
        rows, groups = UNITS[self.unit]
        columns = {name: family.declared for name, family in self.source.types.items()}
        self.table = dp.Table("t", dp.person("id", max_rows=rows, max_groups=groups), columns)

    def who(self, number):
        """The identifier of an ordinary person, as a value of its type."""
        return person(self.family.plain[0], number)

    def plain(self):
        """Ordinary rows: some people, each of whom has more rows than count."""
        found = []
        for place in range(PEOPLE * EACH):
            row = {
                name: family.plain[(place * 7 + number + place // 5) % len(family.plain)]
                for number, (name, family) in enumerate(self.source.types.items())
            }
            found.append({"id": self.who(place % PEOPLE), **row})
        return found

    def hostile(self, place, who=None):
        """A row of hostile values, another one in each column for each place."""
        row = {name: family.hostile[place % len(family.hostile)] for name, family in self.source.types.items()}
        found = self.family.hostile[place % len(self.family.hostile)] if who is None else self.who(who)
        return {"id": found, **row}

    @property
    def places(self):
        """How many rows it takes to have every hostile value of every column."""
        return max(len(family.hostile) for family in self.source.types.values())

    def pairs(self, places):
        """Tables that differ by one person's row: (how, one, other, how many people's worth they may differ by)."""
        plain = self.plain()
        full = [*plain, *(self.hostile(place) for place in range(self.places))]
        known = {canonical(row["id"]) for row in plain}
        for place in places:
            row = self.hostile(place)
            worth = 2 if canonical(row["id"]) in known else 1
            yield f"{place} added", plain, [*plain, row], worth
            yield f"{place} replaced", plain, [*plain[:-1], self.hostile(place, who=(PEOPLE * EACH - 1) % PEOPLE)], 2
            at = PEOPLE * EACH + place
            yield f"{place} removed", [*full[:at], *full[at + 1 :]], full, 2

    def asked(self, rows, folder):
        """What a table hands to the mechanisms: types and integers by group, or the refusal's own words."""
        columns = {"id": (self.identifier, [row["id"] for row in rows])}
        columns |= {name: (name, [row[name] for row in rows]) for name in self.source.types}
        try:
            source = self.source.made(columns, folder)
            home = home_of(source)
            physical = home.describe(source)
            check_columns(self.table, physical)
            with home.opened([source], SECRET) as engine:
                relation = Relation(self.table, physical, home.from_sql(source))
                runner = Runner(engine, {"t": relation}, dialect_of(engine.name))
                return [answers(runner, question, self.table.unit) for question in self.questions()]
        except Refusal as refused:
            return type(refused), refused.what if refused.value is None else None, refused.why

    def questions(self):
        """Questions about every column: in declared groups, and in the groups that the rows have."""
        columns = columns_of(Scan("t"), {"t": self.table})
        numeric = [name for name in columns if columns[name].kind in ("number", "date", "flag")]
        present = [Tally("present", (Name(name),)) for name in columns]
        sums = [Tally("sum", (Name(name),)) for name in numeric if columns[name].kind != "flag"]
        products = [Tally("product", each.of * 2) for each in sums if each.most(columns) < 1000][:3]
        key = next(name for name in columns if columns[name].keys)
        yield Question(Scan("t"), keys_of([key], columns), (Tally("rows"), Tally("people"), *present, *sums, *products))
        yield Question(Scan("t"), keys_of([WORD], columns), (Tally("rows"), Tally("people")))

    def check(self, places, choose=lambda pair: True):
        """Compare the neighbours of some places."""
        with tempfile.TemporaryDirectory(prefix="discreet-") as name:
            known = {}

            def asked(rows):
                if id(rows) not in known:
                    known[id(rows)] = rows, self.asked(rows, Path(name))
                return known[id(rows)][1]

            for how, one, other, worth in self.pairs(places):
                if choose(how):
                    self.compare(how, asked(one), asked(other), worth)
                    COMPARED[self.kind] += 1

    def compare(self, how, one, other, worth):
        """Hold what two neighbours hand over against the claim."""
        where = (self.kind, self.identifier, how)
        assert isinstance(one, list), (where, one)
        assert isinstance(other, list), (where, other)
        unit, columns = self.table.unit, columns_of(Scan("t"), {"t": self.table})
        for question, before, after in zip(self.questions(), one, other, strict=True):
            apart = [
                [theirs - ours for ours, theirs in zip(found(before, group), found(after, group), strict=True)]
                for group in {*before, *after}
            ]
            assert sum(map(any, apart)) <= worth * unit.max_groups, where
            for number, tally in enumerate(question.tallies):
                moved = [each[number] for each in apart]
                claim = worth * (1 if tally.kind == "people" else unit.max_rows) * tally.most(columns)
                if tally.kind == "people":
                    claim = worth * unit.max_groups
                assert sum(map(abs, moved)) <= claim, (where, tally, moved)
                assert worth > 1 or min(moved, default=0) >= 0, (where, tally, moved)


def found(groups, group):
    """The tallies of a group; one that no row is in has none."""
    some = groups or {None: ()}
    return groups.get(group, (0,) * len(next(iter(some.values()))))


def answers(runner, question, unit):
    """The tallies of each group, every one of them a whole number."""
    if question.keys.selected:
        rows = [(row[: len(question.keys.columns)], row[len(question.keys.columns) :]) for row in runner.tallies(question, unit)]
    else:
        rows = list(enumerate(runner.in_order(question, unit)))
    assert all(type(value) is int for _, tallies in rows for value in tallies)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def person(example, number):
    """The identifier of a person, of the type that an example has."""
    if isinstance(example, str):
        return f"0000{number:04}-0000-0000-0000-000000000000" if example.count("-") == 4 else f"{number}"
    return type(example)(number)


def canonical(value):
    """Who an identifier means: all that are missing are one person, and numbers go by their value."""
    if value is None or value != value or (isinstance(value, str) and len(value) >= LARGE) or value == "NaN":
        return None
    if isinstance(value, float) and not math.isinf(value) and value == int(value):
        return str(int(value))
    return str(value)
