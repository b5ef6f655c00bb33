"""A plain Python evaluator of whole questions: lists, dictionaries and exact integers; the oracle of the engine."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from operator import ge, gt, le, lt, ne

from discreet.core.schema import Table
from discreet.engines.engine import PRIME, multipliers
from discreet.plan import stability
from discreet.plan.expressions import Name
from discreet.plan.keys import Tally, TallyQuery
from discreet.plan.nodes import (
    Derive,
    Filter,
    Join,
    MarkJoin,
    PerPerson,
    PersonJoin,
    Project,
    Scan,
    Union,
    columns_of,
    tables_of,
)
from discreet.plan.per_person import PART, own_column
from discreet.plan.stability import GRAIN, unit_of
from discreet.plan.types import type_of
from tests.plan import reference
from tests.plan.reaching import partners_of, reached

SECRET = b"a secret for tests"
MASK = (1 << 31) - 1
MULTIPLIERS = cache(multipliers)


@dataclass
class Data:
    """Raw rows of a table, each a dictionary of raw values; people are integers, or text."""

    table: Table
    rows: list
    whole: bool = True
    order: dict = field(default_factory=dict)


@dataclass
class Oracle:
    """The evaluator; what breaks it is for mutants only."""

    secret: bytes = SECRET
    bound_before_joins: bool = False
    order_by_index: bool = False
    strangers_meet: bool = False
    lonely_dropped: bool = False
    lonely_doubled: bool = False

    def rows(self, plan, world, unit):
        """Return (person, values) for every row of a plan."""
        tables = {name: data.table for name, data in world.items()}
        match plan:
            case Scan(table):
                found = self.scanned(world[table])
                if unit.bound == "table" or (self.bound_before_joins and not unit.is_row):
                    columns = columns_of(plan, tables)
                    return self.first_rows(found, columns, world[table].table.unit.max_rows, world[table].whole)
                return found
            case Filter(source, predicate):
                columns = columns_of(source, tables)
                kept = self.rows(source, world, unit)
                return [row for row in kept if evaluated(predicate, row[1], columns) is True]
            case Derive(source, name, expression):
                columns = columns_of(source, tables)
                found = self.rows(source, world, unit)
                return [(who, {**row, name: evaluated(expression, row, columns)}) for who, row in found]
            case Join(source, public, on):
                columns = columns_of(source, tables)
                return [
                    (who, {**row, **partner})
                    for who, row in self.before(source, public.fan_out(theirs for _, theirs in on), world, unit)
                    for partner in partners(row, columns, public, on)
                ]
            case Union(one, other):
                return alike([*self.rows(one, world, unit), *self.rows(other, world, unit)], all_whole(plan, world))
            case PerPerson(source):
                return people(plan, self.rows(source, world, unit), columns_of(source, tables))
            case Project(source, chosen):
                return [(who, {new: row[old] for new, old in chosen}) for who, row in self.rows(source, world, unit)]
            case PersonJoin(one, other, _, _, chosen, outer):
                whole = all_whole(plan, world)
                met = defaultdict(list)
                for who, row in alike(self.partners(plan, world, unit), whole):
                    met[who].append(row)
                met.pop(None, None)
                everyone = [row for rows in met.values() for row in rows]
                matches = [
                    (mine, columns_of(one, tables)[mine].step, theirs, columns_of(other, tables)[theirs].step)
                    for mine, theirs in plan.on
                ]
                pairs = []
                for who, row in alike(self.before(one, partners_of(plan, tables), world, unit), whole):
                    found = [
                        theirs
                        for theirs in (everyone if self.strangers_meet else met.get(who, ()))
                        if all(equal(row[a], step, theirs[b], other_step) for a, step, b, other_step in matches)
                    ]
                    if outer and not found and not self.lonely_dropped:
                        found = [{old: None for _, old in chosen}] * (2 if self.lonely_doubled else 1)
                    pairs += [(who, {**row, **{new: theirs[old] for new, old in chosen}}) for theirs in found]
                return pairs
            case MarkJoin(one, other, on, compare, name):
                whole = all_whole(plan, world)
                theirs = alike(self.rows(other, world, unit), whole)
                ours, others = columns_of(one, tables), columns_of(other, tables)

                def matched(who, row, person, partner):
                    same = who is not None and who == person
                    pairs = [(row[a], ours[a].step, partner[b], others[b].step) for a, b in on]
                    alike = all(equal(*pair) for pair in pairs)
                    return (same or self.strangers_meet) and alike and compares(compare, row, partner, ours, others)

                return [
                    (who, {**row, name: any(matched(who, row, *each) for each in theirs)})
                    for who, row in alike(self.rows(one, world, unit), whole)
                ]

    def before(self, source, most, world, unit):
        """Return the rows that are to meet up to `most` partners each: of each person so many as may."""
        tables = {name: data.table for name, data in world.items()}
        found, settled = self.rows(source, world, unit), unit_of(source, tables)
        if most <= 1 or settled.is_row or settled.bound == "table":
            return found
        limit = max(settled.max_rows, stability.MOST_PAIRS // most)
        return self.first_rows(found, self.base(source, tables), limit, all_whole(source, world))

    def partners(self, plan, world, unit):
        """Return the rows of the other side of a join, of each person and each value matched by the first ones."""
        tables = {name: data.table for name, data in world.items()}
        rows, columns = self.rows(plan.other, world, unit), self.base(plan.other, tables)
        parts = defaultdict(list)
        for who, row in rows:
            parts[tuple(row[theirs] for _, theirs in plan.on)].append((who, row))
        most, whole = partners_of(plan, tables), all_whole(plan.other, world)
        return [row for part in parts.values() for row in self.first_rows(part, columns, most, whole)]

    def scanned(self, data):
        identifier = data.table.unit.identifier
        return [
            (
                None if identifier is None else raw[identifier],
                {column.name: read(column, raw[column.name]) for column in data.table.columns},
            )
            for raw in data.rows
        ]

    def first_rows(self, rows, columns, most, whole):
        """Keep the first rows of each person in the secret order."""
        by_person = defaultdict(list)
        for index, (who, row) in enumerate(rows):
            numbers = [limb for name in sorted(columns) for limb in limbs(columns[name], row[name])]
            numbers = [index] if self.order_by_index else numbers
            by_person[who].append((self.key(person_limbs(who, whole), numbers), index))
        kept = {index for keyed in by_person.values() for _, index in sorted(keyed)[:most]}
        return [row for index, row in enumerate(rows) if index in kept]

    def key(self, people, numbers):
        return self.group_key(people, numbers) * (1 << 31) + self.hash(1, [*people, *numbers])

    def group_key(self, people, numbers):
        return pow(self.hash(0, [*people, *numbers]), 3, PRIME)

    def hash(self, which, numbers):
        row = MULTIPLIERS(self.secret)[which]
        return (row[0] + sum(number * row[place] for place, number in enumerate(numbers, 1))) % PRIME

    def base(self, plan, tables):
        match plan:
            case Filter(source) | Derive(source):
                return self.base(source, tables)
            case Join(source, public, on):
                matched = {theirs for _, theirs in on}
                new = {column.name: column for column in public.columns if column.name not in matched}
                return {**self.base(source, tables), **new}
            case MarkJoin(one):
                return self.base(one, tables)
            case PersonJoin(one, other, _, _, chosen):
                theirs = columns_of(other, tables)
                return {**self.base(one, tables), **{new: theirs[old] for new, old in chosen}}
        return columns_of(plan, tables)

    def tallied(self, question, world, unit):
        """Return the tallies of every listed group, in order."""
        tables = {name: data.table for name, data in world.items()}
        columns = columns_of(question.source, tables)
        whole = all_whole(question.source, world)
        listed = {key: place for place, key in enumerate(question.keys.listed())}
        groups = defaultdict(list)
        steps = [[steps_of(type_of(each, columns)) for each in tally.of] for tally in question.tallies]
        for who, row in self.rows(question.source, world, unit):
            place = listed.get(key_of(question.keys, row))
            if place is not None:
                added = [value(tally, row, columns, each) for tally, each in zip(question.tallies, steps, strict=True)]
                groups[who, place].append(added)
        if unit.is_row:
            found = {place: sums(rows) for (_, place), rows in groups.items()}
        elif question.weighed:
            found = self.weighed(question, groups, unit, whole, world)
        else:
            found = self.bounded(question, groups, unit, whole, reached(question.source, tables, unit))
        zeros = (0,) * len(question.tallies)
        return [found.get(place) or zeros for place in range(len(listed))]

    def weighed(self, question, groups, unit, whole, world):
        """Return sums of rows times their weights, and numbers of people who were bounded by themselves."""
        tables, total = {name: data.table for name, data in world.items()}, defaultdict(dict)
        many = Counter(who for who, _ in self.rows(question.source, world, unit))
        reaching = reached(question.source, tables, unit)
        alone = [number for number, tally in enumerate(question.tallies) if tally.kind == "people"]
        if alone:
            ones = {at: [[1] for _ in rows] for at, rows in groups.items()}
            people = self.bounded(
                TallyQuery(question.source, question.keys, (Tally("people"),)), ones, unit, whole, reaching
            )
            for place, (counted,) in people.items():
                total[place].update(dict.fromkeys(alone, counted))
        shares = self.capped(groups, unit, reaching, question.keys)
        for (who, place), rows in groups.items():
            weight = self.weight(who, many[who], unit) if shares is None else shares[who, place]
            for number in {*range(len(question.tallies))} - {*alone}:
                here = total[place].get(number, 0)
                total[place][number] = here + weight * sum(row[number] or 0 for row in rows)
        return {place: tuple(each.get(n, 0) for n in range(len(question.tallies))) for place, each in total.items()}

    def capped(self, groups, unit, reaching, keys):
        """Return what each row of a person in a group weighs, where that is capped by group."""
        if unit.max_rows_per_group is None or not keys.columns:
            return None
        each = unit.max_rows_per_group
        most = min(reaching, each * (unit.max_groups if keys.selected else min(unit.max_groups, keys.size)))
        taken = defaultdict(int)
        for (who, _), rows in groups.items():
            taken[who] += min(len(rows), each)
        return {
            (who, place): 0
            if who is None
            else GRAIN * min(len(rows), each) * min(taken[who], most) // (len(rows) * taken[who])
            for (who, place), rows in groups.items()
        }

    def weight(self, who, many, unit):
        """Return what each of so many rows of a person weighs."""
        if who is None:
            return 0
        return GRAIN if unit.bound == "table" else min(GRAIN, GRAIN * unit.max_rows // many)

    def bounded(self, question, groups, unit, whole, rows):
        by_person = defaultdict(list)
        for (who, place), found in groups.items():
            key = self.group_key(person_limbs(who, whole), [place]) if question.keys.columns else 0
            by_person[who].append((key, place, found))
        total = defaultdict(lambda: [0] * len(question.tallies))
        alone = all(tally.kind == "people" for tally in question.tallies) and unit.bound == "query"
        limited = bool(question.keys.columns) and (alone or unit.max_groups < rows)
        for who, mine in by_person.items():
            mine.sort(key=lambda each: each[:2])
            if limited:
                taken = self.limited(mine, rows, unit.max_groups)
            elif unit.bound == "table":
                taken = [(place, found, len(found)) for _, place, found in mine]
            else:
                taken = self.shared(mine, rows, who, whole)
            for place, found, allotted in taken:
                for number, tally in enumerate(question.tallies):
                    total[place][number] += 1 if tally.kind == "people" else shrunk(found, number, allotted)
        return {place: tuple(each) for place, each in total.items()}

    def limited(self, mine, rows, most):
        before = 0
        for _, place, found in mine[:most]:
            yield place, found, min(len(found), max(0, rows - before))
            before += len(found)

    def shared(self, mine, rows, who, whole):
        everything = sum(len(found) for _, _, found in mine)
        start = self.hash(1, person_limbs(who, whole)) % everything
        before = 0
        for _, place, found in sorted(mine, key=lambda each: each[1]):
            upto = before + len(found)
            share = (rows * upto + start) // everything - (rows * before + start) // everything
            allotted = len(found) if everything <= rows else share
            before = upto
            if allotted > 0:
                yield place, found, allotted

    def values(self, source, keys, of, world, unit):
        """Return (group, value) of what counts for cells."""
        tables = {name: data.table for name, data in world.items()}
        columns, whole = columns_of(source, tables), all_whole(source, world)
        listed = {key: place for place, key in enumerate(keys.listed())}
        rows = []
        for who, row in self.rows(source, world, unit):
            place, found = listed.get(key_of(keys, row)), evaluated(of, row, columns)
            if place is not None and found is not None:
                rows.append((who, {**row, "~place": place, "~value": found}))
        if unit.is_row:
            return [(row["~place"], row["~value"]) for _, row in rows]
        if unit.bound == "query":
            rows = self.first_rows(rows, self.base(source, tables), unit.max_rows, whole)
        if keys.columns and unit.max_groups < reached(source, tables, unit):
            rows = self.first_groups(rows, unit.max_groups, whole)
        return [(row["~place"], row["~value"]) for _, row in rows]

    def first_groups(self, rows, most, whole):
        groups = defaultdict(set)
        for who, row in rows:
            groups[who].add((self.group_key(person_limbs(who, whole), [row["~place"]]), row["~place"]))
        kept = {who: {place for _, place in sorted(mine)[:most]} for who, mine in groups.items()}
        return [(who, row) for who, row in rows if row["~place"] in kept[who]]

    def counts(self, source, keys, of, world, unit, requests):
        """Return the cells that are not empty, for each request."""
        values = self.values(source, keys, of, world, unit)
        found = []
        for request in requests:
            last = request.low + request.width * request.cells
            inside = (v for group, v in values if group == request.group and request.low <= v < last)
            found.append(dict(Counter((v - request.low) // request.width for v in inside)))
        return found

    def people_by_key(self, source, keys, world, unit):
        """Return how many people each key has, after bounding everyone's keys."""
        whole = all_whole(source, world)
        mine = defaultdict(set)
        for index, (who, row) in enumerate(self.rows(source, world, unit)):
            key = key_of(keys, row)
            if None not in key:
                mine[index if unit.is_row else who].add(key)
        found = Counter()
        for who, held in mine.items():
            numbers = {key: [n for k, v in zip(keys.columns, key, strict=True) for n in limbs(k.of, v)] for key in held}
            people = [] if unit.is_row else person_limbs(who, whole)
            order = sorted(held, key=lambda key: (self.group_key(people, numbers[key]), key))
            found.update(order[: unit.max_groups])
        return dict(found)


