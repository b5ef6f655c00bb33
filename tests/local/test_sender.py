"""Sending: as often as it takes, counted once, and refused where it makes no sense to try again."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from discreet import local
from discreet.core.errors import BadParameter
from discreet.local.batch import ReportBatch
from discreet.local.collection import Collection, NotSigned, new_key, read, sign
from discreet.local.sender import NotAccepted, Sender, fetch

SIGNED = sign(Collection("a", local.unary(k=9, epsilon=1)), new_key())
COLLECTION = read(SIGNED)


@pytest.fixture
def collector():
    """A collector that answers with the statuses it is given, and remembers what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            heard.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            status = statuses.pop(0) if statuses else 202
            if status is None:  # the connection breaks before the answer
                self.close_connection = True
                return
            self._answer(status, b"a fixed text")

        def do_GET(self):
            self._answer(200, SIGNED.encode())

        def _answer(self, status, text):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    heard, statuses = [], []
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", heard, statuses
    server.shutdown()
    thread.join()
    server.server_close()


def made(count=3):
    return COLLECTION.protocol.encode([1] * count)


def test_a_batch_says_what_it_is_and_nothing_about_its_sender(collector):
    url, heard, _ = collector
    reports = made()
    sender = Sender(url, COLLECTION)
    sender.send(reports, 0)
    sender.close()
    ((headers, body),) = heard
    found = ReportBatch.decode(body)
    assert (found.spec, found.epoch, found.count, found.data) == (COLLECTION.hash, 0, 3, bytes(reports))
    assert set(headers) == {"Host", "Accept-Encoding", "Content-Length", "Content-Type"}


def test_a_batch_is_sent_again_under_the_same_key_until_it_is_acknowledged(collector):
    url, heard, statuses = collector
    statuses += [503, None, 503]
    sender = Sender(url, COLLECTION)
    sender.send(made(), 0)
    sender.close()
    assert len(heard) == 4
    assert len({body for _, body in heard}) == 1


def test_two_batches_have_two_keys(collector):
    url, heard, _ = collector
    sender, reports = Sender(url, COLLECTION), made()
    sender.send(reports, 0)
    sender.send(reports, 0)
    sender.close()
    assert len({ReportBatch.decode(body).key for _, body in heard}) == 2


@pytest.mark.parametrize("status", [409, 413, 422, 500])
def test_what_the_collector_does_not_take_is_not_sent_again(collector, status):
    url, heard, statuses = collector
    statuses.append(status)
    sender = Sender(url, COLLECTION)
    with pytest.raises(NotAccepted, match="a fixed text"):
        sender.send(made(), 0)
    sender.close()
    assert len(heard) == 1


def test_patience_ends(collector):
    url, _, statuses = collector
    statuses += [503] * 50
    sender = Sender(url, COLLECTION, patience=0.3)
    with pytest.raises(NotAccepted, match="does not answer"):
        sender.send(made(), 0)
    sender.close()
    with pytest.raises(NotAccepted, match="does not answer"):
        Sender("http://127.0.0.1:1", COLLECTION, patience=0.1).send(made(), 0)


def test_reports_of_another_protocol_are_not_sent(collector):
    url, heard, _ = collector
    with pytest.raises(BadParameter, match="another protocol"):
        Sender(url, COLLECTION).send(local.unary(k=10, epsilon=1).encode([1]), 0)
    assert heard == []


def test_the_collection_is_fetched_and_its_signer_checked(collector):
    url, _, _ = collector
    assert fetch(url, key=COLLECTION.key) == COLLECTION
    with pytest.raises(NotSigned, match="another key"):
        fetch(url, key="ab" * 32)
    with pytest.raises(NotAccepted, match="does not answer"):
        fetch("http://127.0.0.1:1")


@pytest.mark.parametrize("url", ["ftp://x", "collector", "http://", "", "http://[::1", "http://a:99999", "http://a:b"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(BadParameter, match="url"):
        Sender(url, COLLECTION)
