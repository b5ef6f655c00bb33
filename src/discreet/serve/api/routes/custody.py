"""Custody: what custodians do over HTTP: register and refresh tables, grant and revoke, limits on work."""

from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path, Request
from starlette.responses import Response

from discreet.account.budgets.budget import Budget
from discreet.ask.request import some_fields
from discreet.ask.verbs.request_text import parsed
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import parse_written
from discreet.core.schema import Table
from discreet.core.value import dataclass
from discreet.curator.remote.declaration import declaration_record
from discreet.ledger.grant import check_role
from discreet.serve.api.documents import OPEN, body, problems, replied
from discreet.serve.api.responses import json_response, problem_response
from discreet.serve.api.service import body_of

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.curator.curator import Curator
    from discreet.serve.api.service import Service
    from discreet.serve.api.watch import Watch

_BUDGET = {"anyOf": [{"type": "object"}, {"type": "null"}]}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def _schema(needed: tuple[str, ...], **properties: object) -> dict[str, Any]:
    return {"type": "object", "required": [*needed], "additionalProperties": False, "properties": properties}


_GRANT = _schema(
    ("analyst",),
    analyst={"type": "string"},
    tables=_TEXTS,
    budget=_BUDGET,
    monthly=_BUDGET,
    expires={"anyOf": [{"type": "string"}, {"type": "null"}]},
    role={"enum": ["analyst", "custodian", "reader"]},
    existing={"enum": ["replace", "add", "end", None]},
)
_TABLE = _schema(
    ("source", "table"),
    source={"type": "string"},
    table={"type": "object"},
    budget=_BUDGET,
    group={"anyOf": [{"type": "string"}, {"type": "null"}]},
    people={"enum": ["same", "distinct", None]},
)
_REFRESH = _schema((), source={"anyOf": [{"type": "string"}, {"type": "null"}]}, people={"enum": ["distinct", None]})
_WORK = _schema(
    (), **{name: {"type": ["number", "string"]} for name in ("least_price", "partners", "deadline", "pace")}
)


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders from which sources may be registered over HTTP."""

    folders: tuple[str, ...]

    def allowed(self, source: object) -> str:
        """Return the real path of a file or folder under one of the roots; whatever else there is, is refused alike."""
        why = "sources are registered over HTTP from the folders that the server was started with"
        fix = "name a file under a folder given with --root, or register it on the server's machine"
        refusal = BadParameter("source", source if isinstance(source, str) else "...", why=why, fix=fix)
        if not isinstance(source, str) or not source or "\0" in source or set(source) & set("*?[") or "://" in source:
            raise refusal
        try:
            place = File(source).resolve()
        except (OSError, RuntimeError, ValueError):
            raise refusal from None
        if not place.exists() or not any(place.is_relative_to(root) for root in self.folders):
            raise refusal
        if place.is_dir() and any(not each.resolve().is_relative_to(place) for each in place.rglob("*")):
            raise refusal
        return str(place)


def add(app: "FastAPI", service: "Service", watch: "Watch") -> None:  # noqa: ARG001
    """Add the routes."""
    roots = Roots(service.desks.settings.roots)

    @app.get("/v1/grants", tags=["custody"], summary="All grants", responses={200: replied("Grants"), **problems()})
    async def grants(request: Request) -> Response:
        """List all grants, those that have ended included; tokens are shown once, when they are made."""
        return await service.custody(request, _grants)

    @app.post(
        "/v1/grants",
        tags=["custody"],
        summary="Let somebody ask",
        status_code=201,
        openapi_extra=body(_GRANT, {"analyst": "alice", "tables": ["visits"], "budget": {"epsilon": 1}}),
        responses={201: replied("The token, shown this once"), **problems(409, 413, 422)},
    )
    async def grant(request: Request) -> Response:
        """Grant tables to an analyst, and return the token."""
        content = await body_of(request)
        return await service.custody(request, lambda curator: json_response(_grant(curator, content), 201))

    @app.delete(
        "/v1/grants/{who}",
        tags=["custody"],
        summary="End grants",
        responses={200: replied("The grants that ended"), **problems(404, 409)},
    )
    async def revoke(request: Request, who: Annotated[str, Path(description="A grant, or an analyst")]) -> Response:
        """End a grant, by its identifier, or all of an analyst's, at once; what was spent stays spent."""
        return await service.custody(request, lambda curator: _revoked(curator, who))

    @app.post(
        "/v1/tables",
        tags=["custody"],
        summary="Register a table",
        status_code=201,
        openapi_extra=body(_TABLE, {"source": "/data/visits.parquet", "table": {}, "budget": {"epsilon": 3}}),
        responses={201: replied("The declaration"), **problems(409, 413, 422)},
    )
    async def register(request: Request) -> Response:
        """Put a file under an allowed folder behind the vault."""
        content = await body_of(request)
        return await service.custody(request, lambda curator: json_response(_registered(curator, content, roots), 201))

    @app.post(
        "/v1/tables/{name}/refresh",
        tags=["custody"],
        summary="Take a changed source",
        openapi_extra=body(_REFRESH, {}),
        responses={200: replied("The declaration"), **problems(404, 409, 413, 422)},
    )
    async def refresh(request: Request, name: Annotated[str, Path(description="The name of a table")]) -> Response:
        """Take a changed or another source as the next version of a table: same budget, nothing refunded."""
        content = await body_of(request)
        return await service.custody(request, lambda curator: _refreshed(curator, name, content, roots))

    @app.get("/v1/policy", tags=["custody"], summary="Limits on work", responses={200: replied("Limits"), **problems()})
    async def policy(request: Request) -> Response:
        """Give the limits on the work and the time of every question."""
        return await service.custody(request, lambda curator: {"work": curator.work().record()})

    @app.patch(
        "/v1/policy",
        tags=["custody"],
        summary="Change limits on work",
        openapi_extra=body(_schema(("work",), work=_WORK), {"work": {"pace": 1}}),
        responses={200: replied("Limits", OPEN), **problems(409, 413, 422)},
    )
    async def change(request: Request) -> Response:
        """Change limits on work; those that are left out stay."""
        content = await body_of(request)
        return await service.custody(request, lambda curator: _worked(curator, content))


