"""The command itself: processes that share a vault, over real sockets; a worker that is killed loses nothing."""

import json
import os
import signal
import time

import httpx
import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.curator.curator import Curator
from discreet.serve.api.server import Transport
from discreet.serve.api.settings import ServeSettings, check_place
from tests.serve.api.served import ROWS, TERMS, command


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    with Curator(folder / "vault.discreet") as curator:
        curator.register("visits", ROWS, budget=dp.Budget(epsilon=3), **TERMS)
        yield folder / "vault.discreet", curator.grant("alice", "visits", budget=dp.Budget(epsilon=1))


def connected(url, token):
    """Connect as soon as the server is up; what is connected has to be closed."""
    for _ in range(200):
        try:
            return dp.connect(url, token)
        except dp.Refusal:
            time.sleep(0.1)
    raise AssertionError("the server does not come up")


def test_a_session_moves_to_a_server_and_a_killed_worker_is_replaced(vault, tmp_path):
    place, token = vault
    log = tmp_path / "requests.jsonl"
    with command(place, "--workers", "2", "--log", str(log)) as (url, process):
        with connected(url, token) as session:
            answer = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        workers = {line["process"] for line in lines}
        assert process.pid not in workers
        os.kill(next(iter(workers)), signal.SIGKILL)
        for _ in range(20):
            with connected(url, token) as session:
                again = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5)
            assert [*again] == [*answer]
            assert again.receipt["replayed"]
        assert {"at", "grant", "method", "route", "status", "process"} == set(lines[0])
    assert process.returncode in (0, -signal.SIGTERM)
    assert oct(log.stat().st_mode & 0o777) == "0o600"


def test_a_connection_that_sends_nothing_shuts_nobody_out(vault):
    import socket

    place, token = vault
    with command(place) as (url, _):
        connected(url, token).close()
        port = httpx.URL(url).port
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
        with connected(url, token) as session:
            assert session.tables() == ["visits"]
        for each in idle:
            each.close()


def test_off_loopback_a_server_needs_tls_or_a_proxy(tmp_path):
    for host in ("0.0.0.0", "192.168.1.1", "::", "example.org"):
        with pytest.raises(BadParameter, match="in the clear"):
            check_place(host, tls=False, behind_proxy=False)
        check_place(host, tls=True, behind_proxy=False)
        check_place(host, tls=False, behind_proxy=True)
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        check_place(host, tls=False, behind_proxy=False)
    with pytest.raises(BadParameter):
        Transport(certificate=tmp_path / "a.crt")


@pytest.mark.parametrize("name", ["rate", "burst", "concurrent", "engines"])
def test_limits_are_positive(name):
    with pytest.raises(BadParameter):
        ServeSettings("v", **{name: 0})


def test_settings_reach_workers_as_they_are(tmp_path):
    settings = ServeSettings("v", rate=3.5, roots=(str(tmp_path),), log="x")
    assert ServeSettings.read(settings.text()) == settings
