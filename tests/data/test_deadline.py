"""Deadlines: an engine is interrupted, says so by a type that no analyst sees, and is left in order."""

import time
from itertools import pairwise

import pytest

from discreet.data.deadline import Deadline
from discreet.data.duckdb import Engine
from discreet.data.engine import DeadlineExceeded, EngineFailed
from discreet.data.postgres_engine import PostgresEngine
from tests.postgres import shared
from tests.spark import opened

SECRET = b"s" * 32
ENDLESS = {
    "duckdb": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range % 7 = b.range % 11",
    "postgres": "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a % 7 = b % 11",
    "spark": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.id % 7 > b.id % 11",
}


def engine_of(name):
    if name == "duckdb":
        return Engine(SECRET)
    return PostgresEngine(shared().database(), SECRET) if name == "postgres" else opened(SECRET)


@pytest.mark.parametrize(
    "name",
    [
        "duckdb",
        pytest.param("postgres", marks=pytest.mark.xdist_group("postgres")),
        pytest.param("spark", marks=pytest.mark.xdist_group("spark")),
    ],
)
def test_an_engine_is_interrupted_at_its_deadline_and_can_be_asked_again(name):
    with engine_of(name) as engine:
        engine.rows("SELECT 1")
        with pytest.raises(DeadlineExceeded) as late, engine.question(0.3):
            engine.rows(ENDLESS[name])
        assert str(late.value) == str(EngineFailed())
        with engine.question(60):
            assert engine.rows("SELECT 2") == [(2,)]


def test_no_statement_begins_after_the_deadline():
    with Engine(SECRET) as engine, engine.question(0.01):
        time.sleep(0.2)
        with pytest.raises(DeadlineExceeded):
            engine.rows("SELECT 1")


def test_an_ordinary_failure_before_the_deadline_is_an_ordinary_one():
    with Engine(SECRET) as engine, pytest.raises(EngineFailed) as failed, engine.question(60):
        engine.rows("SELECT nothing")
    assert type(failed.value) is EngineFailed


def test_an_interruption_is_repeated_until_the_question_ends_and_never_comes_after():
    times = []
    deadline = Deadline(0.05, lambda: times.append(time.monotonic()))
    with deadline.running():
        time.sleep(0.4)
    seen = len(times)
    time.sleep(0.2)
    assert 3 <= seen == len(times)
    assert all(one < two for one, two in pairwise(times))


def test_an_engine_that_is_gone_does_not_end_the_watch():
    def gone():
        raise ConnectionError

    deadline = Deadline(0.01, gone)
    with deadline.running():
        time.sleep(0.2)
        with pytest.raises(DeadlineExceeded):
            deadline.check()


def test_a_question_without_a_deadline_takes_the_time_it_takes():
    with Engine(SECRET) as engine, engine.question():
        assert engine.rows("SELECT 1") == [(1,)]
