"""Builds the FastAPI app: the service's life, the guards round it, and its routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from antiphon.api.access import AccessLog
from antiphon.api.errors import ALWAYS, install_error_handlers
from antiphon.api.facade import AroundOf, Opener
from antiphon.api.guards import BodyLimit, HostGuard, SafeHeaders, hosts_for
from antiphon.api.release import release
from antiphon.api.routes import conversations, courses, forks, health, memory, metrics, queries, traces
from antiphon.api.under_way import UnderWay
from antiphon.service import Antiphon, Settings, load_settings

MAX_BODY_BYTES = 1_000_000
DESCRIPTION = """\
Answers questions over course documents in at most two rounds of tool calls; every step is an event.

Ask with `POST /api/query`. With `Accept: text/event-stream` the same query comes as live events, its answer last.
Every answer names its `query_id`; `GET /api/traces/{query_id}` returns all that led to it.
Errors have one shape: `{"error": {"code", "message", "query_id"}}`.
"""


def create_app(
    settings: Settings | None = None, open_service: Opener = Antiphon.open, around_of: AroundOf | None = None
) -> FastAPI:
    """The app; the service opens when it starts and closes when it stops.

    Args:
        settings: None reads them from the environment.
        open_service: Opens the service; tests hand in another.
        around_of: Reads fault plans that callers send; None refuses them.
    """
    chosen = settings or load_settings()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        service = await open_service(chosen)
        app.state.service = service
        await service.history.resume_unfinished()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="Antiphon",
        summary="Cited answers over course documents, every step an event.",
        description=DESCRIPTION,
        version=release(),
        lifespan=life,
        responses=ALWAYS,
    )
    app.state.under_way = UnderWay()
    app.state.around_of = around_of
    for routes in (queries, courses, conversations, traces, forks, memory, health, metrics):
        app.include_router(routes.router)
    install_error_handlers(app)
    # The last added is the outermost: a refusal of a guard is logged and has the headers too.
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.add_middleware(HostGuard, allowed=hosts_for(chosen))
    app.add_middleware(SafeHeaders)
    app.add_middleware(AccessLog)
    return app