def people(plan, rows, columns):
    """Return one row for each person who has an identifier: aggregates over all of their rows, clamped."""
    mine = defaultdict(list)
    for who, row in rows:
        mine[who].append(row)
    return [
        (who, {value.name: own(value, found, columns, plan.rows) for value in plan.values})
        for who, found in mine.items()
        if who is not None
    ]


def own(value, rows, columns, most):
    """Return one value of a person, in the steps of its column; None where there is nothing to aggregate."""
    if value.of is None:
        return min(len(rows), most)
    found = [each for each in (evaluated(value.of, row, columns) for row in rows) if each is not None]
    match value.word:
        case "count":
            return min(len(found), most)
        case "min" | "max":
            return {"min": min, "max": max}[value.word](found, default=None)
        case "sum":
            low, high = own_column(value, columns, most).steps
            return min(max(sum(found), low), high) if found else None
    return math.floor(Fraction(PART * sum(found), len(found)) + Fraction(1, 2)) if found else None


def all_whole(plan, world):
    """Say whether everyone in a plan is told apart by an integer."""
    return all(world[name].whole for name in tables_of(plan))


def alike(rows, whole):
    """Return rows with people as integers, or all as text."""
    return rows if whole else [(None if who is None else str(who), row) for who, row in rows]


_read, _evaluated, _names = {}, {}, {}


