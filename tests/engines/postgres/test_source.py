"""PostgreSQL: a role that may only read suffices, nothing secret is logged, and no failure says anything."""

import re
import sys
import threading
import time
from contextlib import contextmanager

import psycopg
import pytest

import discreet as dp
from discreet.core.errors import BadParameter, MissingExtra, Refusal
from discreet.engines.engine import EngineFailed, multipliers
from discreet.engines.postgres import source as home
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.postgres.options import Server, postgres
from discreet.engines.source import Source, SourceChanged, SourceMissing
from discreet.ledger.refusals import QuestionFailed
from tests.postgres import Server as Running
from tests.postgres import shared

pytestmark = pytest.mark.xdist_group("postgres")

SECRET, KEY = b"of the vault", b"k" * 32
COLUMNS = {"ward": dp.one_of("A", "B"), "cost": dp.between(0, 1000)}


def admin(url):
    return psycopg.connect(url, autocommit=True)


def told(connection):
    """Have the server know at once what this session did, as it would a moment later."""
    connection.execute("SELECT pg_stat_force_next_flush()")
    connection.execute("SELECT 1")


@pytest.fixture(scope="module")
def url():
    """A database with a table of visits, and one role that may read it and nothing else."""
    found = shared().database()
    with admin(found) as connection:
        fill(connection)
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON visits TO reader")
        told(connection)
    return found.replace("//postgres@", "//reader@")


def fill(connection, people=40):
    connection.execute("CREATE TABLE visits (patient text, ward text, cost integer)")
    connection.execute(
        f"INSERT INTO visits SELECT 'patient' || i % {people}, (ARRAY['A', 'B', 'C'])[1 + i % 3], i"
        " FROM generate_series(1, 400) AS i"
    )


def owner(url):
    return url.replace("//reader@", "//postgres@")


@contextmanager
def session(tmp_path, url, unit=None):
    """Register the visits, and open a session about them."""
    curator = dp.Curator(tmp_path / "vault.discreet")
    unit = unit or dp.person("patient", max_rows=3, max_groups=2)
    curator.register(
        "visits", postgres("visits", url), unit=unit, columns=COLUMNS, rows=400, budget=dp.Budget(epsilon=100)
    )
    yield curator, curator.session(curator.grant("alice", "visits"))


def question(found):
    return found.table("visits").group_by("ward").agg(n=dp.count(), cost=dp.mean("cost"), middle=dp.median("cost"))


