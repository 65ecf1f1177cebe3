"""The service as the routes see it: one protocol for the facade, and one for each of its parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Protocol

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
    UsageReport,
)
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.catalog import Catalog
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


class StoredTraces(EventLog, TraceListing, Conversations, Protocol):
    """Recorded queries, listed and read, and their conversations."""


class Archive(Protocol):
    """Recorded queries, kept, given away and thrown away; `service.Archive` is one."""

    def id_of(self, query_id: str) -> str: ...

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
    """The service as the routes see it; `service.Antiphon` is one, and the tests hand in a small one.

    What a route is handed is the service as its caller sees it (`seen_by`).
    """

    @property
    def principal(self) -> Principal:
        """The caller who sees it."""

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Returns who a caller is by the key that they sent.

        Args:
            from_here: The request was sent to this machine by its own name, and no proxy says that it passed it on.

        Raises:
            UnauthorizedError: A key is asked for, and this is none that counts.
        """

    def public_principal(self, *, from_here: bool = True) -> Principal:
        """Returns who a caller is to a route that asks for no key."""

    def seen_by(self, principal: Principal) -> Facade:
        """Returns the service as a caller sees it: what is not theirs is not there."""

    async def usage(self) -> UsageReport: ...

    async def resume_unfinished(self) -> Sequence[RunningQuery]: ...

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
        *,
        must_be_stored: bool = ...,
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

    async def begun_before(self, query_id: str) -> RunningQuery: ...

    async def cancel(self, query_id: str, why: str) -> None: ...

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

    async def look(self) -> None: ...

    def running(self) -> Mapping[str, tuple[Pending, ...]]: ...

    def readiness(self) -> Readiness: ...

    async def check_readiness(self) -> Readiness: ...

    @property
    def totals(self) -> Totals: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def metrics(self) -> Metrics | None: ...

    async def close(self) -> None: ...


ServiceOpener = Callable[[Settings], Awaitable[Facade]]
"""Opens the service; the app closes it."""