def _grants(curator: "Curator") -> dict[str, object]:
    return {
        "grants": [
            {
                "id": each.id,
                "analyst": each.analyst,
                "role": each.role,
                "tables": [*each.tables],
                "expires": None if each.expires is None else each.expires.isoformat(),
                "revoked": each.revoked,
            }
            for each in curator.ledger.grants()
        ]
    }


def _grant(curator: "Curator", content: bytes) -> dict[str, object]:
    found = some_fields("grant", parsed(content), tuple(_GRANT["properties"]), ("analyst",))
    expires, role, existing = _text(found, "expires"), _text(found, "role") or "analyst", _text(found, "existing")
    token = curator.grant(
        _text(found, "analyst") or "",
        _names(found.get("tables") or []),
        budget=budget_of(found.get("budget")),
        monthly=budget_of(found.get("monthly")),
        expires=expires,
        role=check_role(role),
        existing=existing,  # type: ignore[arg-type]
    )
    return {"token": token}


def _revoked(curator: "Curator", who: str) -> object:
    try:
        return {"ended": [*curator.revoke(who)]}
    except UnknownName as refusal:
        return problem_response(refusal, 404)


def _registered(curator: "Curator", content: bytes, roots: Roots) -> dict[str, Any]:
    found = some_fields("table", parsed(content), tuple(_TABLE["properties"]), ("source", "table"))
    said = found["table"]
    table = Table.from_record({"rows": None, "source": None, **said} if isinstance(said, dict) else said)
    place = roots.allowed(found["source"])
    made = curator.register(
        table.name,
        place,
        unit=table.unit,
        columns=table.columns,
        budget=budget_of(found.get("budget")),
        rows=table.rows,
        group=_text(found, "group"),
        people=_text(found, "people"),  # type: ignore[arg-type]
    )
    return declaration_record(made)


def _refreshed(curator: "Curator", name: str, content: bytes, roots: Roots) -> object:
    found = some_fields("refresh", parsed(content or b"{}"), ("source", "people"))
    source = None if found.get("source") is None else roots.allowed(found["source"])
    if name not in curator.tables():
        return problem_response(UnknownName("table", name, curator.tables()), 404)
    return declaration_record(curator.refresh(name, source, people=_text(found, "people")))  # type: ignore[arg-type]


def _worked(curator: "Curator", content: bytes) -> dict[str, object]:
    found = some_fields("policy", parsed(content), ("work",), ("work",))
    limits = some_fields("work", found["work"], tuple(_WORK["properties"]))
    exact = {name: _amount(name, value) for name, value in limits.items()}
    return {"work": curator.work(**exact).record()}


def budget_of(record: object) -> Budget | None:
    """Read a budget: amounts as numbers, or as exact text."""
    if record is None:
        return None
    found = some_fields("budget", record, ("epsilon", "delta", "rho"))
    return Budget(**{name: _amount(name, each) for name, each in found.items() if each is not None})


def _amount(name: str, value: object) -> Any:  # noqa: ANN401  (a number, checked by whoever takes it)
    if isinstance(value, str):
        return parse_written(name, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadParameter(name, "...", why="it is a number", fix='write 0.5, or exact text such as "1/3"')
    return value


def _text(found: dict[str, Any], name: str) -> str | None:
    value = found.get(name)
    if value is None or isinstance(value, str):
        return value
    raise BadParameter(name, "...", why="it is text", fix="see /openapi.json")


def _names(value: object) -> list[str]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise BadParameter("tables", "...", why="it is a list of names", fix='write ["visits"]')
