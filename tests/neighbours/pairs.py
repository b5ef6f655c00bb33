"""Pairs: neighbouring tables, asked the same questions; their integers may differ by what one person is worth."""

import math
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import discreet as dp
from discreet.ask.registered import check_columns
from discreet.ask.runner import Runner
from discreet.core import doors
from discreet.core.errors import Refusal
from discreet.engines.dialect import MOST_ROWS, WIDE, dialect_of
from discreet.engines.source import home_of
from discreet.plan.expressions import Name
from discreet.plan.keys import Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.stability import GRAIN
from discreet.plan.to_sql.scalar import Relation
from tests.neighbours.kinds import KINDS
from tests.neighbours.values import LARGE

SECRET = b"neighbours of a vault's secret"
PEOPLE, EACH = 40, 3
MIDDLE = PEOPLE * EACH // 2
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
        """Ordinary rows: some people, each of whom has more rows than count, and no two of them alike."""
        found = []
        for place in range(PEOPLE * EACH):
            row = {
                name: family.plain[(place * 7 + number + place // PEOPLE) % len(family.plain)]
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
        """Tables that differ by one person: (how, one, other, how many people's worth they may differ by)."""
        plain, hostile = self.plain(), [self.hostile(place) for place in range(self.places)]
        known = {canonical(row["id"]) for row in plain}
        stranger = [self.hostile(place, who=PEOPLE + 1) for place in range(self.places)]
        full = among(plain, hostile)
        yield "a person", plain, among(plain, stranger), 1
        for place, row in zip(places, hostile, strict=False):
            yield f"added {place}", plain, among(plain, [row]), 2 if canonical(row["id"]) in known else 1
            mine = self.hostile(place, who=MIDDLE % PEOPLE)
            yield f"replaced {place}", plain, [*plain[:MIDDLE], mine, *plain[MIDDLE + 1 :]], 2
            yield f"removed {place}", among(plain, [*hostile[:place], *hostile[place + 1 :]]), full, 2

    @property
    def few(self):
        """A few pairs that have every hostile value, a missing identifier and one beyond all numbers among them."""
        missing = self.family.hostile.index(None)
        return {*self.fewest, f"replaced {missing}", "removed 0"}

    @property
    def fewest(self):
        """One person with every hostile value, and rows without an identifier or with one beyond all numbers."""
        return {"a person", "added 0", f"added {self.family.hostile.index(None)}"}

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
                self.source.hurry(engine)
                relation = Relation(self.table, physical, home.from_sql(source))
                runner = Runner(engine, {"t": relation}, dialect_of(engine.name))
                return [answers(runner, question, self.table.unit) for question in self.questions()]
        except Refusal as refused:
            return type(refused), refused.why

    def questions(self):
        """Questions about every column: sums of weighed rows in declared groups, whole rows in those that rows have."""
        columns = columns_of(Scan("t"), {"t": self.table})
        numeric = [name for name in columns if columns[name].kind in ("number", "date", "flag")]
        present = [Tally("present", (Name(name),)) for name in columns]
        sums = [Tally("sum", (Name(name),)) for name in numeric if columns[name].kind != "flag"]
        # Sums of wider values are refused, since each is multiplied by a weight.
        sums = [each for each in sums if each.most(columns) * GRAIN * MOST_ROWS < WIDE]
        products = [Tally("product", each.of * 2) for each in sums if each.most(columns) < 1000][:3]
        totals = [Tally("total", each.of, (0, 60)) for each in sums if each.most(columns) < 1000]
        totals = totals if self.unit == "few rows" else []  # a statement of their own, which takes its time
        key = next(name for name in columns if columns[name].keys)
        yield TallyQuery(
            Scan("t"),
            keys_of([key], columns),
            (Tally("rows"), Tally("people"), *present, *sums, *products, *totals),
            weighed=True,
        )
        yield TallyQuery(Scan("t"), keys_of([WORD], columns), (Tally("rows"), Tally("people")))

    def check(self, chosen=None):
        """Compare the chosen pairs of neighbours, or all of them."""
        with tempfile.TemporaryDirectory(prefix="discreet-") as name:
            known = {}

            def asked(rows):
                if id(rows) not in known:
                    known[id(rows)] = rows, self.asked(rows, Path(name))
                return known[id(rows)][1]

            for how, one, other, worth in self.pairs(range(self.places)):
                if chosen is None or how in chosen:
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
            if not question.weighed:  # weights bound no number of groups
                assert sum(map(any, apart)) <= worth * unit.max_groups, (where, apart)
            for number, tally in enumerate(question.tallies):
                moved = [each[number] for each in apart]
                times = unit.max_groups if tally.kind in ("people", "total") else unit.max_rows
                grain = GRAIN if question.weighed and tally.kind not in ("people", "total") else 1
                claim = worth * times * grain * tally.most(columns)
                assert sum(map(abs, moved)) <= claim, (where, tally, moved)
                assert worth > 1 or min(moved, default=0) >= 0, (where, tally, moved)


def among(plain, hostile):
    """Rows among others: what comes after them in a file must not notice."""
    return [*plain[:MIDDLE], *hostile, *plain[MIDDLE:]]


def found(groups, group):
    """The tallies of a group; one that no row is in has none."""
    some = groups or {None: ()}
    return groups.get(group, (0,) * len(next(iter(some.values()))))


def answers(runner, question, unit):
    """The tallies of each group, every one of them an integer."""
    if question.keys.selected:
        rows = [
            (row[: len(question.keys.columns)], row[len(question.keys.columns) :])
            for row in doors.opened(runner.tallies(question, unit))
        ]
    else:
        rows = list(enumerate(doors.opened(runner.in_order(question, unit))))
    assert all(type(value) is int for _, tallies in rows for value in tallies)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def person(example, number):
    """The identifier of a person, of the type that an example has."""
    if isinstance(example, str):
        return f"0000{number:04}-0000-0000-0000-000000000000" if example.count("-") == 4 else f"{number}"
    # Several rows have no number for an identifier, with either sign, and belong to one person.
    missing = isinstance(example, float) and number % 4 == 3
    return math.copysign(math.nan, number % 8 - 5) if missing else type(example)(number)


def canonical(value):
    """Who an identifier means: all that are missing are one person, and numbers go by their value."""
    if value is None or value != value or (isinstance(value, str) and len(value) >= LARGE) or value == "NaN":
        return None
    if isinstance(value, float) and not math.isinf(value) and value == int(value):
        return str(int(value))
    return str(value)
