"""Dependencies of the routes: the open service, the queries whose callers wait, and interceptors by fault plan."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from typing import Annotated, Any, Protocol, cast

from fastapi import Depends, FastAPI, Path, Request
from pydantic import JsonValue

from antiphon.api.telemetry import Metrics
from antiphon.service import (
    Change,
    Course,
    Diff,
    EventKind,
    FaultReport,
    ForkPlan,
    Interceptor,
    Job,
    Mode,
    Outcome,
    Pending,
    QuerySetting,
    Question,
    Readiness,
    RegressionTest,
    ReplayResult,
    SearchResult,
    SentFile,
    Settings,
    Suggestion,
    TextStretch,
    Totals,
    nearest,
)
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import BadInputError, ForbiddenError
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import Conversations, EventLog, TraceListing


class RunningQuery(Protocol):
    """A query under way; `service.QueryHandle` is one."""

    @property
    def query_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    def follow(self) -> AsyncIterator[Recorded[Event] | Live]: ...

    async def outcome(self) -> Outcome: ...

    def cancel(self, why: str) -> None: ...


class History(Protocol):
    """Recorded queries: replayed, compared and followed."""

    async def replay(self, query_id: str) -> ReplayResult: ...

    async def diff(self, query_id: str, other_id: str) -> Diff: ...

    def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncIterator[Recorded[Event] | Live]: ...

    async def resume_unfinished(self) -> Sequence[RunningQuery]: ...


class StoredTraces(EventLog, TraceListing, Conversations, Protocol):
    """Recorded queries, listed and read, and their conversations."""


class Archive(Protocol):
    """Recorded queries, kept, given away and thrown away; `service.Archive` is one."""

    async def export(self, query_id: str) -> bytes: ...

    async def add(self, file: bytes) -> Sequence[Recorded[Event]]: ...

    async def regression_test(self, query_id: str) -> RegressionTest: ...

    async def delete(self, query_id: str) -> None: ...

    async def delete_conversation(self, session_id: str) -> int: ...


class ChangingDocuments(Protocol):
    """Documents added and courses removed, each as a job; `service.Documents` is one."""

    async def add(self, files: Sequence[SentFile]) -> Job: ...

    async def remove(self, title: str) -> Job: ...

    def job(self, job_id: str) -> Job: ...

    def follow(self, job_id: str) -> AsyncIterator[Job]: ...


class KeptFaultReports(Protocol):
    """The kept report of the fault matrix; `service.FaultReports` is one."""

    async def read(self) -> FaultReport | None: ...

    async def open_trace(self, query_id: str) -> int: ...


class Facade(Protocol):
    """The service as the routes see it; `service.Antiphon` is one, and the tests hand in a small one."""

    @property
    def store(self) -> StoredTraces: ...

    @property
    def history(self) -> History: ...

    @property
    def archive(self) -> Archive: ...

    @property
    def documents(self) -> ChangingDocuments: ...

    @property
    def fault_reports(self) -> KeptFaultReports: ...

    @property
    def catalog(self) -> Catalog: ...

    async def start(
        self,
        question: Question,
        interceptor: Interceptor = ...,
        query_id: str | None = ...,
        /,
    ) -> RunningQuery: ...

    async def fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None = ...,
        /,
    ) -> RunningQuery: ...

    async def plan_fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None = ...,
        /,
    ) -> ForkPlan: ...

    async def resume(self, query_id: str) -> RunningQuery: ...

    async def find(self, beginning: str) -> str: ...

    def recorded(self, query_id: str) -> RunningQuery: ...

    def cancel(self, query_id: str, why: str) -> None: ...

    def event_kinds(self) -> Sequence[EventKind]: ...

    def query_settings(self) -> Sequence[QuerySetting]: ...

    def courses(self) -> Sequence[Course]: ...

    async def search(
        self,
        query: str,
        course: str | None,
        lesson: str | None,
        limit: int,
        /,
        *,
        why: bool,
    ) -> SearchResult: ...

    async def text(
        self, course: str, lesson: int | None, start: int, length: int
    ) -> TextStretch: ...

    async def suggestions(self, most: int) -> Sequence[Suggestion]: ...

    async def clear_conversation(self, session_id: str) -> None: ...

    def running(self) -> Mapping[str, tuple[Pending, ...]]: ...

    def readiness(self) -> Readiness: ...

    @property
    def totals(self) -> Totals: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def metrics(self) -> Metrics | None: ...

    async def close(self) -> None: ...


ServiceOpener = Callable[[Settings], Awaitable[Facade]]
"""Opens the service; the app closes it."""


def _service(request: Request) -> Facade:
    return cast(Facade, request.app.state.service)


Service = Annotated[Facade, Depends(_service)]
"""The open service, as a route asks for it."""


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


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuses a query parameter that the route does not have: it is a mistyped one, and would change nothing.

    Raises:
        BadInputError: There is one; the message names the nearest that there is.
    """
    route = request.scope["route"]
    described = request.app.openapi()["paths"].get(route.path_format, {})
    known: list[str] = []
    for parameter in described.get(request.method.lower(), {}).get("parameters", ()):
        if parameter["in"] == "query":
            known.append(parameter["name"])
    for name in request.query_params:
        if name in known:
            continue
        there_are = "none"
        if known:
            there_are = ", ".join(known)
        raise BadInputError(
            f"There is no query parameter `{name[:40]}` here{nearest(name, known)}: there are {there_are}."
        )


class RunningQueries:
    """The queries whose callers wait for them, so that a service that stops can end them in order."""

    def __init__(self) -> None:
        self._running: set[RunningQuery] = set()

    @contextmanager
    def waiting(self, query: RunningQuery, why: str) -> Iterator[None]:
        """Counts `query` while its caller waits; whoever stops waiting before the end cancels it, because of `why`."""
        self._running.add(query)
        try:
            yield
        finally:
            self._running.discard(query)
            query.cancel(why)  # changes nothing where the query is over

    def cancel(self, why: str) -> None:
        """Cancels all of them; their callers get an answer that states it."""
        # A copy: a query that ends at once leaves the set.
        for query in list(self._running):
            query.cancel(why)


def cancel_queries(app: FastAPI, why: str) -> None:
    """Cancels the queries whose callers wait for them."""
    cast(RunningQueries, app.state.running_queries).cancel(why)


def _running_queries(request: Request) -> RunningQueries:
    return cast(RunningQueries, request.app.state.running_queries)


Waited = Annotated[RunningQueries, Depends(_running_queries)]
"""The queries whose callers wait, as a route asks for them."""


InterceptorOf = Callable[[object], Interceptor]
"""Makes the interceptor that breaks a query by a fault plan as its caller sent it; the command line brings it."""

FaultOf = Callable[
    [Sequence[Recorded[Event]], int, str | None, str | None], Mapping[str, Any]
]
"""Makes the fault plan that breaks a recorded query at an event (kind and point may be None), as plain values."""


def interceptor_for(
    request: Request, faults: dict[str, JsonValue] | None
) -> Interceptor | None:
    """Makes the interceptor for the fault plan that came with a request; None where none came.

    Raises:
        FaultPlanError: It is no fault plan.
        ForbiddenError: This service takes none.
    """
    if faults is None:
        return None
    interceptor_of: InterceptorOf | None = request.app.state.interceptor_of
    if interceptor_of is None:
        raise ForbiddenError(
            "Fault plans are not taken here: start the service with `antiphon serve --allow-faults`."
        )
    return interceptor_of(faults)
