"""Dependencies of the routes: the open service, the queries whose callers wait, and interceptors by fault plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, cast

from fastapi import Depends, FastAPI, Path, Request
from pydantic import JsonValue

from antiphon.api.guards import is_from_here
from antiphon.service import Antiphon, Interceptor, Query, Settings, nearest
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import BadInputError, ForbiddenError
from antiphon.vocabulary.events import Event, Recorded

ServiceOpener = Callable[[Settings], Awaitable[Antiphon]]
"""Opens the service; the app closes it."""


def seen_service(request: Request) -> Antiphon:
    """Returns the open service as the caller sees it; the door (door.py) has put it there."""
    seen = getattr(request.state, "service", None)
    if seen is None:
        # A route that asks nobody for a key: its caller is nobody, as soon as there are keys.
        whole = cast(Antiphon, request.app.state.service)
        here = is_from_here(request.headers)
        seen = whole.seen_by(whole.public_principal(from_here=here))
    return cast(Antiphon, seen)


# This and all others are coroutines, though they await nothing: FastAPI runs plain functions in threads.
async def _service(request: Request) -> Antiphon:
    return seen_service(request)


Service = Annotated[Antiphon, Depends(_service)]
"""The same, as a route asks for it."""


async def _principal(service: Service) -> Principal:
    return service.principal


Caller = Annotated[Principal, Depends(_principal)]
"""The caller of a route, which asks for it if what they may do hangs on what they send."""


DELETING_CHARS = 12
"""As many as `antiphon traces list` shows of an id."""

NamedTrace = Annotated[str, Path(min_length=1, max_length=200, examples=["q-0b8a4a7c"])]
"""A trace's id or enough of its beginning, as a path names it."""


async def _whole_id(query_id: NamedTrace, service: Service) -> str:
    return await service.find(query_id)


async def _other_id(other_id: NamedTrace, service: Service) -> str:
    return await service.find(other_id)


QueryId = Annotated[str, Depends(_whole_id)]
"""The whole id of the trace that a path names."""


async def _deletable_id(query_id: NamedTrace, service: Service) -> str:
    found = await service.find(query_id)
    # Two letters that happen to begin one trace's id are a mistake rather than a wish.
    if query_id != found and len(query_id) < DELETING_CHARS:
        raise BadInputError(
            f"Give at least {DELETING_CHARS} characters of the id of a trace to delete."
        )
    return found


DeletableId = Annotated[str, Depends(_deletable_id)]
"""The whole id of a trace that is named by enough of it to be deleted."""
OtherId = Annotated[str, Depends(_other_id)]
"""That of the other trace that a path names."""


def refuse_unknown_parameters(request: Request) -> None:
    """Refuses a query parameter that the route does not have: it is a mistyped one, and would change nothing.

    Raises:
        BadInputError: There is one; the message names the nearest that there is.
    """
    if not request.scope["query_string"]:
        return
    route = request.scope["route"]
    described = request.app.openapi()["paths"].get(route.path_format, {})
    parameters = described.get(request.method.lower(), {}).get("parameters", ())
    known = [each["name"] for each in parameters if each["in"] == "query"]
    for name in request.query_params:
        if name in known:
            continue
        there_are = ", ".join(known) or "none"
        raise BadInputError(
            f"There is no query parameter `{name[:40]}` here{nearest(name, known)}: there are {there_are}."
        )


class RunningQueries:
    """The queries whose callers wait for them, so that a service that stops can end them in order."""

    def __init__(self) -> None:
        self._running: set[Query] = set()

    @contextmanager
    def waiting(self, query: Query, why: str) -> Iterator[None]:
        """Counts `query` while its caller waits; whoever stops waiting before the end leaves it, because of `why`."""
        self._running.add(query)
        try:
            yield
        finally:
            self._running.discard(query)
            query.leave(why)  # changes nothing if the query is over

    def cancel(self, why: str) -> None:
        """Cancels all of them; their callers get an answer that states it."""
        # A copy: a query that ends at once leaves the set.
        for query in list(self._running):
            query.cancel(why)


def cancel_queries(app: FastAPI, why: str) -> None:
    """Cancels the queries whose callers wait for them."""
    cast(RunningQueries, app.state.running_queries).cancel(why)


def running_queries(request: Request) -> RunningQueries:
    """Returns the queries whose callers wait."""
    return cast(RunningQueries, request.app.state.running_queries)


async def _running_queries(request: Request) -> RunningQueries:
    return running_queries(request)


Waited = Annotated[RunningQueries, Depends(_running_queries)]
"""The same, as a route asks for them."""


InterceptorOf = Callable[[object], Interceptor]
"""Makes the interceptor that breaks a query by a fault plan as its caller sent it; the command line brings it."""

FaultOf = Callable[
    [Sequence[Recorded[Event]], int, str | None, str | None], Mapping[str, Any]
]
"""Makes the fault plan that breaks a recorded query at an event (kind and point may be None), as plain values."""


def interceptor_for(
    request: Request, faults: dict[str, JsonValue] | None
) -> Interceptor | None:
    """Makes the interceptor for the fault plan that came with a request; None if none came.

    Raises:
        FaultPlanError: It is no fault plan.
        ForbiddenError: This service takes none, or none of this caller.
    """
    if faults is None:
        return None
    seen_service(request).principal.require("faults")
    interceptor_of: InterceptorOf | None = request.app.state.interceptor_of
    if interceptor_of is None:
        raise ForbiddenError(
            "Fault plans are not taken here: start the service with `antiphon serve --allow-faults`."
        )
    return interceptor_of(faults)