def read(column, raw):
    """Read a raw value, or remember how it was read."""
    key = column.name, column.kind, column.bounds, column.step, column.keys, type(raw), repr(raw)
    if key not in _read:
        _read[key] = reference.read(column, raw)
    return _read[key]


def evaluated(expression, row, columns):
    """Evaluate an expression, or remember what it was for the same values of the columns it names."""
    if expression not in _names:  # expressions hash by identity
        _names[expression] = sorted(names_in(expression))
    names = _names[expression]
    key = expression, *(row[name] for name in names), *(columns[name] for name in names)
    if key not in _evaluated:
        _evaluated[key] = reference.evaluate(expression, row, columns)
    return _evaluated[key]


def names_in(expression):
    if isinstance(expression, Name):
        return {expression.name}
    return {name for part in expression.parts for name in names_in(part)}


def partners(row, columns, public, on):
    """Yield the columns that each partner in a public table adds."""
    names = [column.name for column in public.columns]
    steps = {column.name: column.step for column in public.columns}
    for partner in public.rows:
        theirs = dict(zip(names, partner, strict=True))
        if all(equal(row[mine], columns[mine].step, theirs[other], steps[other]) for mine, other in on):
            yield {name: theirs[name] for name in names if name not in {other for _, other in on}}


def equal(mine, step, theirs, other):
    if mine is None or theirs is None:
        return False
    return mine == theirs if step is None else mine * step == theirs * other


