"""Requests: previews, and answers that are paid for; every verb of a session comes through these two routes."""

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Header, Query, Request
from starlette.responses import Response

from discreet.ask.request import Fresh
from discreet.ask.verbs import registry, verb_of
from discreet.ask.verbs.request_text import parsed, request_from_record
from discreet.core.errors import BadParameter
from discreet.serve.api.desks import Caller
from discreet.serve.api.documents import OPEN, body, problems, replied
from discreet.serve.api.responses import (
    ARROW,
    CSV,
    EVENTS,
    JSON,
    chosen_format,
    progress_response,
    released_response,
    released_text,
)
from discreet.serve.api.service import body_of, token_of

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.ask.desk import Progress
    from discreet.serve.api.service import Service
    from discreet.serve.api.watch import Watch

_AMOUNT = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["verb", "question"],
    "additionalProperties": False,
    "properties": {
        "discreet": {"const": 1},
        "verb": {"enum": [*registry]},
        "question": {
            "type": "object",
            "description": "For sql: {sql, keys, public}; else a plan, as sessions write it.",
        },
        "spec": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "price": {
            "anyOf": [
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"epsilon": _AMOUNT, "delta": _AMOUNT, "rho": _AMOUNT},
                },
                {"type": "null"},
            ]
        },
    },
}
_EXAMPLE = {
    "verb": "sql",
    "question": {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"},
    "price": {"epsilon": 0.5},
}


def add(app: "FastAPI", service: "Service", watch: "Watch") -> None:  # noqa: ARG001
    """Add the routes."""

    @app.post(
        "/v1/preview",
        tags=["questions"],
        summary="What a request would cost",
        openapi_extra=body(_SCHEMA, _EXAMPLE),
        responses={200: replied("Expected errors and prices"), **problems(409, 413, 422)},
    )
    async def preview(request: Request) -> Response:
        """Show what a request would cost and how far its answer would be off; free, made without any data."""
        content = await body_of(request)
        said = _said(content)
        return await service.asked(
            request,
            lambda caller: _preview(caller, content, said),
            lambda caller: _written(caller.desk.previewed_at_hand(said)),
        )

    @app.post(
        "/v1/run",
        tags=["questions"],
        summary="Pay, and get the answer",
        openapi_extra=body(_SCHEMA, _EXAMPLE),
        responses={
            200: replied(
                "The answer, its receipt, and what is left",
                OPEN,
                **{CSV: {"type": "string"}, ARROW: {"type": "string"}, EVENTS: {"type": "string"}},
            ),
            **problems(409, 413, 422),
        },
    )
    async def run(
        request: Request,
        fresh: Annotated[bool, Query(description="Pay again, for new noise")] = False,
        idempotency_key: Annotated[
            str | None, Header(description="With fresh: a retry under the same key is a replay")
        ] = None,
    ) -> Response:
        """Pay for a request and return its one answer; the same request again is replayed for free.

        With `Accept: text/event-stream` the steps of the plan are told as they begin. Closing the connection ends the
        waiting alone: what was charged is settled, and the same request replays it.
        """
        content, media = await body_of(request), chosen_format(request.headers.get("accept", ""))
        wanted: Fresh = (True if idempotency_key is None else idempotency_key) if fresh else False
        if media != EVENTS:
            said = _said(content)
            return await service.asked(
                request,
                lambda caller: _run(caller, content, said, wanted, media),
                None if fresh or media != JSON else lambda caller: _written(caller.desk.replay_at_hand(said)),
            )
        token = token_of(request)
        service.desks.caller(token)

        def work(progress: "Progress") -> str:
            found: str = service.worked(token, request, lambda caller: _text(caller, content, wanted, progress))
            return found

        return progress_response(work)


def _written(text: object | None) -> Response | None:
    return Response(text, media_type=JSON) if isinstance(text, str) else None


def _preview(caller: Caller, content: bytes, said: str) -> Response:
    """Preview; the same bytes have the same preview while nothing happens in the vault."""
    if isinstance(text := caller.desk.previewed(said), str):
        return Response(text, media_type=JSON)
    known = caller.desk.known
    request = request_from_record(parsed(content), caller.desk)
    if getattr(request.spec, "sql", False):
        why, fix = "what an engine is asked names where tables lie", "leave spec.sql out"
        raise BadParameter("sql", True, why=why, fix=fix)
    text = json.dumps(caller.desk.preview(request).record(), ensure_ascii=False, allow_nan=False)
    caller.desk.keep_preview(said, text, known)
    return Response(text, media_type=JSON)


def _run(caller: Caller, content: bytes, said: str, fresh: Fresh, media: str) -> Response:
    """Run; the same bytes have the same replay while nothing happens in the vault, and are not read again."""
    if not fresh and media == JSON and isinstance(text := caller.desk.replay(said), str):
        return Response(text, media_type=JSON)
    known = caller.desk.known
    request = request_from_record(parsed(content), caller.desk)
    released = caller.desk.run(request, fresh=fresh)
    if media != JSON:
        return released_response(verb_of(request.verb), released, media)
    text = released_text(verb_of(request.verb), released)
    if not fresh and released.receipt.get("replayed") and released.registered:
        caller.desk.keep(said, released.registered, text, known)
    return Response(text, media_type=JSON)


def _said(content: bytes) -> str:
    return f"http {sha256(content).hexdigest()}"


def _text(caller: Caller, content: bytes, fresh: Fresh, progress: "Progress") -> str:
    request = request_from_record(parsed(content), caller.desk)
    return released_text(verb_of(request.verb), caller.desk.run(request, fresh=fresh, progress=progress))