def test_a_role_that_may_only_read_suffices(tmp_path, url):
    with session(tmp_path, url) as (_, found):
        answer = question(found).release(epsilon=50)
        assert len(answer) == 2
    with admin(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("INSERT INTO visits VALUES ('x', 'A', 1)")


@pytest.mark.parametrize(
    ("grants", "fix"),
    [
        ("REVOKE TEMP ON DATABASE {database} FROM PUBLIC", "GRANT TEMP ON DATABASE {database} TO limited"),
        ("GRANT TEMP ON DATABASE {database} TO limited; REVOKE SELECT ON visits FROM limited", 'SELECT ON "public"'),
    ],
)
def test_a_role_that_lacks_something_is_refused_with_the_line_that_grants_it(grants, fix):
    found = shared().database()
    database = psycopg.conninfo.conninfo_to_dict(found)["dbname"]
    with admin(found) as connection:
        fill(connection)
        connection.execute("DO $$ BEGIN CREATE ROLE limited LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        connection.execute("GRANT SELECT ON visits TO limited")
        connection.execute("REVOKE TEMP ON DATABASE " + database + " FROM PUBLIC")
        connection.execute(grants.format(database=database))
    with pytest.raises(Refusal) as refused:
        home.settle(postgres("visits", found.replace("//postgres@", "//limited@")))
    assert fix.format(database=database) in refused.value.fix


def test_a_table_that_is_not_there_is_missing_and_the_nearest_one_is_named(url):
    with pytest.raises(SourceMissing, match=r"did you mean public\.visits"):
        home.settle(postgres("Visits", url))
    with pytest.raises(SourceMissing, match="no such table"):
        home.settle(postgres("elsewhere.unknown", url))
    with pytest.raises(SourceMissing, match="does not answer"):
        home.settle(postgres("visits", "postgresql://reader@localhost:1/none"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:hunter2@host/db",
        "postgresql://reader@host/db?password=hunter2",
        "postgres://host/db?sslmode=require&sslpassword=hunter2",
        "reader:hunter2@host/db",
    ],
)
def test_a_password_is_refused_and_not_repeated(url):
    with pytest.raises(BadParameter) as refused:
        Server(url)
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in str(refused.value.value)


def test_a_source_is_the_same_after_it_was_written_and_read(url):
    source = home.settle(postgres("visits", url))
    assert source.path == "public.visits"
    assert Source.from_json(source.to_json()) == source


def test_an_absent_driver_is_refused_with_the_line_that_installs_it(monkeypatch, url):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[postgres\]'"):
        home.settle(postgres("visits", url))


def test_types_are_described_by_the_names_that_plans_know(url):
    with admin(owner(url)) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
        connection.execute("CREATE DOMAIN price AS numeric(9, 2)")
        connection.execute(
            "CREATE TABLE typed (a smallint, b integer, c bigint, d real, e float8, f numeric, g numeric(9, 2),"
            " h numeric(3, -2), i numeric(2, 5), j price, k mood, l char(3), m varchar(9), n text, o uuid, p boolean,"
            ' q date, r timestamp, s timestamptz, t jsonb, u integer[], v bytea, w interval, x money, "hidden X" text)'
        )
        connection.execute(f"GRANT SELECT ({', '.join('abcdefghijklmnopqrstuvwx')}) ON typed TO reader")
    found = home.describe(postgres("typed", url))
    assert list(found.values())[:19] == [
        *("SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "NUMERIC", "DECIMAL(9,2)", "DECIMAL(5,0)"),
        *(
            "DECIMAL(5,5)",
            "DECIMAL(9,2)",
            "VARCHAR",
            "VARCHAR",
            "VARCHAR",
            "VARCHAR",
            "UUID",
            "BOOLEAN",
            "DATE",
            "TIMESTAMP",
        ),
        "TIMESTAMP WITH TIME ZONE",
    ]
    assert list(found.values())[19:] == ["jsonb", "integer[]", "bytea", "interval", "money"]
    assert "hidden X" not in found


CHANGES = {
    "insert": "INSERT INTO {} VALUES ('x', 'A', 1)",
    "update": "UPDATE {} SET cost = cost + 1 WHERE cost = 7",
    "delete": "DELETE FROM {} WHERE cost = 9",
    "truncate": "TRUNCATE {}",
    "another table of that name": "ALTER TABLE {} RENAME TO old_{}; CREATE TABLE {} AS SELECT * FROM old_{}",
    "another column of that name": "ALTER TABLE {} DROP COLUMN cost; ALTER TABLE {} ADD COLUMN cost integer DEFAULT 7",
    "two columns that change names": "ALTER TABLE {} RENAME patient TO p; ALTER TABLE {} RENAME ward TO patient;"
    " ALTER TABLE {} RENAME p TO ward",
    "another type": "ALTER TABLE {} ALTER COLUMN ward TYPE varchar(3)",
    "a generated column": "ALTER TABLE {} ADD COLUMN twice integer GENERATED ALWAYS AS (cost * 2) VIRTUAL",
    "row security": "ALTER TABLE {} ENABLE ROW LEVEL SECURITY",
    "the label of an enum": "ALTER TYPE mood_{} RENAME VALUE 'a' TO 'c'",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_table_is_noticed(url, change):
    name = f"changed_{list(CHANGES).index(change)}"
    with admin(owner(url)) as connection:
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM visits")
        if "enum" in change:
            connection.execute(f"CREATE TYPE mood_{name} AS ENUM ('a', 'b'); ALTER TABLE {name} ADD mood mood_{name}")
        told(connection)
        source = postgres(name, owner(url))
        stored = home.fingerprint(source, KEY)
        assert home.check_unchanged("mine", source, stored, KEY) is None
        connection.execute(CHANGES[change].format(*[name] * 4))
        told(connection)
    with pytest.raises(SourceChanged, match="discreet refresh mine") as refused:
        home.check_unchanged("mine", source, stored, KEY)
    assert name not in str(refused.value)


def test_a_change_below_a_view_or_in_a_partition_is_noticed(url):
    with admin(owner(url)) as connection:
        connection.execute("CREATE TABLE parted (patient text, ward text, cost integer) PARTITION BY LIST (ward)")
        connection.execute("CREATE TABLE part_a PARTITION OF parted FOR VALUES IN ('A')")
        connection.execute("CREATE VIEW seen AS SELECT * FROM parted WHERE cost > 0")
        connection.execute("CREATE VIEW seen_again AS SELECT * FROM seen")
        connection.execute("CREATE MATERIALIZED VIEW stored AS SELECT * FROM parted")
        told(connection)
        sources = {name: postgres(name, owner(url)) for name in ("parted", "seen_again", "stored")}
        before = {name: home.fingerprint(source, KEY) for name, source in sources.items()}
        connection.execute("INSERT INTO part_a VALUES ('x', 'A', 1)")
        told(connection)
        for name in sources:
            with pytest.raises(SourceChanged):
                home.check_unchanged(name, sources[name], before[name], KEY)
        before["seen_again"] = home.fingerprint(sources["seen_again"], KEY)
        connection.execute("CREATE OR REPLACE VIEW seen AS SELECT * FROM parted WHERE cost > 1")
        with pytest.raises(SourceChanged):
            home.check_unchanged("seen_again", sources["seen_again"], before["seen_again"], KEY)
    assert home.same(sources["parted"], sources["seen_again"])
    assert home.same(sources["parted"], postgres("parted", sources["parted"].options.url + "&sslmode=disable"))
    assert not home.same(sources["parted"], postgres("visits", url))


def test_a_lost_database_is_missing_and_its_place_is_not_named(url):
    source = postgres("visits", url)
    stored = home.fingerprint(source, KEY)
    gone = postgres("visits", "postgresql://reader@localhost:1/hospital")
    with pytest.raises(SourceMissing) as refused:
        home.check_unchanged("visits", gone, stored, KEY)
    assert "localhost" not in str(refused.value)
    assert "hospital" not in str(refused.value)


def test_statements_of_a_question_see_one_state_of_the_table(url):
    with PostgresEngine(url, SECRET) as engine, admin(owner(url)) as other:
        counted = "SELECT count(*) FROM public.visits"
        with engine.question():
            before = engine.rows(counted)
            other.execute("INSERT INTO visits VALUES ('new', 'A', 1)")
            assert engine.rows(counted) == before
        assert engine.rows(counted) == [(before[0][0] + 1,)]
        other.execute("DELETE FROM visits WHERE patient = 'new'")


def test_nobody_can_put_a_function_or_a_table_in_the_place_of_ours(url):
    with admin(owner(url)) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO reader")
        connection.execute("CREATE FUNCTION public.md5(text) RETURNS text LANGUAGE sql AS $$ SELECT 'same' $$")
        connection.execute('CREATE SCHEMA reader AUTHORIZATION reader; CREATE TABLE reader."~order" (x text)')
        connection.execute("ALTER ROLE reader SET search_path = public, pg_catalog")
        connection.execute("ALTER ROLE reader SET timezone = 'Asia/Tokyo'")
    try:
        with PostgresEngine(url, SECRET) as engine:
            assert engine.rows("SELECT md5('x'), current_setting('timezone')") == [
                ("9dd4e461268c8034f5c8564e155c67a6", "UTC")
            ]
            assert engine.rows('SELECT "~a0" FROM "~order"') == [(multipliers(SECRET)[0][0],)]
    finally:
        with admin(owner(url)) as connection:
            connection.execute("ALTER ROLE reader RESET ALL")
            connection.execute("DROP FUNCTION public.md5(text); DROP SCHEMA reader CASCADE")


FAILING = (
    "SELECT 1 / 0",
    "SELECT no FROM public.visits",
    "SELECT patient::integer FROM public.visits",
    "SELECT pg_sleep(5)",
    "SELECT 0.5",
    "DELETE FROM public.visits",
)


def test_every_failure_is_told_in_the_same_words(url):
    texts = set()
    with PostgresEngine(url, SECRET, timeout=1) as engine:
        for sql in FAILING:
            with pytest.raises(EngineFailed) as refused:
                engine.rows(sql)
            texts.add(str(refused.value))
            assert refused.value.__cause__ is None
            assert refused.value.__suppress_context__
        with engine.kept("SELECT 1 AS one") as name:
            assert engine.rows(f"SELECT one FROM {name}") == [(1,)]
        with pytest.raises(EngineFailed):
            engine.rows(f"SELECT one FROM {name}")
    with pytest.raises(EngineFailed) as refused, PostgresEngine("postgresql://localhost:1/none", SECRET):
        pass
    assert {*texts, str(refused.value)} == {str(EngineFailed())}


def test_senseless_settings_and_a_closed_engine_are_refused(url):
    for settings in ({"memory": 0}, {"timeout": 0}):
        with pytest.raises(BadParameter):
            PostgresEngine(url, SECRET, **settings)
    with pytest.raises(Refusal, match="closed"):
        PostgresEngine(url, SECRET).rows("SELECT 1")


def test_tables_of_two_databases_are_not_asked_together(url):
    with pytest.raises(BadParameter, match="same URL"):
        home.opened([postgres("visits", url), postgres("visits", shared().url)], SECRET)


def test_a_connection_that_was_cut_between_questions_is_replaced(url):
    with PostgresEngine(url, SECRET) as engine, admin(owner(url)) as other:
        assert engine.rows('SELECT "~b1" FROM "~order"')
        (process,) = engine.rows("SELECT pg_backend_pid()")[0]
        other.execute("SELECT pg_terminate_backend(%s)", [process])
        wait_until(other, "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = %s", [process])
        with engine.question():
            assert engine.rows('SELECT "~b1" FROM "~order"') == [(multipliers(SECRET)[1][1],)]


def wait_until(connection, sql, parameters=()):
    until = time.monotonic() + 20
    while not connection.execute(sql, parameters).fetchone()[0]:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("how", ["terminated", "crashed"])
def test_a_connection_lost_in_the_middle_leaves_the_debit_and_one_fixed_text(tmp_path, how):
    running = Running() if how == "crashed" else shared()
    url = running.url if how == "crashed" else running.database()
    with admin(url) as connection:
        fill(connection)
        told(connection)
    with session(tmp_path, url) as (curator, found):
        question(found).release(epsilon=1)
        told_texts, blocker = [], psycopg.connect(url)
        blocker.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")

        def ask():
            try:
                question(found).release(epsilon=2)
            except Exception as error:  # whatever it is, it is looked at below
                told_texts.append((type(error), str(error)))

        asking = threading.Thread(target=ask)
        asking.start()
        waiting = "FROM pg_stat_activity WHERE application_name = 'discreet' AND wait_event_type = 'Lock'"
        with admin(url) as other:
            wait_until(other, f"SELECT count(*) > 0 {waiting}")
            if how == "terminated":
                other.execute(f"SELECT pg_terminate_backend(pid) {waiting}")
            else:
                running.crash()
        asking.join(30)
        blocker.close()
        assert told_texts == [(QuestionFailed, str(QuestionFailed()))]
        if how == "crashed":
            running.restart()
            with pytest.raises(SourceChanged):  # the crash has reset the counters that tell whether rows changed
                question(found).release(epsilon=1)
            curator.refresh("visits")
        assert spent(found) >= 3
        assert len(question(found).release(epsilon=1)) == 2
    if how == "crashed":
        running.close()


def spent(found):
    """How much of the budget is gone, by what remains of it."""
    (standing,) = found.remaining()
    return standing.filter.budget.loss - standing.filter.remaining.loss


def test_neither_the_secret_nor_a_row_reaches_the_log_of_the_server(tmp_path):
    running = Running(
        {
            "log_statement": "all",
            "log_parameter_max_length": "-1",
            "log_min_duration_statement": "0",
            "log_min_messages": "debug2",
            "debug_print_plan": "on",
            "debug_print_rewritten": "on",
            "log_executor_stats": "on",
        }
    )
    with psycopg.connect(running.url) as connection:
        connection.execute("CREATE TABLE visits (patient text, ward text, cost integer)")
        with connection.cursor().copy("COPY visits FROM STDIN") as copy:
            for number in range(400):
                copy.write_row((f"someone-{number % 40}", "ABC"[number % 3], 700_000 + number))
    with session(tmp_path, running.url) as (curator, found):
        question(found).release(epsilon=5)
        found.table("visits").agg(n=dp.people()).release(epsilon=5)
        secret = curator.ledger.secret("order")
    log = running.log
    running.close()
    assert '"~order"' in log
    assert "COPY" in log
    assert "someone-" not in log
    assert not re.search(r"(?<![\d.])700[0-3]\d\d(?!\d)", log)  # a cost, not a part of a time or a process number
    shown = [value for row in multipliers(secret) for value in row[:60] if str(value) in log]
    assert shown == []
