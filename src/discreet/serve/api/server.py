"""Servers: the API on a socket, in one process or several that share the vault, until they are told to end."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.value import dataclass
from discreet.serve.api.settings import VARIABLE, ServeSettings
from discreet.serve.connections import quieted

if TYPE_CHECKING:
    from fastapi import FastAPI

# Seconds that requests get to end in when the server is told to end.
_GRACE = 20


@dataclass(frozen=True, slots=True)
class Transport:
    """How requests come in: over TLS with these files, or plainly, perhaps from a proxy that says who asks."""

    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            why, fix = "TLS needs a certificate and its key", "give --tls-certificate and --tls-key"
            raise BadParameter("tls_certificate, tls_key", str(self.certificate or self.key), why=why, fix=fix)

    @property
    def is_tls(self) -> bool:
        """Whether connections are encrypted here."""
        return self.certificate is not None

    def options(self) -> dict[str, Any]:
        """Return the options of uvicorn."""
        if self.certificate is None or self.key is None:
            return {}
        return {"ssl_certfile": str(self.certificate), "ssl_keyfile": str(self.key)}


def worker_app() -> "FastAPI":
    """Make the app of a worker process, which finds its settings in its environment."""
    from discreet.serve.api.app import make_app

    quieted({})  # the logs of this process
    return make_app(ServeSettings.read(os.environ[VARIABLE]))


def run(
    settings: ServeSettings,
    listener: socket.socket,
    transport: Transport,
    *,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve a vault until interrupted or terminated; for the main thread of a process.

    With several workers each is a process with its own engines over the same vault; one that dies is replaced, and one
    that holds more memory than its share ends and is replaced.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("the HTTP API", "serve", "uvicorn") from error

    from discreet.serve.api.app import make_app

    common = {"access_log": False, "log_level": "warning", "server_header": False, "proxy_headers": False}
    options = {**common, **quieted({}), "timeout_graceful_shutdown": _GRACE, **transport.options()}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if settings.workers == 1:
        config = uvicorn.Config(make_app(settings), **options)
        ready()
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
        return
    from uvicorn.supervisors import Multiprocess

    os.environ[VARIABLE] = settings.text()
    config = uvicorn.Config("discreet.serve.api.server:worker_app", factory=True, workers=settings.workers, **options)
    ready()
    with suppress(KeyboardInterrupt):
        Multiprocess(config, sockets=[listener]).run()
