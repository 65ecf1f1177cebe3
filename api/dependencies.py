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
    """Returns the caller's view of the open service, which the door (door.py) has put into the request."""
    seen = getattr(request.state, "service", None)
    if seen is None:
        # A route that needs no key: its callers count as nobody, as soon as there are keys.
        whole = cast(Antiphon, request.app.state.service)
        here = is_from_here(request.headers)
        seen = whole.seen_by(whole.public_principal(from_here=here))
    return cast(Antiphon, seen)


# All dependencies are coroutines, though they await nothing: FastAPI would run plain functions in threads.
async def _service(request: Request) -> Antiphon:
    return seen_service(request)


Service = Annotated[Antiphon, Depends(_service)]
"""The caller's view of the service, as a parameter of a route."""


async def _principal(service: Service) -> Principal:
    return service.principal


Caller = Annotated[Principal, Depends(_principal)]
"""The caller, as a parameter of routes whose permissions depend on the request's content."""


DELETING_CHARS = 12
"""The number of characters of an id that `antiphon traces list` shows."""

NamedTrace = Annotated[str, Path(min_length=1, max_length=200, examples=["q-0b8a4a7c"])]
"""A trace's id or enough of its beginning, in a path."""


async def _whole_id(query_id: NamedTrace, service: Service) -> str:
    return await service.find(query_id)


async def _other_id(other_id: NamedTrace, service: Service) -> str:
    return await service.find(other_id)


QueryId = Annotated[str, Depends(_whole_id)]
"""The whole id of the trace that a path names."""


async def _deletable_id(query_id: NamedTrace, service: Service) -> str:
    found = await service.find(query_id)
    # Two letters that happen to begin the id of just one trace are more likely a mistake.
    if query_id != found and len(query_id) < DELETING_CHARS:
        raise BadInputError(
            f"Give at least {DELETING_CHARS} characters of the id of a trace to delete."
        )
    return found


DeletableId = Annotated[str, Depends(_deletable_id)]
"""The whole id of a trace that a path names by enough characters to delete it."""
OtherId = Annotated[str, Depends(_other_id)]
"""The whole id of the other trace that a path names."""


def refuse_unknown_parameters(request: Request) -> None:
    """Refuses a query parameter that the route does not have: it is probably mistyped, and would change nothing.

    Raises:
        BadInputError: There is such a parameter; the message names the nearest known one.
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
        self._running: list[Query] = []

    @contextmanager
    def waiting(self, query: Query, why: str) -> Iterator[None]:
        """Counts `query` while a caller waits; if the last one stops waiting before its end, leaves it with `why`."""
        self._running.append(query)
        try:
            yield
        finally:
            self._running.remove(query)
            # A caller whose connection broke may have come back before the break was noticed.
            if all(each.query_id != query.query_id for each in self._running):
                query.leave(why)  # changes nothing if the query is over

    def cancel(self, why: str) -> None:
        """Cancels all of them; their callers get an answer that states the reason."""
        # A copy, because a query that ends at once leaves the list.
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
"""The queries whose callers wait, as a parameter of a route."""


InterceptorOf = Callable[[object], Interceptor]
"""Makes the interceptor that breaks a query by the fault plan that its caller sent; the command line provides it."""

FaultOf = Callable[
    [Sequence[Recorded[Event]], int, str | None, str | None], Mapping[str, Any]
]
"""Makes the fault plan that breaks a recorded query at an event (kind and point may be None), as plain values."""


def interceptor_for(
    request: Request, faults: dict[str, JsonValue] | None
) -> Interceptor | None:
    """Makes the interceptor for the fault plan in a request; None if there is none.

    Raises:
        FaultPlanError: The value is not a fault plan.
        ForbiddenError: This service accepts no fault plans, or none from this caller.
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
