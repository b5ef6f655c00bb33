"""Questions about public tables alone: exact, free, of one state of the tables, and from their vault's desk."""

import pytest

import discreet as dp
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.sql.refusals import SqlRefused
from tests.ask.desks import Textual

WARDS = {"ward": ["A", "B", "C"], "floor": [1, 1, 2], "opened": ["2020-01-01", "2021-05-05", "2019-02-02"]}


@pytest.fixture
def vault(tmp_path):
    curator = dp.Curator(tmp_path / "vault.discreet")
    unit, columns = dp.person("id", max_rows=2), {"ward": dp.one_of("A", "B", "C")}
    curator.register(
        "visits", {"id": [1, 2], "ward": ["A", "B"]}, unit=unit, columns=columns, budget=dp.Budget(epsilon=1)
    )
    curator.register_public("wards", WARDS, key="ward")
    return curator


@pytest.fixture
def session(vault):
    return vault.session(vault.grant("alice", "visits"))


FLOORS = "SELECT floor, COUNT(*) AS n FROM wards GROUP BY floor ORDER BY floor"


def test_it_costs_nothing_and_leaves_no_trace(session):
    before = session.head()
    answer = session.sql(FLOORS)
    assert [(row["floor"], row["n"]) for row in answer] == [(1, 2), (2, 1)]
    assert answer.loss is None
    assert answer.cell(column="n") if len(answer) == 1 else answer.column("n").cells[0].low == 2
    assert "public tables alone" in str(answer.notes)
    found = session.preview_sql(FLOORS, epsilon=1, sql=True)
    assert (found.price, [line.within for line in found.lines]) == ("nothing", ["exact", "exact"])
    assert found.sql[0].startswith("SELECT ")
    assert session.head() == before


def test_it_is_about_the_table_as_it_is_registered_now(vault, session):
    session.sql(FLOORS)
    vault.refresh_public("wards", {**WARDS, "floor": [1, 2, 2]})
    assert [row["n"] for row in session.sql(FLOORS)] == [1, 2]


def test_a_revoked_grant_reads_nothing(vault):
    session = vault.session(vault.grant("bob", "visits"))
    vault.revoke("bob")
    with pytest.raises(dp.Refusal):
        session.sql(FLOORS)


def test_a_question_with_a_private_table_is_no_public_one(session):
    with pytest.raises(SqlRefused, match="single rows"):
        session.sql("SELECT ward FROM visits", epsilon=1)
    with pytest.raises(SqlRefused):
        session.sql("SELECT MIN(floor) AS f FROM wards WHERE ward IN (SELECT ward FROM visits)", epsilon=1)
    with pytest.raises(SqlRefused):
        session.sql("WITH wards AS (SELECT * FROM visits) SELECT MIN(ward) FROM wards", epsilon=1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT ward FROM wards", "a number in each row"),
        ("SELECT COUNT(*) FROM wards, wards AS w", "every row would meet every other"),
        ("SELECT SUM(ward) FROM wards", "this is a category"),
        ("SELECT MEDIAN(floor) FROM wards", "there are COUNT, SUM, AVG, MIN and MAX"),
        (
            "SELECT COUNT(*) FROM wards WHERE floor > (SELECT MAX(v.floor) FROM wards v WHERE v.ward = wards.ward)",
            "row that asks",
        ),
        ("SELECT floor, ROW_NUMBER() OVER (ORDER BY floor) FROM wards", "window|understood"),
        ("SELECT COUNT(*) FROM wards WHERE level > 3", "level"),
        ("SELECT COUNT(*) FROM wards WHERE ward = 'D'", "no key of ward of that name"),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "read files"),
        ("SELECT COUNT(*) FROM wards WHERE ward = (SELECT content FROM read_text('/etc/passwd'))", "read files"),
        ("SELECT floor FROM wards UNION ALL SELECT floor FROM wards", "."),
        ("SELECT floor FROM wards LIMIT 1.5", "a number of rows is an integer"),
    ],
)
def test_what_is_not_understood_is_refused_where_it_stands(session, text, why):
    with pytest.raises(SqlRefused, match=why):
        session.sql(text)


def test_behind_a_server_it_is_asked_there(vault, monkeypatch):
    inner = vault.session(vault.grant("eve", "visits")).desk

    class Far(Textual):
        @property
        def access(self):
            raise dp.Refusal("this", why="it is elsewhere", fix="ask there", value=None)

    found = type(vault.session(vault.grant("dan", "visits")))(Far(inner)).sql(FLOORS, epsilon=1)
    assert [row["n"] for row in found] == [2, 1]


def _doubled(levels, many):
    equal = " AND ".join(f"a0.ward = a{at}.ward" for at in range(1, many))
    named = ["c0 AS (SELECT ward, floor FROM wards)"]
    for level in range(levels):
        read = ", ".join(f"c{level} a{at}" for at in range(many))
        named.append(f"c{level + 1} AS (SELECT a0.ward, a0.floor FROM {read} WHERE {equal})")
    return f"WITH {', '.join(named)} SELECT COUNT(*) AS n FROM c{levels}"


def _nested(levels):
    text = "SELECT ward FROM wards"
    for _ in range(levels):
        text = f"SELECT ward FROM wards WHERE ward IN ({text})"
    return f"SELECT COUNT(*) AS n FROM wards WHERE ward IN ({text})"


@pytest.mark.parametrize("text", [_doubled(8, 16), _doubled(28, 2), _nested(12)], ids=["wide", "deep", "in"])
def test_what_is_written_out_has_an_end(session, text):
    for ask in (session.sql, session.preview_sql):
        with pytest.raises(SqlRefused, match="characters"):
            ask(text, epsilon=1)
    assert session.sql(_doubled(2, 4)).cell(column="n").value == 3


def test_texts_that_no_answer_should_hold_are_refused_while_they_are_read(session, monkeypatch):
    monkeypatch.setattr("discreet.ask.steps.public_answer.MOST_LETTERS", 2)
    with pytest.raises(dp.Refusal, match="more than 2 letters"):
        session.sql("SELECT ward, floor FROM wards")


def test_work_that_is_free_ends_in_a_minute_whatever_the_deadline(session, monkeypatch):
    given = []
    question = DuckDBEngine.question
    monkeypatch.setattr(
        DuckDBEngine, "question", lambda self, *seconds: given.append(seconds) or question(self, *seconds)
    )
    session.sql(FLOORS)
    assert given == [(60.0,)]
