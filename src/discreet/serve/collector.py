"""The collector's endpoint: an HTTP app that takes batches of local reports and keeps nothing about who sent them."""

# No postponed annotations: FastAPI reads those of the endpoints, whose types are imported when the app is made.

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter, MissingExtra
from discreet.serve.receive import BUSY, LEFT, TOO_LARGE, Receiver, Reply
from discreet.serve.uploads import MOST_HELD, Upload, Uploads

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

# Bodies that are read at the same time: reading one takes a few times its size.
_WORKERS = 4
_DESCRIPTION = (
    "Takes batches of local reports. Addresses, headers and times are not stored or logged. "
    "Put a reverse proxy with TLS, and without an access log, in front of it."
)


def collector_app(receiver: Receiver, signed: str, *, most_held: int = MOST_HELD) -> "FastAPI":
    """Make the app: POST /v1/reports takes a batch in CBOR, GET /v1/collection gives the signed collection.

    Guarantee: the answer to a batch is one of a few fixed texts; a body is not read beyond the receiver's limit, and
    all bodies together not beyond `most_held`; a sender that leaves has sent nothing; no address, header or time of a
    request is stored, printed or passed on.
    """
    try:
        from fastapi import FastAPI, Request, Response
        from starlette.concurrency import run_in_threadpool
    except ImportError as error:
        raise MissingExtra("the collector", "collect", "fastapi") from error

    app = FastAPI(title="Discreet collector", description=_DESCRIPTION, docs_url=None, redoc_url=None)
    cbor = {"requestBody": {"required": True, "content": {"application/cbor": {"schema": {"type": "string"}}}}}
    fixed = {409: "another collection or epoch", 413: "too large", 422: "malformed", 503: "try again"}
    uploads, workers = Uploads(most_held), asyncio.Semaphore(_WORKERS)

    @app.post(
        "/v1/reports",
        status_code=202,
        responses={status: {"description": text} for status, text in fixed.items()},
        openapi_extra=cbor,
    )
    async def reports(request: Request) -> Response:
        """Take a batch: a CBOR map of spec, key, epoch, count and data."""
        upload = uploads.begin()
        try:
            early = await _refused(request, upload, uploads, receiver.most_bytes)
            if early is not None and early is not TOO_LARGE:
                return _response(early)
            async with workers:
                if early is TOO_LARGE:
                    return _response(await run_in_threadpool(receiver.too_large))
                return _response(await run_in_threadpool(receiver.receive, bytes(upload.data)))
        finally:
            uploads.end(upload)

    @app.get("/v1/collection")
    async def collection() -> Response:
        """Give the signed collection that reports are made for."""
        return Response(signed, media_type="application/json")

    def _response(reply: Reply) -> Response:
        return Response(reply.text, status_code=reply.status, media_type="text/plain")

    return app


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 takes any that is free."""
    try:
        return socket.create_server((host, port), backlog=512)
    except OSError as error:
        fix = "use another --port or --host, or stop what listens there"
        raise BadParameter("port", port, why=f"nothing can listen on {host}:{port}", fix=fix) from error


def run(app: "FastAPI", listener: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serve the app until it is interrupted or terminated, without an access log; for the main thread of a process."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("the collector", "collect", "uvicorn") from error

    from discreet.serve.connections import quieted

    options = {"access_log": False, "log_level": "warning", "server_header": False, "proxy_headers": False}
    config = uvicorn.Config(app, lifespan="off", **quieted(options))
    # Told to end, the server finishes what it has started and passes the signal on: that is the end, and no failure.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


async def _refused(request: "Request", upload: Upload, uploads: Uploads, most: int) -> Reply | None:
    """Receive the body, and return a reply where it does not come to its end."""
    from starlette.requests import ClientDisconnect

    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 19 or int(declared) > most):
        return TOO_LARGE
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                return TOO_LARGE
            if not uploads.add(upload, part):
                return BUSY
    except ClientDisconnect:
        return LEFT
    upload.complete = True
    return BUSY if upload.given_up else None
