"""Tables: who one is, and what there is to ask about: declarations, and made-up rows to try code on."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Path, Query, Request
from starlette.responses import Response

from discreet.core.errors import UnknownName
from discreet.curator.remote.declaration import declaration_record, public_declaration_record
from discreet.serve.api.desks import Caller
from discreet.serve.api.documents import OPEN, problems, replied
from discreet.serve.api.responses import ARROW, CSV, chosen_format, problem_response

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.serve.api.service import Service
    from discreet.serve.api.watch import Watch

Name = Annotated[str, Path(description="The name of a table", examples=["visits"])]
_MOST_ROWS = 1_000_000


def add(app: "FastAPI", service: "Service", watch: "Watch") -> None:  # noqa: ARG001
    """Add the routes."""

    @app.get("/v1/session", tags=["tables"], summary="Who the token is", responses={200: replied("You"), **problems()})
    async def session(request: Request) -> Response:
        """Say who the token was granted to, in which role, and what limits a question has to keep."""
        return await service.asked(request, _session)

    @app.get(
        "/v1/tables",
        tags=["tables"],
        summary="The tables of the token",
        responses={200: replied("Names"), **problems()},
    )
    async def tables(request: Request) -> Response:
        """List the tables that may be asked about."""
        return await service.asked(request, lambda caller: {"tables": caller.desk.shared_tables()})

    @app.get(
        "/v1/tables/{name}",
        tags=["tables"],
        summary="The declaration of a table",
        responses={200: replied("The declaration"), **problems(404)},
    )
    async def table(request: Request, name: Name) -> Response:
        """Give what was declared of a table: columns, bounds, whom it protects. Nothing of its rows."""
        return await service.asked(request, lambda caller: _table(caller, name))

    @app.get(
        "/v1/public",
        tags=["tables"],
        summary="Public tables",
        responses={200: replied("Names"), **problems()},
    )
    async def publics(request: Request) -> Response:
        """List the public tables that the custodian registered, for any question to join."""
        return await service.asked(request, lambda caller: {"tables": caller.desk.public_tables()})

    @app.get(
        "/v1/public/{name}",
        tags=["tables"],
        summary="The declaration of a public table",
        responses={200: replied("The declaration"), **problems(404)},
    )
    async def public(request: Request, name: Name) -> Response:
        """Give the columns of a public table, and how many of its rows share a value."""
        return await service.asked(request, lambda caller: _public(caller, name))

    @app.get(
        "/v1/tables/{name}/dummy",
        tags=["tables"],
        summary="Made-up rows",
        responses={
            200: replied("Rows", OPEN, **{CSV: {"type": "string"}, ARROW: {"type": "string"}}),
            **problems(404, 422),
        },
    )
    async def dummy(
        request: Request,
        name: Name,
        rows: Annotated[int, Query(ge=1, le=_MOST_ROWS)] = 1000,
        seed: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
    ) -> Response:
        """Give rows that were made up from the declaration alone, to write code with: free, and without any meaning."""
        media = chosen_format(request.headers.get("accept", ""))
        return await service.asked(request, lambda caller: _dummy(caller, name, rows, seed, media))


def _session(caller: Caller) -> dict[str, object]:
    desk = caller.desk
    withhold = desk.minimum_frequency().record()
    return {"analyst": desk.analyst, "role": desk.role, "work": desk.work_limits().record(), "withhold": withhold}


def _table(caller: Caller, name: str) -> object:
    try:
        return declaration_record(caller.desk.registered(name))
    except UnknownName as refusal:
        return problem_response(refusal, 404)


def _public(caller: Caller, name: str) -> object:
    try:
        return public_declaration_record(caller.desk.public_table(name))
    except UnknownName as refusal:
        return problem_response(refusal, 404)


def _dummy(caller: Caller, name: str, rows: int, seed: int, media: str) -> object:
    from discreet.ask.dummy import dummy

    try:
        made = dummy(caller.desk.registered(name).table, rows, seed)
    except UnknownName as refusal:
        return problem_response(refusal, 404)
    if media == CSV:
        return Response(made.to_csv(), media_type=CSV)
    if media == ARROW:
        return Response(made.to_arrow_bytes(), media_type=ARROW)
    return {"table": name, "columns": made.record()}
