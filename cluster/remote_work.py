"""One query whose requests this process performs for a session elsewhere, with its work under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from functools import partial
from typing import Any

import structlog
from msgspec import Raw

from antiphon.cluster import remote_frames as frames
from antiphon.traces import from_json, to_json
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.containment import (
    contained,
    failure_of,
    traceback_of,
    words_of,
)
from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.performing import Command, Outside, Run
from antiphon.vocabulary.ports import Ports

log = structlog.get_logger(__name__)

_ENVELOPE_BYTES = 1_024
"""The most that a message adds to its event."""

# A context variable, because tasks inherit it: events that work publishes have its request as their cause.
_acting_on: ContextVar[int] = ContextVar("acting_on", default=0)


BuildOutside = Callable[[frames.Place, Ports], Awaitable[Outside]]
"""Builds the performer of one query's requests. Raises ServiceError if it cannot."""
Send = Callable[[str, frames.Frame], None]


class HostedQuery:
    """One query whose requests this process performs, with its work under way."""

    def __init__(
        self, begin: frames.Begin, catalog: Catalog, send: Send, most_bytes: int
    ) -> None:
        self.lease = begin.lease
        self.lease_s = begin.lease_s
        self.heard_at: float
        self.received = 0
        self.outside: Outside | None = None
        self.followed = True
        self._place = begin.place
        self._reply_to = begin.reply_to
        self._catalog = catalog
        self._most_bytes = most_bytes
        self._send = send
        self._sent = 0
        self._past: list[Recorded[Event]] = []
        self._runs: dict[int, Run] = {}
        self._under_way: dict[int, int] = {}
        self._errors: dict[int, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        return bool(self._under_way)

    def ports(self) -> Ports:
        return Ports(
            publish=self._publish,
            emit_live=self._emit_live,
            spawn=self._spawn,
            followed=lambda: self.followed,
        )

    def tell(self, kind: type[frames.Frame], **fields: object) -> None:
        """Sends the session a message."""
        self._sent += 1
        self._send(self._reply_to, kind(lease=self.lease, number=self._sent, **fields))

    def take(self, frame: frames.Recall | frames.Perform | frames.Abandon) -> None:
        """Takes in an event of the past, begins to perform a request, or stops one."""
        if self.outside is None:
            raise RemoteError("nothing was begun")
        match frame:
            case frames.Recall(recorded=raw):
                self._past.append(self._read(raw))
            case frames.Perform(request=raw):
                self.followed = frame.followed
                request = self._read(raw)
                command = Command(request, (*self._past, request), frame.again)
                begin = partial(self._begin, self.outside, command)
                self._for_request(request.seq, begin)
            case frames.Abandon(seq=seq, why=why):
                run = self._runs.pop(seq, None)
                if run is not None:
                    self._for_request(seq, partial(run.abandon, why))

    def _read(self, raw: Raw) -> Recorded[Event]:
        recorded = from_json(bytes(raw), self._catalog)
        if recorded.query_id != self._place.query_id:
            raise RemoteError("the event is another query's")
        return recorded

    def _begin(self, outside: Outside, command: Command) -> None:
        run = outside.perform(command)
        if run is not None:
            self._runs[command.request.seq] = run

    def _for_request(self, seq: int, act: Callable[[], None]) -> None:
        """Calls `act` with the request as the cause of all events that it publishes."""
        # Counts as work itself, so that the request is not done before it has begun all of its work.
        self._count(seq, 1)
        token = _acting_on.set(seq)
        try:
            act()
        except BaseException as error:  # noqa: BLE001 - a bug of the component, which the session records
            self._note_error(seq, failure_of(error))
        finally:
            _acting_on.reset(token)
            self._count(seq, -1)

    def stop(self) -> None:
        """Cancels all work."""
        for task in self._tasks:
            task.cancel()

    def _publish(self, event: Event, /) -> None:
        seq = _acting_on.get()
        recorded = Recorded(
            query_id=self._place.query_id, seq=0, cause=seq, at=0.0, event=event
        )
        self._tell_large(frames.Emitted, event.kind_name(), recorded=recorded)

    def _emit_live(self, live: Live, /) -> None:
        self._tell_large(frames.Streamed, "text", live=live)

    def _tell_large(
        self, kind: type[frames.Frame], name: str, **field: Recorded[Event] | Live
    ) -> None:
        """Sends a component's event or text, which may be too large for a message."""
        raws = {key: Raw(to_json(value)) for key, value in field.items()}
        size_bytes = sum(len(bytes(raw)) for raw in raws.values())
        most_bytes = self._most_bytes - _ENVELOPE_BYTES
        if size_bytes > most_bytes:
            self._errors[_acting_on.get()] = (
                f"`{name}` has {size_bytes:,} bytes, and the NATS servers take {most_bytes:,}: raise their max_payload"
            )
            return
        self.tell(kind, **raws)

    def _spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        seq = _acting_on.get()
        task = asyncio.get_running_loop().create_task(contained(work))
        self._tasks.add(task)
        if not background:
            self._count(seq, 1)

        def ended(task: asyncio.Task[None]) -> None:
            work.close()  # nothing else closes the coroutine of a task that was cancelled before it began
            self._tasks.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                self._note_error(seq, error)
            if not background:
                self._count(seq, -1)

        task.add_done_callback(ended)
        return task.cancel

    def _count(self, seq: int, change: int) -> None:
        """Counts a request's work under way; tells the session when all of it is done."""
        left = self._under_way.get(seq, 0) + change
        if left:
            self._under_way[seq] = left
            return
        del self._under_way[seq]
        self.tell(frames.Done, seq=seq, error=self._errors.pop(seq, ""))

    def _note_error(self, seq: int, error: BaseException) -> None:
        log.error(
            "remote_part_failed",
            query_id=self._place.query_id,
            exception=traceback_of(error),
        )
        self._errors[seq] = words_of(error)[: frames.MOST_WORDS]
