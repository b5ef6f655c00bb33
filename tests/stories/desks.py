"""Both desks: a session of the vault at hand, and one of a server over the same vault, in this process."""

from contextlib import contextmanager

from discreet.curator.remote.remote_desk import RemoteDesk
from discreet.curator.session import Session
from discreet.serve.api.app import make_app
from discreet.serve.api.settings import ServeSettings
from tests.serve.api.served import SyncTransport


@contextmanager
def remote(curator, *tokens):
    """Serve the vault of a curator, and give a remote session for each token."""
    app = make_app(ServeSettings(str(curator.path), rate=1e6, burst=10**6))
    transport = SyncTransport(app)
    try:
        yield [Session(RemoteDesk("http://127.0.0.1", token, transport=transport)) for token in tokens]
    finally:
        app.state.desks.close()
