"""The OpenAPI 3.1 document: what FastAPI knows of the routes, with bearer tokens and problem documents."""

from typing import TYPE_CHECKING, Any

from discreet.curator.remote.problem import KINDS, MEDIA

if TYPE_CHECKING:
    from fastapi import FastAPI

_TITLES = {
    401: "No valid token",
    403: "The token does not allow it, or the budget does not cover it",
    404: "Unknown name",
    409: "It contradicts what the vault holds, or was charged and failed",
    413: "The body is too large",
    422: "The request is not valid; why and how to fix it stand in the document",
    429: "Too many requests; Retry-After says when to try again",
    503: "The vault is not available, frozen, or was tampered with",
}
# An open schema: what else a problem says depends on its type.
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "what", "why", "fix"],
    "properties": {
        "type": {"type": "string", "enum": [f"urn:discreet:problem:{kind.word}" for kind in KINDS]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "what": {"type": "string"},
        "why": {"type": "string"},
        "fix": {"type": "string"},
        "requested": {"type": "string"},
        "remaining": {"type": "string"},
        "offer": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
OPEN: dict[str, Any] = {"type": "object"}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the responses of a route that asks for a token, and other statuses it may have."""
    schema = {"content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    return {status: {"description": _TITLES[status], **schema} for status in sorted({401, 403, 429, 503, *statuses})}


def replied(description: str, schema: dict[str, Any] | None = None, **others: dict[str, Any]) -> dict[str, Any]:
    """Return the response of success: JSON, and other formats by their media types."""
    content = {"application/json": {"schema": schema or OPEN}}
    return {"description": description, "content": {**content, **{each: {"schema": of} for each, of in others.items()}}}


def body(schema: dict[str, Any], example: object) -> dict[str, Any]:
    """Return the request body of a route, which it reads and checks itself."""
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


def document(app: "FastAPI") -> dict[str, Any]:
    """Return the document, made once."""
    if app.openapi_schema is None:
        from fastapi.openapi.utils import get_openapi

        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            openapi_version="3.1.0",
        )
        parts = made.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = _PROBLEM
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for operations in made["paths"].values():
            for operation in operations.values():
                if "401" in operation["responses"]:
                    operation["security"] = [{"token": []}]
        app.openapi_schema = made
    return app.openapi_schema
