"""The ledger, as analysts see it: budgets, releases and their certificates, the head, and bills."""

import json
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from discreet.account.losses.loss import PrivacyLoss
from discreet.ask.request import some_fields
from discreet.ask.verbs.request_text import parsed
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.remote.declaration import ARTEFACT
from discreet.serve.api.desks import Caller
from discreet.serve.api.documents import body, problems, replied
from discreet.serve.api.responses import problem_response
from discreet.serve.api.service import body_of

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.serve.api.service import Service
    from discreet.serve.api.watch import Watch

_RECEIPT: dict[str, Any] = {
    "type": "object",
    "required": ["sequence", "key", "head"],
    "properties": {"sequence": {"type": "integer"}, "key": {"type": "string"}, "head": {"type": "string"}},
}
_BILL: dict[str, Any] = {
    "type": "object",
    "required": ["tables", "loss", "label"],
    "additionalProperties": False,
    "properties": {
        "tables": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "loss": {"type": "string", "description": "A loss, as its to_json writes it"},
        "label": {"type": "string"},
        "key": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
}
_BILL_EXAMPLE = {
    "tables": ["visits"],
    "loss": '{"discreet": 1, "loss": {"kind": "Pure", "epsilon": "1/2"}}',
    "label": "x",
}
_SHOWN: dict[str, Any] = {
    "type": "object",
    "required": ["receipts"],
    "additionalProperties": False,
    "properties": {"receipts": {"type": "array", "items": {"type": "object"}, "maxItems": 100}},
}
_SHOWN_EXAMPLE = {
    "vault": "...",
    "sequence": 7,
    "head": "...",
    "spent": {"visits": ["1/2", "0"]},
    "public_key": "...",
    "signature": "...",
}
_MOST_SHOWN = 100


def add(app: "FastAPI", service: "Service", watch: "Watch") -> None:  # noqa: ARG001
    """Add the routes."""

    @app.get("/v1/budget", tags=["ledger"], summary="What is left", responses={200: replied("Limits"), **problems()})
    async def budget(request: Request) -> Response:
        """List every limit that a question of this token has to pass, as it stands."""
        return await service.asked(request, _budget)

    @app.get(
        "/v1/releases", tags=["ledger"], summary="What was paid", responses={200: replied("Charges"), **problems()}
    )
    async def releases(request: Request) -> Response:
        """List what this analyst has paid for, the newest last."""
        return await service.asked(
            request, lambda caller: {"releases": [each.record() for each in caller.desk.releases()]}
        )

    @app.get("/v1/pending", tags=["ledger"], summary="What waits", responses={200: replied("Requests"), **problems()})
    async def pending(request: Request) -> Response:
        """List the requests of this analyst that wait, or waited, for the custodian's approval."""
        return await service.asked(request, _pending)

    @app.get(
        "/v1/artefacts/{name}",
        tags=["ledger"],
        summary="A published file",
        responses={200: {"description": "The file", "content": {"*/*": {}}}, **problems(404)},
    )
    async def artefact(request: Request, name: Annotated[str, Path(description="As releases list it")]) -> Response:
        """Give a file that was published about tables of the token, once it is found to be what was settled."""
        return await service.asked(request, lambda caller: _artefact(caller, name))

    @app.post(
        "/v1/certificate",
        tags=["ledger"],
        summary="The certificate of a release",
        openapi_extra=body(_RECEIPT, {"sequence": 7, "key": "...", "head": "..."}),
        responses={200: replied("The signed certificate"), **problems(409, 413, 422)},
    )
    async def certificate(request: Request) -> Response:
        """Give the signed certificate of a release to whoever has its receipt."""
        content = await body_of(request)
        return await service.asked(request, lambda caller: _certificate(caller, content))

    @app.get(
        "/v1/head", tags=["ledger"], summary="The end of the chain", responses={200: replied("Head"), **problems()}
    )
    async def head(request: Request) -> Response:
        """Give the end of the ledger's chain; whoever keeps it can tell a vault that was put back."""
        return await service.asked(request, _head)

    @app.post(
        "/v1/receipts",
        tags=["ledger"],
        summary="Show receipts",
        openapi_extra=body(_SHOWN, {"receipts": [_SHOWN_EXAMPLE]}),
        responses={200: replied("Why the vault is frozen, or null"), **problems(413, 422)},
    )
    async def receipts(request: Request) -> Response:
        """Compare the vault with receipts that it signed: one that it has lost freezes it, for everybody."""
        content = await body_of(request)
        return await service.asked(request, lambda caller: _receipts(caller, content))

    @app.post(
        "/v1/bill",
        tags=["ledger"],
        summary="Charge for work done elsewhere",
        openapi_extra=body(_BILL, _BILL_EXAMPLE),
        responses={200: replied("The receipt"), **problems(409, 413, 422)},
    )
    async def bill(request: Request) -> Response:
        """Charge a loss for work on the people of some tables that is done elsewhere."""
        content = await body_of(request)
        return await service.asked(request, lambda caller: _bill(caller, content))


def _budget(caller: Caller) -> dict[str, object]:
    return {
        "limits": [
            {
                "scope": each.scope,
                "account": each.account,
                "own": each.analyst is not None,
                "filter": each.filter.to_json(),
                "window": each.window,
            }
            for each in caller.desk.budget()
        ]
    }


def _pending(caller: Caller) -> dict[str, object]:
    return {
        "requests": [{"name": each.name, "at": each.at, "request": each.record()} for each in caller.desk.pending()]
    }


def _artefact(caller: Caller, name: str) -> Response:
    folder = TemporaryDirectory(prefix="discreet-")
    try:
        place = File(folder.name) / "file"
        found = caller.desk.artefact(name, place)
    except UnknownName as refusal:
        folder.cleanup()
        return problem_response(refusal, 404)
    except BaseException:
        folder.cleanup()
        raise
    record = json.dumps(found.record())
    return FileResponse(
        place, media_type=found.media, headers={ARTEFACT: record}, background=BackgroundTask(folder.cleanup)
    )


def _head(caller: Caller) -> dict[str, object]:
    found = caller.desk.head()
    return {"sequence": found.sequence, "hash": found.hash}


def _certificate(caller: Caller, content: bytes) -> object:
    receipt = some_fields(
        "receipt", parsed(content), ("sequence", "key", "head", "replayed", "attested"), ("sequence", "key", "head")
    )
    if type(receipt["sequence"]) is not int:
        raise BadParameter("sequence", "...", why="it is a number", fix="pass an answer's own receipt")
    return {"certificate": caller.desk.certificate(receipt).to_json()}


def _receipts(caller: Caller, content: bytes) -> object:
    shown = some_fields("receipts", parsed(content), ("receipts",), ("receipts",))["receipts"]
    if not isinstance(shown, list) or len(shown) > _MOST_SHOWN:
        raise BadParameter("receipts", "...", why=f"it is a list of at most {_MOST_SHOWN}", fix="show the newest ones")
    return {"frozen": caller.desk.show(shown)}


def _bill(caller: Caller, content: bytes) -> object:
    found = some_fields("bill", parsed(content), ("tables", "loss", "label", "key"), ("tables", "loss", "label"))
    tables, loss, label, key = found["tables"], found["loss"], found["label"], found.get("key")
    if not isinstance(tables, list) or not tables or not all(isinstance(each, str) for each in tables):
        raise BadParameter("tables", "...", why="it is a list of names", fix='write ["visits"]')
    for name, value in (("loss", loss), ("label", label), *([("key", key)] if key is not None else [])):
        if not isinstance(value, str):
            raise BadParameter(name, "...", why="it is text", fix="see /openapi.json")
    return {"receipt": caller.desk.bill(tables, PrivacyLoss.from_json(loss), label, key).to_json()}