ORDERS = {"<": lt, "<=": le, ">": gt, ">=": ge, "!=": ne}


def compares(compare, row, partner, ours, theirs):
    """Say whether a row compares so with a partner; what is missing compares with nothing."""
    if compare is None:
        return True
    mine, order, other = compare
    if row[mine] is None or partner[other] is None:
        return False
    steps = [1 if column.step is None else column.step for column in (ours[mine], theirs[other])]
    one, two = row[mine], partner[other]
    return ORDERS[order](one, two) if ours[mine].step is None else ORDERS[order](one * steps[0], two * steps[1])


def key_of(keys, row):
    return tuple(
        row[key.of.name]
        if key.edges is None or row[key.of.name] is None
        else sum(edge <= row[key.of.name] for edge in key.edges)
        for key in keys.columns
    )


def steps_of(column):
    return (0, 0) if column.kind in ("text", "category") else column.steps


def value(tally, row, columns, steps):
    """Return what a row adds to a tally; None where an expression is null."""
    found = [evaluated(each, row, columns) for each in tally.of]
    if None in found:
        return None
    match tally.kind:
        case "rows" | "people" | "present":
            return 1
        case "sum":
            return found[0] - steps[0][0]
    y = [2 * x - low - high for x, (low, high) in zip(found, steps, strict=True)]
    w = [high - low for low, high in steps]
    return y[0] * y[1] + w[0] * w[1]


