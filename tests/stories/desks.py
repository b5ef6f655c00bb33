"""Both desks: a session of the vault at hand, and one of a server over the same vault, in this process."""

from contextlib import contextmanager

from discreet.curator.remote.remote_desk import RemoteDesk
from discreet.curator.session import Session
from discreet.serve.api.app import make_app
from discreet.serve.api.settings import ServeSettings
from tests.serve.api.served import SyncTransport

# Stories that run through one desk alone, and why; all others run through both.
ALONE = {
    "test_privacy": "an answer is made thousands of times from one price, past the ledger, which no desk does",
    "test_coverage": "noise is drawn thousands of times on exact values, past the ledger, which no desk does",
    "test_demo": "the demonstration is one command that makes a vault and asks it, before there is a server",
    "test_tutorial": "its commands are those of its page, word for word; the page has a file and no server",
}


@contextmanager
def remote(curator, *tokens):
    """Serve the vault of a curator, and give a remote session for each token."""
    app = make_app(ServeSettings(str(curator.path), rate=1e6, burst=10**6))
    transport = SyncTransport(app)
    try:
        yield [Session(RemoteDesk("http://127.0.0.1", token, transport=transport)) for token in tokens]
    finally:
        app.state.desks.close()
