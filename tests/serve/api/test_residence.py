"""Memory of a server: engines share a stated total, and a worker that holds too much ends."""

import asyncio
import os
import signal

import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.serve.api import residence
from discreet.serve.api.residence import ended_when_too_large, resident
from discreet.serve.api.settings import ServeSettings
from tests.serve.api.served import request, served


def test_all_engines_of_all_workers_stay_within_the_stated_total():
    settings = ServeSettings("v", workers=4, engines=8, memory=4096)
    assert settings.allotment.memory * 4 * 8 <= 4096
    assert settings.allotment.threads >= 1
    with pytest.raises(BadParameter, match="give 2048"):
        ServeSettings("v", workers=4, engines=8, memory=2047)
    with pytest.raises(BadParameter):
        ServeSettings("v", workers=65)


def test_an_engine_is_opened_with_its_allotment_and_all_desks_share_them(tmp_path):
    with served(tmp_path, engines=2, memory=300) as made:
        for token in ("analyst", "custodian", "other", "analyst"):
            table = "secrets" if token == "other" else "visits"
            made.ask("POST", "/v1/run", token, json=request(f"SELECT COUNT(*) AS n FROM {table}", 0.01))
        shared = made.app.state.desks._shared
        idle = shared._engines._idle
        assert 1 <= len(idle) <= 2
        for _, _, engine in idle:
            ((limit, threads),) = engine.rows("SELECT current_setting('memory_limit'), current_setting('threads')")
            assert limit.startswith(("143", "150")), limit  # 150 megabytes, perhaps told in powers of two
            assert int(threads) >= 1
    assert not idle


def test_a_worker_that_holds_too_much_ends_and_one_that_does_not_goes_on(monkeypatch):
    sent = []
    monkeypatch.setattr(residence.os, "kill", lambda *what: sent.append(what))
    asyncio.run(ended_when_too_large(resident() // 2, 0))
    assert sent == [(os.getpid(), signal.SIGTERM)]
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(ended_when_too_large(10 * resident(), 0.001), 0.05))
    assert len(sent) == 1


HOSTILE = [
    # As many groups, partners and aggregates as there may be.
    "SELECT age, ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM many GROUP BY age, ward",
    "SELECT ward, MEDIAN(cost) AS m, STDDEV_POP(cost) AS s FROM many GROUP BY ward",
    "SELECT " + ", ".join(f"SUM(cost + {n}) AS s{n}" for n in range(20)) + " FROM many",
    "SELECT COUNT(*) AS n FROM many WHERE " + " OR ".join(f"age = {n}" for n in range(100)),
]


def hostile_growth(folder, rows, ages, rounds):
    """How many megabytes more a process holds after rounds of hostile questions, once it has seen all of them."""
    with served(folder, engines=2, memory=256) as made:
        data = {
            "patient": [n // 4 for n in range(rows)],
            "age": [n * 7 % ages for n in range(rows)],
            "cost": [n * 13 % 5000 for n in range(rows)],
            "ward": [*"ABCD"] * (rows // 4),
        }
        columns = {"age": dp.between(0, ages - 1), "cost": dp.between(0, 4999), "ward": dp.one_of(*"ABCD")}
        made.curator.register("many", data, unit=dp.person("patient", max_rows=4), columns=columns,
            budget=dp.Budget(epsilon=10**6))  # fmt: skip
        token = made.curator.grant("mallory", "many")
        held = []
        for _ in range(rounds + 1):
            for sql in HOSTILE:
                response = made.ask("POST", "/v1/run?fresh=true", token, json=request(sql, 4))
                assert response.status_code == 200, response.text
            held.append(resident())
    return held[-1] - held[0]


@pytest.mark.skipif(resident() == 0, reason="the system does not say what a process holds")
def test_hostile_questions_leave_memory_as_it_was(tmp_path):
    assert hostile_growth(tmp_path, 2_000, 300, 2) < 64


@pytest.mark.slow
@pytest.mark.skipif(resident() == 0, reason="the system does not say what a process holds")
def test_many_hostile_questions_about_many_rows_leave_memory_as_it_was(tmp_path):
    assert hostile_growth(tmp_path, 200_000, 2_000, 12) < 128


def test_a_deadline_ends_a_question_and_leaves_the_engines_to_others(tmp_path, monkeypatch):
    from discreet.ask import runner

    for name in ("_rows", "in_order"):
        monkeypatch.setattr(runner.Runner, name, lambda self, *_: self.engine.rows(ENDLESS))
    with served(tmp_path, engines=1, memory=128) as made:
        made.curator.work(deadline=1)
        late = made.ask("POST", "/v1/run", json=request(epsilon=0.5))
        assert (late.status_code, late.json()["type"]) == (409, "urn:discreet:problem:failed")
        monkeypatch.undo()
        assert made.ask("POST", "/v1/run", json=request(epsilon=0.25)).status_code == 200


ENDLESS = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * 7 % 11 = b.range % 13"
