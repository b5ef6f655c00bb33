"""Batches: every engine hands out the codes of the rows that the reference keeps, and the same ones of neighbours."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import BATCH_ROWS, PRIME, DeadlineExceeded, EngineFailed
from discreet.plan.batches import MISSING, batches, person_hashes
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.person_sums import PersonBound, person_function, person_sums
from discreet.plan.stability import reach, unit_of
from tests.engines.subjects import ENGINES, SUBJECTS
from tests.engines.test_questions import KINDS, answered, world
from tests.plan import worlds
from tests.plan.relational import SECRET, Data, Oracle, all_whole, limbs, person_limbs
from tests.plan.worlds import Chance

PLANS = ([], ["filter"], ["derive"], ["project"], ["join"], ["union"])
NAMES = ("x", "n", "ward", "level", "ill", "day")
PARTS = 7


@person_function
def sums_of(batch):
    """The sums of every feature's codes over a person's rows, and how many rows they have; null adds nothing."""
    values = np.where(batch.codes == MISSING, 0, batch.codes)
    return batch.by_person(np.column_stack([values, np.ones(len(values), np.int64)]))


def features_of(columns):
    return {name: Name(name) for name in NAMES if name in columns and columns[name].kind != "text"}


def made(subject, plan, relations, columns, **options):
    features = features_of(columns)
    return batches(
        subject.engine, plan, features, relations, subject.dialect, secret=SECRET, **{"parts": PARTS, **options}
    )


def code(feature, row):
    value = row[feature.name]
    if value is None:
        return MISSING
    return feature.column.keys.index(value) if feature.column.kind == "category" else int(value) - feature.low


def reference(found, plan, world_, tables):
    """Return the batches in plain Python: of each one the secret key of every person, with the codes of their rows."""
    unit, oracle = unit_of(plan, tables), Oracle()
    rows, base, whole = oracle.rows(plan, world_, unit), oracle.base(plan, tables), all_whole(plan, world_)
    people = {}
    for index, (who, row) in enumerate(rows):
        numbers = [limb for name in sorted(base) for limb in limbs(base[name], row[name])]
        mine = oracle.key([] if unit.is_row else person_limbs(who, whole), numbers)
        key = (mine, index) if unit.is_row else (oracle.key(person_limbs(who, whole), []), 0)
        people.setdefault(key, []).append((mine, [code(feature, row) for feature in found.features]))
    parts = [[] for _ in range(found.parts)]
    for (key, _), mine in sorted(people.items()):
        kept = [codes for _, codes in sorted(mine)[: reach(plan, unit, tables)]]
        parts[(key >> 31) * found.parts // PRIME].append((key, kept))
    return parts


def told(found):
    """Return what the batches hold: for each one the hash and the codes of every person."""
    return [
        [(int(one), batch.codes[batch.person == place].tolist()) for place, one in enumerate(batch.hashes)]
        for batch in map(opened, found)
    ]


def hashed(parts, is_row):
    """Put the hashes of people in the place of their keys, counting rows that are alike."""
    seen, found = {}, []
    for part in parts:
        found.append([])
        for key, codes in part:
            seen[key] = seen.get(key, 0) + is_row
            (one,) = person_hashes(np.array([key]), np.array([seen[key]]), SECRET)
            found[-1].append((int(one), codes))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operators", PLANS, ids=lambda operators: " ".join(operators) or "scan")
def test_batches_are_those_of_the_reference(subject, kind, operators):
    chance, found, tables, relations = world(subject, "batches", kind, operators, kind=kind)
    plan = worlds.plan_of(chance, operators)
    columns = columns_of(plan, tables)
    if kind == "row" and reach(plan, unit_of(plan, tables), tables) > 1:
        with pytest.raises(dp.BadParameter, match="single rows are protected"):
            made(subject, plan, relations, columns)
        return
    asked = made(subject, plan, relations, columns)
    assert told(asked) == hashed(reference(asked, plan, found, tables), kind == "row")


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_sum_over_people_is_the_sum_that_sql_computes(subject, kind):
    """Nobody has more rows than count, so that nothing is bounded in either way."""
    _, _, tables, relations = world(subject, "sums", kind, kind=kind)
    unit = replace(unit_of(Scan("t"), tables), max_rows=1000, max_groups=1000)
    tables = {"t": replace(tables["t"], unit=unit)}
    relations = {"t": replace(relations["t"], table=tables["t"])}
    asked = made(subject, Scan("t"), relations, columns_of(Scan("t"), tables))
    numbers = [each for each in asked.features if each.column.kind in ("number", "date")]
    tallies = (*(Tally("sum", (Name(each.name),)) for each in numbers), Tally("rows"))
    (expected,) = answered(subject, TallyQuery(Scan("t"), NO_KEYS, tallies), relations, unit)
    bound = PersonBound("l1", 1 << 30, len(asked.features) + 1)
    found = opened(person_sums(asked, sums_of, bound))
    places = [*(asked.features.index(each) for each in numbers), -1]
    assert tuple(found[place] for place in places) == expected


def test_clipped_sums_are_the_same_everywhere(subject):
    """Somebody with many rows is cut to those that count, and then to the bound."""
    data = worlds.table_of(Chance("clipped"), dp.person("id", max_rows=3))
    data.rows = [worlds.raw_row(Chance("clipped", number), number % 4) for number in range(60)]
    asked = made(subject, Scan("t"), {"t": subject.loaded(data)}, data.table)
    found, again = (opened(person_sums(asked, sums_of, PersonBound("linf", 3, len(NAMES) + 1))) for _ in range(2))
    assert found == again
    expected = np.zeros(len(NAMES) + 1, np.int64)
    for part in reference(asked, Scan("t"), {"t": data}, {"t": data.table}):
        for _, codes in part:
            values = np.where(np.array(codes) == MISSING, 0, codes).sum(axis=0)
            expected += np.clip([*values, len(codes)], -3, 3)
    assert found == tuple(expected)
    assert found[-1] == 4 * 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_neighbour_changes_one_batch_by_their_own_rows(subject, kind):
    """Neither the order of others nor where batches end tells who else is there."""
    data = worlds.table_of(Chance("neighbours"), worlds.unit_of(Chance(kind), kind), whole=False)
    data.rows = [worlds.raw_row(Chance("neighbours", number), str(number % 9)) for number in range(40)]
    more = 1 if kind == "row" else 5
    larger = Data(
        data.table, [*data.rows, *(worlds.raw_row(Chance("more", n), "one more") for n in range(more))], False
    )
    before, after = (told(made(subject, Scan("t"), {"t": subject.loaded(each)}, data.table)) for each in (data, larger))
    assert len(before) == len(after) == PARTS
    changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    ((less, full),) = changed
    ((place, (_, rows)),) = [(place, each) for place, each in enumerate(full) if each not in less]
    assert full[:place] + full[place + 1 :] == less
    assert 1 <= len(rows) <= data.table.unit.max_rows


def test_weights_are_those_of_the_rows_and_null_weighs_nothing(subject):
    data = worlds.table_of(Chance("weights"), dp.person("id", max_rows=50))
    data.rows = [{**worlds.raw_row(Chance(n), 1), "n": n if n else None} for n in range(5)]
    asked = made(subject, Scan("t"), {"t": subject.loaded(data)}, data.table, weight=Name("n"))
    assert sorted(value for batch in asked for value in opened(batch).weights.tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(dp.BadParameter, match="never negative"):
        made(subject, Scan("t"), {"t": subject.loaded(data)}, data.table, weight=Name("x"))


def test_an_empty_table_has_as_many_batches_as_any_other(subject):
    data = Data(worlds.table_of(Chance(1), worlds.unit_of(Chance(1), "rows")).table, [])
    assert told(made(subject, Scan("t"), {"t": subject.loaded(data)}, data.table)) == [[]] * PARTS


@pytest.mark.parametrize("name", ENGINES)
def test_rows_are_handed_out_a_part_at_a_time_in_order(name):
    subject = SUBJECTS[name]()
    many = BATCH_ROWS * 2 + 5
    sql = {
        "duckdb": f"SELECT range AS i FROM range({many}) ORDER BY i",
        "postgres": f"SELECT i FROM generate_series(0, {many - 1}) AS g(i) ORDER BY i",
        "spark": f"SELECT id AS i FROM range({many}) ORDER BY i",
    }[name]
    with subject.opened() as engine:
        for within in (False, True):
            if within:
                with engine.question(600):
                    found = list(engine.batches(sql))
            else:
                found = list(engine.batches(sql))
            assert max(map(len, found)) <= BATCH_ROWS
            assert [row for rows in found for row in rows] == [(i,) for i in range(many)]
        with closing(engine.batches(sql)) as handed:
            next(handed)
        assert engine.rows("SELECT 7") == [(7,)]


@pytest.mark.parametrize("name", ENGINES)
def test_failures_and_deadlines_have_one_text(name):
    subject = SUBJECTS[name]()
    with subject.opened() as engine:
        with pytest.raises(EngineFailed) as failed:
            list(engine.batches("SELECT nothing_of_that_name"))
        with pytest.raises(DeadlineExceeded) as late, engine.question(0.3):
            list(engine.batches(subject.endless))
        assert str(late.value) == str(failed.value) == str(EngineFailed())
        assert failed.value.__cause__ is None
        assert engine.rows("SELECT 7") == [(7,)]


def test_another_vault_has_other_hashes_and_other_batches():
    found = []
    data = worlds.table_of(Chance("vault"), dp.person("id", max_rows=3))
    data.rows = [worlds.raw_row(Chance("vault", number), number) for number in range(20)]
    for secret in (SECRET, b"another secret"):
        subject = SUBJECTS["duckdb"]()
        with DuckDBEngine(secret, threads=1) as subject.engine:
            asked = made(subject, Scan("t"), {"t": subject.loaded(data)}, data.table)
            found.append([[one for one, _ in part] for part in told(replace(asked, secret=secret))])
    one, other = found
    assert not {each for part in one for each in part} & {each for part in other for each in part}
    assert [*map(len, one)] != [*map(len, other)]


def test_nothing_else_is_asked_of_duckdb_while_it_hands_out_rows():
    with DuckDBEngine(SECRET) as engine:
        handed = engine.batches("SELECT * FROM range(100000)")
        next(handed)
        with pytest.raises(dp.Refusal, match="still hands out"):
            engine.rows("SELECT 1")
        assert sum(map(len, handed)) == 100_000 - BATCH_ROWS
        assert engine.rows("SELECT 1") == [(1,)]
