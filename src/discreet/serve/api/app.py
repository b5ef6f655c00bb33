"""The app: the routes of `discreet.serve.api.routes` over one vault, with OpenAPI 3.1 and problem documents."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from discreet.core.errors import MissingExtra, Refusal
from discreet.core.log import logger
from discreet.core.registry import Registry
from discreet.core.version import __version__

try:
    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
except ImportError as error:
    raise MissingExtra("the HTTP API", "serve", "fastapi") from error

from discreet.serve.api.desks import Desks
from discreet.serve.api.documents import document
from discreet.serve.api.residence import ended_when_too_large
from discreet.serve.api.responses import problem_response
from discreet.serve.api.service import BodyTooLarge, ClientLeft, Service
from discreet.serve.api.watch import Watch

if TYPE_CHECKING:
    from discreet.serve.api.settings import ServeSettings

_DESCRIPTION = (
    "Ask about sensitive tables under differential privacy. Previews are free; a request is charged before any row is "
    "read, and the same request again is replayed for free. Refusals are problem documents (RFC 9457)."
)
routes = Registry("route", "discreet.serve.api.routes", entry=lambda _: "add")


def make_app(settings: "ServeSettings") -> FastAPI:
    """Make the app over a vault.

    Guarantee: nothing is answered but by the desk of the token that asks; whatever a request is, there is a response
    whose text depends on no record.
    """
    desks = Desks(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watching = ended_when_too_large(settings.most_resident) if settings.workers > 1 else asyncio.sleep(0)
        task = asyncio.create_task(watching)
        yield
        task.cancel()
        desks.close()

    app = FastAPI(
        title="Discreet",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.desks = desks
    watch = Watch(settings.log)
    service = Service(desks)
    for name in routes:
        import_module(f"{routes.package}.{name}").add(app, service, watch)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _other)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _failed)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    app.add_middleware(watch.middleware)
    return app


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    status = 413 if isinstance(refusal, BodyTooLarge) else 400 if isinstance(refusal, ClientLeft) else None
    return problem_response(refusal, status)


async def _other(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path[:80]}"
    if error.status_code == 405:
        refusal = Refusal(what, why="this route has other methods", fix="see /openapi.json")
    else:
        refusal = Refusal(what, why="there is no such route", fix="see /openapi.json")
    response = problem_response(refusal, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    where = ", ".join(sorted({".".join(map(str, each["loc"])) for each in error.errors()}))
    refusal = Refusal("this request", why=f"it is not valid at {where}", fix="see /openapi.json")
    return problem_response(refusal, 422)


async def _failed(_: Request, __: Exception) -> Response:
    logger.error("a request failed unexpectedly")
    refusal = Refusal("this request", why="the server failed unexpectedly", fix="tell its custodian")
    return problem_response(refusal, 500)
