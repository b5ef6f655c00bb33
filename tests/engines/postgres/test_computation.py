"""What PostgreSQL computes while it reads: no row fails a question, and none decides which others are read."""

import psycopg
import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.engines.postgres import source as home
from discreet.engines.postgres.options import postgres
from tests.postgres import shared

pytestmark = pytest.mark.xdist_group("postgres")

SHOWN = "CREATE VIEW shown AS SELECT "
REFUSED = {
    "a division": f"{SHOWN}id, a / b AS a FROM t",
    "a cast": f"{SHOWN}id, w::integer AS a FROM t",
    "a condition that divides": f"{SHOWN}id, a FROM t WHERE a / b > 0",
    "a function": f"{SHOWN}id, sqrt(a) AS a FROM t",
    "a function of one's own": "CREATE FUNCTION f(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1 / $1';"
    f"{SHOWN}id, f(a) AS a FROM t",
    "rows of a function": f"{SHOWN}id, a FROM generate_series(1, 3) AS id, generate_series(1, 3) AS a",
    "a limit, by which a row takes another's place": f"{SHOWN}id, a FROM t LIMIT 3",
    "a join, by which one person's rows count others'": f"{SHOWN}t.id, o.a FROM t, t AS o",
    "a condition about other rows": f"{SHOWN}id, a FROM t WHERE a = (SELECT max(a) FROM t)",
    "aggregates": f"{SHOWN}id, a FROM t GROUP BY id, a",
    "windows": f"{SHOWN}id, sum(a) OVER () AS a FROM t",
    "distinct rows": f"{SHOWN}DISTINCT id, a FROM t",
    "a view below": f"CREATE VIEW below AS SELECT id, a / b AS a FROM t; {SHOWN}id, a FROM below",
    "a generated column": "CREATE TABLE shown (id integer, b integer, a integer GENERATED ALWAYS AS (1 / b) VIRTUAL)",
    "one in a partition": "CREATE TABLE shown (id integer, b integer, a integer GENERATED ALWAYS AS (1 / b) VIRTUAL)"
    " PARTITION BY LIST (id); CREATE TABLE part PARTITION OF shown DEFAULT",
    "a row policy": "CREATE TABLE shown (id integer, a integer, b integer);"
    " ALTER TABLE shown ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON shown USING (1 / b > 0)",
    "a row policy of a child": "CREATE TABLE shown (id integer, a integer); CREATE TABLE child () INHERITS (shown);"
    " ALTER TABLE child ENABLE ROW LEVEL SECURITY",
    "a row policy under a view": f"ALTER TABLE t ENABLE ROW LEVEL SECURITY; {SHOWN}id, a FROM t",
    "a foreign table": "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
    " CREATE FOREIGN TABLE shown (id integer, a integer) SERVER s",
    "a foreign partition": "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
    " CREATE TABLE shown (id integer, a integer) PARTITION BY LIST (id);"
    " CREATE FOREIGN TABLE part PARTITION OF shown DEFAULT SERVER s",
}
ACCEPTED = {
    "columns by other names": f"{SHOWN}id, b AS a FROM t",
    "rows of one ward": f"{SHOWN}id, a FROM t WHERE w = 'A' AND b > 3 AND a IS NOT NULL",
    "a view of a view": f"CREATE VIEW below AS SELECT * FROM t; {SHOWN}id, a FROM below WHERE id < 7",
    "a materialized view of anything": "CREATE MATERIALIZED VIEW shown AS SELECT id, a / NULLIF(b, 0) AS a FROM t",
    "a view of one": "CREATE MATERIALIZED VIEW below AS SELECT id, a / NULLIF(b, 0) AS a FROM t;"
    f"{SHOWN}id, a FROM below",
    "a stored generated column": "CREATE TABLE shown (id integer, a integer GENERATED ALWAYS AS (id * 2) STORED)",
    "partitions": "CREATE TABLE shown (id integer, a integer) PARTITION BY LIST (id);"
    " CREATE TABLE part PARTITION OF shown DEFAULT",
    "rules that do not read": "CREATE TABLE shown (id integer, a integer);"
    " CREATE RULE r AS ON DELETE TO shown DO INSTEAD NOTHING",
}


@pytest.fixture(scope="module")
def url():
    return shared().database()


@pytest.fixture
def connection(url):
    """A database that has one table."""
    with psycopg.connect(url, autocommit=True) as found:
        found.execute("DROP SCHEMA public CASCADE; DROP FOREIGN DATA WRAPPER IF EXISTS w CASCADE; CREATE SCHEMA public")
        found.execute("CREATE TABLE t (id integer, a integer, b integer, w text)")
        yield found


def source(connection):
    return postgres("shown", shared().url.replace("/postgres?", f"/{connection.info.dbname}?"))


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_computed_when_it_is_read_is_refused_with_the_way_to_store_it(connection, case):
    connection.execute(REFUSED[case])
    for door in (home.settle, home.describe):
        with pytest.raises(Refusal, match="CREATE MATERIALIZED VIEW") as refused:
            door(source(connection))
        assert refused.value.value == "public.shown"


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_stored_is_read(connection, case):
    connection.execute(ACCEPTED[case])
    assert {"id", "a"} <= set(home.describe(home.settle(source(connection))))


def test_a_source_that_begins_to_compute_is_refused_by_the_question_and_by_refresh(connection, tmp_path):
    connection.execute("CREATE TABLE shown (id integer, a integer, b integer); INSERT INTO shown VALUES (1, 2, 3)")
    curator = dp.Curator(tmp_path / "v.discreet")
    columns = {"a": dp.between(0, 9)}
    curator.register(
        "t", source(connection), unit=dp.person("id", max_rows=1), columns=columns, budget=dp.Budget(epsilon=9)
    )
    session = curator.session(curator.grant("alice", "t"))
    connection.execute("ALTER TABLE shown ADD COLUMN c integer GENERATED ALWAYS AS (1 / b) VIRTUAL")
    with pytest.raises(Refusal, match="discreet refresh t"):
        session.table("t").count().release(epsilon=1)
    with pytest.raises(Refusal, match="generated"):
        curator.refresh("t")


def test_numbers_of_many_places_are_read_exactly(connection):
    connection.execute("CREATE TABLE shown (id integer, a numeric(1000, 500), b numeric(38, 38), c numeric(37, 2))")
    assert list(home.describe(source(connection)).values()) == ["INTEGER", "NUMERIC", "NUMERIC", "DECIMAL(37,2)"]
