"""What PostgreSQL's catalog tells of a table: no other values answer under an old stamp, and looks change none."""

import psycopg
import pytest

from discreet.engines.postgres import catalog
from discreet.engines.postgres import source as home
from discreet.engines.postgres.options import postgres
from discreet.engines.source import SourceChanged, SourceMissing
from tests.postgres import Server, shared

pytestmark = pytest.mark.xdist_group("postgres")

KEY = b"k" * 32


@pytest.fixture
def connection():
    with psycopg.connect(shared().database(), autocommit=True) as found:
        yield found


def url(connection):
    return f"postgresql://postgres@/{connection.info.dbname}?host={connection.info.host}"


def told(connection):
    """Have the server know at once what this session did, as it would a moment later."""
    connection.execute("SELECT pg_stat_force_next_flush()")
    connection.execute("SELECT 1")


def fill(connection, first=1):
    connection.execute(f"INSERT INTO t SELECT i FROM generate_series({first}, {first} + 999) AS i")
    told(connection)


def changed(source, stored):
    try:
        home.check_unchanged("mine", source, stored, KEY)
    except SourceChanged:
        return True
    return False


@pytest.mark.parametrize("type_", ["w", "d1", "d2", "d3", "w[]", "d2[]", "d4"])
def test_labels_of_enums_are_noticed_below_any_number_of_domains_and_arrays(connection, type_):
    connection.execute("CREATE TYPE w AS ENUM ('A', 'B'); CREATE DOMAIN d1 AS w; CREATE DOMAIN d2 AS d1")
    connection.execute("CREATE DOMAIN d3 AS d2; CREATE DOMAIN d4 AS d3[]")
    connection.execute(f"CREATE TABLE t (x {type_})")
    told(connection)
    source = postgres("t", url(connection))
    stored = home.fingerprint(source, KEY)
    for before, after in (("A", "C"), ("B", "A"), ("C", "B")):
        connection.execute(f"ALTER TYPE w RENAME VALUE '{before}' TO '{after}'")
    assert changed(source, stored)


def emptied(connection):
    """Delete all rows, and give their space back: as many others then lie as those did."""
    connection.execute("DELETE FROM t")
    connection.execute("VACUUM t")
    told(connection)


@pytest.mark.parametrize("reset", ["pg_stat_reset_single_table_counters('t'::regclass)", "pg_stat_reset()"])
def test_other_rows_are_noticed_where_counters_were_reset_and_are_the_same_again(connection, reset):
    connection.execute("CREATE TABLE t (x integer)")
    fill(connection)
    source = postgres("t", url(connection))
    stored, before = home.fingerprint(source, KEY), home.seen(source).under
    emptied(connection)
    connection.execute(f"SELECT {reset}")
    fill(connection, first=7001)
    assert home.seen(source).under == before
    assert changed(source, stored)


def test_a_database_that_is_lost_while_it_is_asked_about_a_table_is_missing(connection, monkeypatch):
    connection.execute("CREATE TABLE t (x integer)")
    source = postgres("t", url(connection))
    stored = home.fingerprint(source, KEY)
    monkeypatch.setattr(catalog, "_IDENTITY", "SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(SourceMissing, match="the source of 'mine' is missing"):
        home.check_unchanged("mine", source, stored, KEY)


def test_looks_upkeep_and_a_restart_change_no_stamp_but_a_crash_does_though_counters_are_the_same_again():
    server = Server()
    with psycopg.connect(server.database(), autocommit=True) as connection:
        place = url(connection)
        connection.execute("CREATE TABLE t (x integer)")
        fill(connection)
        emptied(connection)
        fill(connection)
        source = postgres("t", place)
        stored, before = home.fingerprint(source, KEY), home.seen(source).under
        for statement in (
            "SELECT count(*) FROM t",
            "ANALYZE t",
            "VACUUM t",
            "CHECKPOINT",
            "CREATE TABLE other (x int)",
        ):
            connection.execute(statement)
            told(connection)
            assert not changed(source, stored), statement
    server.stop()
    server.restart()
    assert not changed(source, stored)
    server.crash()
    server.restart()
    with psycopg.connect(place, autocommit=True) as connection:
        with connection.transaction(force_rollback=True):
            connection.execute("INSERT INTO t SELECT i FROM generate_series(1, 1000) AS i")
        emptied(connection)
        fill(connection, first=7001)
    assert home.seen(source).under == before
    assert changed(source, stored)
    server.close()
