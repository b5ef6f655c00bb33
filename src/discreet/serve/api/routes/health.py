"""Health: whether the server is up, and its counters; for whoever runs it, without a token."""

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from discreet.serve.api.responses import json_response

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.serve.api.service import Service
    from discreet.serve.api.watch import Watch


def add(app: "FastAPI", service: "Service", watch: "Watch") -> None:  # noqa: ARG001
    """Add the routes."""

    @app.get("/healthz", tags=["health"], summary="Whether the server is up")
    async def health() -> Response:
        """Say that the server is up. Nothing of the vault is read."""
        return json_response({"up": True})

    @app.get("/metrics", tags=["health"], summary="Counters for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Give the counters of this process: requests by route and status, and nothing that depends on data."""
        return PlainTextResponse(watch.metrics(), media_type="text/plain; version=0.0.4")
