"""TPC-H as it stands, customers protected: answers are those of DuckDB, and all else is refused with its reason."""

from contextlib import ExitStack
from decimal import Decimal

import duckdb
import pytest
from bench.tasks.tpch_queries import QUERIES

from discreet.plan.sql.refusals import SqlRefused
from tests.stories.tpch.world import frames, session_of, tables

ANSWERED = (1, 4, 5, 6, 7, 8, 9, 12, 13, 14, 19, 21, 22)
# Nobody is in these: they are answered exactly, for nothing.
PUBLIC = (11, 16)
# Why each of the others is not: nobody is in it, it shows single people, or it compares a person with others.
REFUSED = {
    2: "its rows follow from the row that asks",
    3: "selected privately",
    10: "'c_custkey' identifies people",
    15: "told by a link",
    17: "its rows follow from the row that asks",
    18: "groups of groups",
    20: "its rows follow from the row that asks",
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((False, False), id="in the question"),
        pytest.param((True, True), id="registered, behind a server"),
        pytest.param((True, False), id="registered", marks=pytest.mark.slow),
        pytest.param((False, True), id="in the question, behind a server", marks=pytest.mark.slow),
    ],
)
def world(tmp_path_factory, request):
    found = frames(tables())
    registered, served = request.param
    folder = tmp_path_factory.mktemp("tpch")
    with ExitStack() as stack, duckdb.connect() as plain:
        session, public = session_of(folder, found, stack, registered=registered, served=served)
        for name, frame in found.items():
            plain.register(name, frame)
        yield session, public, plain


def test_every_query_is_accounted_for():
    assert sorted([*ANSWERED, *PUBLIC, *REFUSED]) == sorted(QUERIES) == [*range(1, 23)]


@pytest.mark.parametrize("number", ANSWERED)
def test_a_query_as_it_stands_is_answered_as_duckdb_does(world, number):
    session, public, plain = world
    answer = session.sql(QUERIES[number], epsilon=10**9, public=public)
    found = plain.sql(QUERIES[number])
    wanted = {}
    for row in found.fetchall():
        named = dict(zip(found.columns, row, strict=True))
        wanted[tuple(named[key] for key in answer.keys)] = named
    assert wanted
    measured = [column.name for column in answer.columns]
    for row in answer:
        there = wanted.pop(tuple(row[key] for key in answer.keys), None)
        for name in measured:
            truth = 0.0 if there is None or there[name] is None else float(there[name])
            if there is None and row[name] is None:
                continue
            assert row[name] == pytest.approx(truth, rel=1e-3, abs=0.5), (row, name)
    assert wanted == {}


@pytest.mark.parametrize("number", PUBLIC)
def test_a_query_about_public_tables_alone_is_answered_exactly_and_for_nothing(world, number):
    session, public, plain = world
    before = session.head()
    answer = session.sql(QUERIES[number], epsilon=1, public=public)
    wanted = plain.sql(QUERIES[number])
    names = [*answer.keys, *(column.name for column in answer.columns)]
    found = [tuple(row[name] for name in names) for row in answer]
    rows = [dict(zip(wanted.columns, row, strict=True)) for row in wanted.fetchall()]
    assert found
    assert found == [tuple(float(v) if isinstance(v := row[name], Decimal) else v for name in names) for row in rows]
    assert answer.loss is None
    assert session.head() == before
    assert session.preview_sql(QUERIES[number], public=public).price == "nothing"


@pytest.mark.parametrize("number", REFUSED)
def test_what_is_refused_says_why_where_it_stands(world, number):
    session, public, _ = world
    with pytest.raises(SqlRefused, match=REFUSED[number]):
        session.sql(QUERIES[number], epsilon=1, public=public)


def test_orders_are_groups_that_are_selected_by_how_many_people_have_them(world):
    session, public, _ = world
    assert len(session.sql(QUERIES[3], epsilon=10, delta=1e-6, public=public)) == 0
