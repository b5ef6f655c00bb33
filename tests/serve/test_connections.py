"""Connections: idle ones make room, late ones are ended, and no flood of them fills a log. On loopback only."""

import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest

from discreet.local.sender import Sender
from discreet.serve import connections
from tests.serve.collections import COLLECTION, SIGNED, reports, sqlite

HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: collector\r\nContent-Length: 1000\r\n\r\n"
SHORT = "import discreet.serve.connections as c; c.HEAD_SECONDS, c.BODY_SECONDS = 0.4, 0.4; "
RUN = "from discreet.cli.main import main; main()"


@contextmanager
def collector(folder, files=256, before=""):
    """Run a collector in a process that may have so many files open; yield its address, then what it printed."""
    (folder / "collection.json").write_text(SIGNED)
    sqlite(folder).disconnect()

    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    words = [sys.executable, "-c", before + RUN, "collect", "serve", str(folder), "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limited)
    said = {}
    try:
        said["url"] = json.loads(process.stdout.readline())["result"]["url"]
        yield said
    finally:
        os.kill(process.pid, signal.SIGTERM)
        _, said["err"] = process.communicate(timeout=30)


def dial(said):
    return socket.create_connection(("127.0.0.1", int(said["url"].rsplit(":", 1)[1])), timeout=20)


def attacked(folder, count, files):
    """Open so many connections that send a head and then nothing; a good report still gets through."""
    with ExitStack() as stack:
        with collector(folder, files) as said:
            for _ in range(count):
                idle = stack.enter_context(dial(said))
                idle.sendall(HEAD)
            begun = time.monotonic()
            sender = Sender(said["url"], COLLECTION)
            sender.send(reports(30), 0)
            sender.close()
            taken = time.monotonic() - begun
        assert len(said["err"]) < 2000
    store = sqlite(folder)
    assert store.sketch(0).reports == 30
    assert store.rejected() == {}  # nobody was taken for malformed
    store.disconnect()
    return taken


def test_idle_connections_beyond_the_descriptors_do_not_stop_a_good_report(tmp_path):
    assert attacked(tmp_path, 300, files=256) < 20


@pytest.mark.soak
def test_a_thousand_idle_connections_do_not_stop_a_good_report(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    try:
        assert attacked(tmp_path, 1015, files=1024) < 20
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("sent", [b"", b"POST /v1/rep", HEAD, HEAD + b"part"], ids=["none", "half", "head", "part"])
def test_a_request_that_takes_too_long_is_ended(tmp_path, sent):
    with collector(tmp_path, before=SHORT) as said, dial(said) as slow:
        slow.sendall(sent)
        answer = b""
        while part := slow.recv(4096):
            answer += part
        assert answer.startswith(b"HTTP/1.1 408 ")
    store = sqlite(tmp_path)
    assert store.rejected() == {}
    store.disconnect()


GET = b"GET /v1/collection HTTP/1.1\r\nHost: collector\r\n\r\n"
FEW = "import discreet.serve.connections as c; c.MOST_CONNECTIONS, c.WRITE_SECONDS = 8, {seconds}; "
LARGE = """
import discreet.serve.collector as k
made = k.collector_app
k.collector_app = lambda receiver, signed: made(receiver, signed + " " * 8_000_000)
"""


def unread(said, stack, count):
    """Open so many connections that ask for more than buffers hold, and read nothing of it."""
    found = [stack.enter_context(dial(said)) for _ in range(count)]
    for _ in range(2):  # the second waits, in the middle of being answered, for the first to be read
        for each in found:
            each.sendall(GET)
        time.sleep(0.5)
    return found


def test_connections_that_do_not_read_make_room_for_others(tmp_path):
    with ExitStack() as stack, collector(tmp_path, before=FEW.format(seconds=60) + LARGE) as said:
        unread(said, stack, 8)
        begun = time.monotonic()
        for _ in range(20):
            with dial(said) as good:
                good.sendall(GET.replace(b"GET", b"HEAD"))
                assert good.recv(100).startswith(b"HTTP/1.1 405 ")
        assert time.monotonic() - begun < 10


def test_a_connection_that_does_not_read_is_ended(tmp_path):
    with ExitStack() as stack, collector(tmp_path, before=FEW.format(seconds=1) + LARGE) as said:
        (slow,) = unread(said, stack, 1)
        time.sleep(1.5)
        got = b""
        with suppress(ConnectionResetError):
            while part := slow.recv(1 << 20):
                got += part
        assert len(got) < 8_000_000


def test_requests_sent_before_the_response_are_not_answered(tmp_path):
    with collector(tmp_path) as said, dial(said) as hasty:
        hasty.sendall(GET * 100)
        answer = b""
        with suppress(ConnectionResetError):
            while part := hasty.recv(1 << 20):
                answer += part
        assert answer.count(b"HTTP/1.1 200 OK") == 1


def test_a_flood_of_nonsense_writes_few_lines(tmp_path):
    with collector(tmp_path) as said:
        for _ in range(60):
            with dial(said) as other:
                other.sendall(b"nonsense\r\n\r\n")
                other.recv(100)
    assert said["err"].count("\n") <= 10


def test_a_line_of_the_log_has_no_text_of_a_request(capsys):
    handler = connections.FewLines()
    for _ in range(30):
        handler.emit(logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, "from %s", ("10.1.2.3",), None))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "uvicorn.error: warning"
    assert not any("10.1.2.3" in line for line in lines)


def test_connections_leave_half_of_the_descriptors_to_others():
    assert connections.most_connections() <= connections.descriptors() // 2
    assert connections.backlog() <= connections.descriptors() // 16


CHUNKED = b"POST /v1/reports HTTP/1.1\r\nHost: collector\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_bodies_in_chunks_are_refused_so_that_tiny_ones_stop_nobody(tmp_path):
    """At one byte each, the chunks of one megabyte would keep the collector busy for a second."""
    with collector(tmp_path) as said, ExitStack() as stack:
        for cut in (len(CHUNKED), 60):  # the head in one part, and in two
            client = stack.enter_context(dial(said))
            client.sendall(CHUNKED[:cut])
            time.sleep(0.05)
            with suppress(OSError):
                client.sendall(CHUNKED[cut:] + b"1\r\nx\r\n" * 200_000)
            with suppress(ConnectionResetError):
                assert client.recv(100).startswith(b"HTTP/1.1 411 ")
        sender = Sender(said["url"], COLLECTION)
        sender.send(reports(30), 0)
        sender.close()
