"""What the API needs of the service, so that its tests can hand it a small one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request

from antiphon.bus import Pending
from antiphon.knowledge import Course
from antiphon.service import Change, Interceptor, Mode, Outcome, Question, Readiness, ReplayResult, Settings, Totals
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import EventLog, TraceListing


class Asked(Protocol):
    """A query under way."""

    @property
    def query_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    def follow(self) -> AsyncIterator[Recorded[Event] | Live]: ...

    async def outcome(self) -> Outcome: ...

    def cancel(self, why: str) -> None: ...


class History(Protocol):
    """What can be done with recorded queries."""

    async def replay(self, query_id: str) -> ReplayResult: ...

    def follow(self, query_id: str, after: int = 0) -> AsyncIterator[Recorded[Event] | Live]: ...

    async def fork(
        self, query_id: str, at: int | None, changes: Sequence[Change], mode: Mode, around: Interceptor | None = ..., /
    ) -> Asked: ...

    async def resume_unfinished(self) -> Sequence[Asked]: ...


class StoredTraces(EventLog, TraceListing, Protocol):
    """Recorded queries, listed and read."""


class Facade(Protocol):
    """The service as the routes see it; `service.Antiphon` is one."""

    @property
    def store(self) -> StoredTraces: ...

    @property
    def history(self) -> History: ...

    async def start(self, question: Question, around: Interceptor = ..., /) -> Asked: ...

    def courses(self) -> Sequence[Course]: ...

    async def clear_conversation(self, session_id: str) -> None: ...

    def running(self) -> Mapping[str, tuple[Pending, ...]]: ...

    def readiness(self) -> Readiness: ...

    @property
    def totals(self) -> Totals: ...

    async def close(self) -> None: ...


AroundOf = Callable[[object], Interceptor]
"""What stands round a query, by the fault plan that its caller sent; the command line brings it."""

Opener = Callable[[Settings], Awaitable[Facade]]
"""Opens the service; the app closes it."""


def _opened(request: Request) -> Facade:
    return cast(Facade, request.app.state.service)


Service = Annotated[Facade, Depends(_opened)]
"""The open service, as a route asks for it."""
