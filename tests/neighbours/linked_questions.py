"""Questions in SQL about random linked schemas, and what reaches the mechanisms on both of two neighbours.

    python -m tests.neighbours.linked_questions --engine duckdb --first 1000 --seconds 600

asks until the time is over. The neighbours are a schema with a person and without: with all rows that belong to them
through any chain of links, or with those alone that name them, so that the others refer to nothing.
"""

import argparse
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from discreet.ask.programme import Programme
from discreet.ask.runner import Runner
from discreet.ask.sql import spoken
from discreet.core.doors import opened
from discreet.core.errors import Refusal
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.parts.statistic import Statistic
from discreet.noise.draws import Draws, new_key
from discreet.plan.nodes import public
from tests.ask.desks import Declared
from tests.neighbours.schemas import NOBODY, Draw, random_schema
from tests.plan.relational import SECRET

PRICES = ({"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "delta": 1e-6})
DIMENSION = public("d", {"y": [0, 1, 2, 3, 4, 5], "f": ["p", "q", "p", "q", "r", "r"]})
SEVERAL = public("m", {"y": [0, 1, 1, 2, 2, 2], "h": [True, True, False, True, False, None]})


def question(draw, schema):
    """Write a question about a random schema: joins along links, of a person's rows, subqueries, keys and sums."""
    place = draw.number(0, len(schema.tables) - 1)
    return draw.one([_along, _along, _along, _each_person, _outer, _oneself])(draw, schema, place)


def _along(draw, schema, place):
    """Rows of a table, with what they refer to, and public rows beside them."""
    known, joins, where = [place], [], []
    while schema.tables[known[-1]].refers is not None and draw.chance(0.6):
        above = schema.tables[known[-1]].refers
        where.append(f"a{known[-1]}.ref = a{above}.key")
        known.append(above)
    joins = [f"t{each} a{each}" for each in known]
    if draw.chance(0.3):
        joins.append(draw.one(["d", "m"]) + " p")
        where.append(f"a{draw.one(known)}.x = p.y")
    where += [_condition(draw, schema, draw.one(known)) for _ in range(draw.number(0, 2))]
    return _asked(draw, ", ".join(sorted(joins)), where, [f"a{each}" for each in known])


def _oneself(draw, schema, _place):
    """Two rows of one person."""
    where = ["a0.id = b.id", *([_condition(draw, schema, 0)] if draw.chance(0.5) else [])]
    where += [draw.one(["a0.x < b.x", "a0.g = b.g", "b.x >= 4"])] if draw.chance(0.7) else []
    return _asked(draw, "t0 a0, t0 b", where, ["a0", "b"])


def _outer(draw, schema, place):
    """Rows with those that refer to them, where there are some."""
    refers = [number for number, table in enumerate(schema.tables) if table.refers is not None]
    below = draw.one(refers)
    above = schema.tables[below].refers
    more = f" AND a{below}.x {draw.one(['<', '>='])} {draw.number(0, 9)}" if draw.chance(0.5) else ""
    tables = f"t{above} a{above} LEFT JOIN t{below} a{below} ON a{below}.ref = a{above}.key{more}"
    where = [_condition(draw, schema, above)] if draw.chance(0.5) else []
    return _asked(draw, tables, where, [f"a{above}", f"a{below}"])


def _each_person(draw, _schema, _place):
    """Sums of each person, and their distribution."""
    inner = draw.one(["x >= 2", "g = 'A'", "x < 20"])
    own = f"SELECT id, COUNT(*) AS n, SUM(x) AS x, MAX(x) AS g FROM t0 WHERE {inner} GROUP BY id"
    by = draw.one(["", "n"])
    title = f"{by}, " if by else ""
    return f"SELECT {title}COUNT(*) AS c, AVG(x) AS m FROM ({own}) AS q" + (f" GROUP BY {by}" if by else "")


def _condition(draw, schema, place):
    """A condition of a row, or about rows of the same person."""
    mine = f"a{place}"
    plain = [f"{mine}.x >= {draw.number(0, 10)}", f"{mine}.g = 'A'", f"{mine}.x IN (1, 2, {draw.number(3, 9)})"]
    plain += [f"NOT ({mine}.x < 3 OR {mine}.g = 'B')", f"{mine}.x IS NULL", f"{mine}.x BETWEEN 2 AND 7"]
    below = [number for number, table in enumerate(schema.tables) if table.refers == place]
    if below and draw.chance(0.6):
        other = draw.one(below)
        inner = f"SELECT s.ref FROM t{other} s WHERE s.ref = {mine}.key"
        inner += draw.one(["", f" AND s.x > {mine}.x", " AND s.g = 'B'", f" AND s.g = {mine}.g AND s.x <> {mine}.x"])
        listed = f"{mine}.key {draw.one(['IN', 'NOT IN'])} (SELECT s.ref FROM t{other} s WHERE s.x >= 3)"
        return draw.one([f"EXISTS ({inner})", f"NOT EXISTS ({inner})", listed, f"(EXISTS ({inner}) OR {mine}.x > 7)"])
    return draw.one(plain)


def _asked(draw, tables, where, names):
    by = draw.one(["", *(f"{name}.g" for name in names), *(f"{name}.x" for name in names)])
    by = f"CASE WHEN {by} = 'A' THEN 1 ELSE 0 END" if by.endswith("g") and draw.chance(0.2) else by
    values = ["COUNT(*)", *(f"{word}({name}.x)" for name in names for word in ("SUM", "AVG", "COUNT", "VAR_POP"))]
    values += ["COUNT(DISTINCT a0.id)"] if "a0" in names else []
    values += [f"SUM({names[0]}.x * {names[-1]}.x)", f"COUNT(*) FILTER (WHERE {names[-1]}.g = 'B')"]
    chosen = ", ".join(f"{draw.one(values)} AS v{number}" for number in range(draw.number(1, 3)))
    text = f"SELECT {chosen} FROM {tables}" + (f" WHERE {' AND '.join(where)}" if where else "")
    return text + (f" GROUP BY {by}" if by else "")


@dataclass
class Met:
    """What reached the mechanisms: statistics in the order in which they were asked, with their integers by group."""

    reached: list = field(default_factory=list)

    @contextmanager
    def listening(self):
        """Write down all integers that noise is added to."""
        plain = Statistic.measured

        def measured(statistic, exact):
            self.reached.append((statistic, [statistic.inner(each) for each in opened(exact)]))
            return plain(statistic, exact)

        with patch.object(Statistic, "measured", measured):
            yield


def answered(asked, subject, schema, limits, key):
    """Answer a question about a schema as a release does, and return the answer's frame and what reached noise."""
    relations, met = schema.linked(subject, limits), Met()
    with met.listening():
        runner = Runner(subject.engine, relations, subject.dialect, SECRET)
        answer = Programme(asked).run(runner, Draws(key))
    named = [column.name for column in answer.columns]
    return (answer.keys, answer.rows, named, answer.notes, answer.unit), met.reached


def compare(one, other, times, where):
    """Hold what one person moves against what each mechanism claims; count how much moved.

    `times` are the statistics that a person meets in several groups, each of which is paid for.
    """
    (frame, before), (others, after) = one, other
    assert frame == others, (where, frame, others)
    assert [statistic for statistic, _ in before] == [statistic for statistic, _ in after], where
    moved = 0
    for (statistic, ours), (_, theirs) in zip(before, after, strict=True):
        assert len(ours) == len(theirs), where
        begin = 0
        for noise, size in statistic.noises:
            claim = noise.sensitivity
            apart = [
                abs(a - b)
                for mine, their in zip(ours, theirs, strict=True)
                for a, b in zip(mine[begin : begin + size], their[begin : begin + size], strict=True)
            ]
            begin += size
            many = times.get(statistic, 1)
            seen = (max(apart, default=0), sum(apart), sum(each * each for each in apart))
            most = claim.linf, claim.l1 * many, claim.l2_squared * many
            assert all(found <= least for found, least in zip(seen, most, strict=True)), (where, seen, claim, many)
            if claim.l0 * many > 1 and claim.l1 == claim.l0 * claim.linf:  # the loss is then one entry's, composed
                assert sum(map(bool, apart)) <= claim.l0 * many, (where, apart, claim, many)
            moved += seen[1]
    return moved


def check(subject, seed, seen, *, repeated=False):
    """Ask one question about one schema and all its neighbours; `seen` counts what became of it."""
    draw = Draw(f"linked questions {seed}")
    schema = random_schema(seed, subject.lacks, repeated=repeated)
    schema = type(schema)(schema.tables, keyed=True)
    limits = [(rows, draw.number(1, rows)) for rows in (draw.one((1, 2, 3, 20)) for _ in schema.tables)]
    tables = {name: relation.table for name, relation in schema.linked(subject, limits).items()}
    text, price = question(draw, schema), draw.one(PRICES)
    where = (seed, text, limits, price)
    try:
        asked = spoken(Declared(tables), text, None, None, None, None, public=[DIMENSION, SEVERAL]).report.asked(
            **price
        )
    except Refusal as refusal:
        seen["refused"] += 1
        seen[f"refused: {refusal.why}"] += 1
        return
    seen["answered"] += 1
    key, times = new_key(), {each.statistic: each.times for each in asked.measures if isinstance(each, SumMeasure)}
    full = answered(asked, subject, schema, limits, key)
    people = sorted({owner for mine in schema.owners() for owner in mine} - {NOBODY}, key=str)
    if subject.one_in > 1:
        people = people[-1:]
    for person in people:
        for behind in (False, True):
            lacking = answered(asked, subject, schema.without(person, behind=behind), limits, key)
            if repeated:  # outside the promise: it may move more, and still nothing raises or looks different
                assert full[0] == lacking[0], (where, person)
                continue
            seen["moved"] += compare(full, lacking, times, (*where, person, behind)) > 0
            seen["pairs"] += 1


def main():
    """Ask until the time is over, and print what became of the questions."""
    from tests.engines.subjects import Opened

    words = argparse.ArgumentParser()
    words.add_argument("--engine", default="duckdb")
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--seconds", type=float, default=60)
    given = words.parse_args()
    subjects, seen, seed = Opened(), Counter(), given.first
    while time.process_time() < given.seconds:
        check(subjects[given.engine], seed, seen, repeated=seed % 5 == 4)
        seed += 1
    subjects.close()
    for word, many in seen.most_common():
        print(f"{many:7,} {word}")  # noqa: T201
    print(f"seeds {given.first} to {seed - 1}, {time.process_time():.0f} s of CPU time")  # noqa: T201


if __name__ == "__main__":
    main()