def sums(rows):
    return tuple(sum(each or 0 for each in column) for column in zip(*rows, strict=True))


def shrunk(rows, number, allotted):
    """Return the sum of a person's values in a group, shrunk to the rows that were allotted."""
    present = [row[number] for row in rows if row[number] is not None]
    if not present:
        return 0
    return sum(present) * min(len(present), allotted) // len(present)


def limbs(column, found):
    match column.kind:
        case "flag":
            return [0 if found is None else 1 + found]
        case "text":
            return text_limbs(found)
        case "category":
            return [0 if found is None else 1 + column.keys.index(found)]
    low, high = column.steps
    number, most = 0 if found is None else found - low + 1, high - low + 1
    count = 1 if most < 1 << 31 else -(-most.bit_length() // 31)
    return [(number >> 31 * place) & MASK for place in range(count)]


def text_limbs(found):
    if found is None:
        return [0, 0]
    number = int.from_bytes(hashlib.md5(found.encode()).digest()[8:], "little")
    return [number & MASK, (number >> 31) & MASK]


def person_limbs(who, whole):
    """Return the limbs of an identifier, which follow from its text alone, integers or not."""
    text = None if who is None else str(who)
    if text is None or not re.fullmatch("-?[1-9][0-9]{0,17}|0", text):
        return text_limbs(text)
    return [int(text) & MASK, (int(text) >> 31) & MASK]
