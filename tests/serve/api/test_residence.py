"""Memory of a server: engines share a stated total, and a worker that holds too much ends."""

import asyncio
import os
import signal

import pytest

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
        idle = shared.engines._idle
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
