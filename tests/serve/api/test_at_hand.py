"""What is at hand: replays and previews that wait for nobody are given without a thread, and checked all the same."""

import os
import time
from threading import Event, Thread

import pytest

import discreet as dp
from discreet.serve.api import service
from tests.serve.api.served import TERMS, request, served

CSV = "patient,age,ward,note\n" + "".join(f"q{n % 40},{n % 80},{'ABC'[n % 3]},x\n" for n in range(120))


class Threads:
    """Counts what is worked on in threads."""

    def __init__(self, monkeypatch):
        self.used, self.inner = 0, service.run_in_threadpool
        monkeypatch.setattr(service, "run_in_threadpool", self.run)

    async def run(self, *call):
        self.used += 1
        return await self.inner(*call)


@pytest.fixture
def vault(tmp_path):
    with served(tmp_path) as made:
        place = tmp_path / "more.csv"
        place.write_text(CSV)
        os.utime(place, (1, 1))
        made.curator.register("more", place, budget=dp.Budget(epsilon=9), **TERMS)
        made.place = place
        made.tokens["mo"] = made.curator.grant("mo", "more", expires="30d")
        yield made


@pytest.fixture
def threads(monkeypatch):
    return Threads(monkeypatch)


def asked(vault, path="/v1/run"):
    return vault.ask("POST", path, "mo", json=request("SELECT COUNT(*) AS n FROM more", 0.25))


def settled_stamp(vault, monkeypatch):
    """Have the stamps of files count as old enough, as they do some seconds after a registration."""
    from discreet.engines.duckdb import files

    monkeypatch.setattr(files, "_COARSE", -(10**12))


def at_hand(vault, threads, path="/v1/run"):
    for _ in range(3):
        asked(vault, path)
    before = threads.used
    response = asked(vault, path)
    return response, threads.used == before


@pytest.mark.parametrize("path", ["/v1/run", "/v1/preview"])
def test_what_was_given_before_is_given_again_without_a_thread(vault, threads, monkeypatch, path):
    settled_stamp(vault, monkeypatch)
    first = asked(vault, path)
    response, quick = at_hand(vault, threads, path)
    assert quick
    assert response.status_code == first.status_code == 200
    if path == "/v1/run":
        assert response.json()["answer"]["answer"]["noises"] == first.json()["answer"]["answer"]["noises"]
        assert response.json()["receipt"]["replayed"]


def test_a_source_that_changed_a_grant_that_ended_and_a_pace_are_seen(vault, threads, monkeypatch):
    settled_stamp(vault, monkeypatch)
    assert at_hand(vault, threads)[1]
    vault.place.write_text(CSV + "q99,3,A,x\n")
    assert asked(vault).status_code == 422
    vault.curator.refresh("more")
    assert at_hand(vault, threads)[1]
    vault.curator.work(pace=0.05)
    begun = time.monotonic()
    response, quick = at_hand(vault, threads)
    assert (response.status_code, quick) == (200, False)
    assert time.monotonic() - begun >= 0.2
    vault.curator.work(pace=0)
    assert at_hand(vault, threads)[1]
    vault.curator.revoke("mo")
    assert asked(vault).status_code == 401
    assert asked(vault, "/v1/preview").status_code == 401


def test_a_grant_that_expires_opens_nothing_that_is_at_hand(vault, threads, monkeypatch):
    settled_stamp(vault, monkeypatch)
    assert at_hand(vault, threads)[1]
    desk = vault.app.state.desks.known(vault.tokens["mo"]).desk
    clock = desk._curator.ledger._clock
    monkeypatch.setattr(
        clock, "machine", lambda real=clock.machine: real() + (desk._known.grants[0].expires - real()) * 2
    )
    assert asked(vault).status_code == 401


def test_a_request_beyond_the_limits_is_refused_though_its_answer_is_at_hand(tmp_path):
    with served(tmp_path, rate=0.001, burst=6) as made:
        statuses = [made.ask("POST", "/v1/run", json=request()).status_code for _ in range(8)]
    assert statuses == [200] * 6 + [429] * 2


def test_while_another_thread_has_the_vault_nothing_is_at_hand(vault, threads, monkeypatch):
    settled_stamp(vault, monkeypatch)
    assert at_hand(vault, threads)[1]
    ledger, inside, leave = vault.app.state.desks.curator.ledger, Event(), Event()

    def writing():
        with ledger._store.write():
            inside.set()
            leave.wait(10)

    thread = Thread(target=writing)
    thread.start()
    inside.wait(10)
    assert ledger.state_at_hand is None
    leave.set()
    thread.join()
    assert ledger.state_at_hand == ledger.state
