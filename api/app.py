"""Builds the FastAPI app: the service's lifespan, the guards around it, and its routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from fastapi import APIRouter, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp

from antiphon.api.answering import AccessLog, SafeHeaders
from antiphon.api.bodies import BodyLimit
from antiphon.api.dependencies import (
    FaultOf,
    InterceptorOf,
    RunningQueries,
    ServiceOpener,
)
from antiphon.api.door import guarded_routes
from antiphon.api.errors import install_error_handlers
from antiphon.api.guards import (
    CallerGuard,
    PlainRequests,
    hosts_for,
    offered_to,
    pages_for,
)
from antiphon.api.idempotency import IdempotentQueries
from antiphon.api.openapi import operation_id, publish_schema
from antiphon.api.pages import add_pages
from antiphon.api.refusals import ALWAYS
from antiphon.api.routes import (
    archive,
    conversations,
    documents,
    faults,
    feedback,
    forks,
    later,
    layouts,
    listing,
    queries,
    question_sets,
    searching,
    service,
    traces,
    views,
)
from antiphon.api.stopping import EventStreams, StreamEnds
from antiphon.api.telemetry import RequestTelemetry
from antiphon.service import MOST_BYTES, Antiphon, Settings, load_settings
from antiphon.vocabulary.imports import split_names
from antiphon.vocabulary.program import program_version

MAX_BODY_BYTES = 1_000_000
DESCRIPTION = """\
Answers questions over course documents in at most two rounds of tool calls; every step is an event.

Ask with `POST /api/query`. With `Accept: text/event-stream` the same query comes as live events, its answer last.
Every answer names its `query_id`; `GET /api/traces/{query_id}` returns all that led to it.
Errors have one shape: `{"error": {"code", "message", "query_id"}}`.
"""


class Door(NamedTuple):
    """Another protocol that the service speaks.

    Attributes:
        router: Its routes, each behind the API's own door.
        around: Wraps the app, for example to give errors the protocol's own shape; None: nothing does.
        headers: The protocol's own request headers, which pages of other origins may send too.
    """

    router: APIRouter
    around: Callable[[ASGIApp], ASGIApp] | None = None
    headers: tuple[str, ...] = ()


def _larger_bodies(root_path: str) -> dict[str, int]:
    """Returns the paths that take larger bodies, with and without the path of a proxy, which may leave it in front."""
    larger = {archive.IMPORT: archive.MOST_IMPORTED, documents.ADD: MOST_BYTES}
    return larger | {f"{root_path}{path}": most for path, most in larger.items()}


def create_app(
    settings: Settings | None = None,
    open_service: ServiceOpener = Antiphon.open,
    interceptor_of: InterceptorOf | None = None,
    fault_of: FaultOf | None = None,
    doors: Sequence[Door] = (),
) -> FastAPI:
    """Builds the app; the service opens when it starts and closes when it stops.

    Args:
        settings: None reads them from the environment.
        open_service: Opens the service; tests pass another function.
        interceptor_of: Reads fault plans that callers send; None: the app refuses them.
        fault_of: Makes the fault plan that breaks a recorded query at an event; None: the app refuses to.
        doors: Other protocols that the service speaks.
    """
    chosen = load_settings() if settings is None else settings

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        opened = await open_service(chosen)
        app.state.service = opened
        try:
            # Requests are checked against the schema. Building it takes a tenth of a second or more, during which the
            # event loop would serve nobody, and needs the open service, whose subscribers add events.
            await asyncio.to_thread(app.openapi)
            # Queries whose process died resume before new ones come in.
            await opened.resume_unfinished()
            yield
        finally:
            await opened.close()

    app = FastAPIOffline(
        title="Antiphon",
        summary="Cited answers over course documents, every step an event.",
        description=DESCRIPTION,
        version=program_version(),
        lifespan=life,
        responses=ALWAYS,
        root_path=chosen.root_path,
        # `PlainRequests` handles slashes without redirects, which would reveal the name of a machine behind a proxy.
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
        # Antiphon has its own telemetry of queries (docs/telemetry.md). FastAPI would ask OpenTelemetry about each
        # request, and make spans of its own if a subscriber has set that up.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    start_afresh(app, interceptor_of, fault_of)
    # Order matters: the archive before the traces, which would take `import` for an id; layouts before documents, whose
    # paths end with a title of any length.
    for routes in (
        queries,
        later,
        conversations,
        service,
        searching,
        layouts,
        documents,
        archive,
        listing,
        traces,
        feedback,
        question_sets,
        views,
        forks,
        faults,
    ):
        app.include_router(routes.router)
    for door in doors:
        app.include_router(door.router)
    # Raises if a route is open by mistake.
    guarded_routes(app)
    pages = add_pages(app, chosen.root_path)
    publish_schema(app)
    origins = frozenset(split_names(chosen.allowed_origins))
    offered = offered_to(origins, [name for door in doors for name in door.headers])
    install_error_handlers(app, offered, pages.nothing)
    # The last added is the outermost: so refusals of a guard are logged, and have the headers too.
    app.add_middleware(
        BodyLimit,
        max_bytes=MAX_BODY_BYTES,
        larger=_larger_bodies(chosen.root_path),
    )
    app.add_middleware(EventStreams)
    app.add_middleware(
        CallerGuard,
        allowed=hosts_for(chosen),
        pages=pages_for(chosen),
        origins=origins,
    )
    app.add_middleware(offered)
    app.add_middleware(SafeHeaders)
    for door in doors:
        if door.around is not None:
            app.add_middleware(door.around)
    # Outside the guards, so that their refusals are counted too; but inside `PlainRequests`, which copies the scope in
    # which this then finds the route.
    if chosen.metrics == "prometheus" or chosen.otlp_endpoint is not None:
        app.add_middleware(RequestTelemetry, traces=chosen.otlp_endpoint is not None)
    app.add_middleware(PlainRequests)
    app.add_middleware(AccessLog)
    return app


def start_afresh(
    app: FastAPI,
    interceptor_of: InterceptorOf | None = None,
    fault_of: FaultOf | None = None,
) -> None:
    """Gives the app its state for serving, still empty.

    It is in the app's state rather than in a closure, so that a test can put its own service there and reuse an app.
    """
    app.state.running_queries = RunningQueries()
    app.state.idempotent_queries = IdempotentQueries()
    app.state.event_streams = StreamEnds()
    app.state.interceptor_of = interceptor_of
    app.state.fault_of = fault_of
