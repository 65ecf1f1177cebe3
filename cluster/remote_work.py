"""One query's component in a process that acts for sessions elsewhere, and the work that it has under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Protocol

import structlog
from msgspec import Raw

from antiphon.cluster import remote_frames as frames
from antiphon.traces import from_json, to_json
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.containment import contained, failure_of, words_of
from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import Ports

log = structlog.get_logger(__name__)

_ENVELOPE_BYTES = 1_024
"""What surrounds an event in its message, at most."""

# Inherited by tasks, so that what work publishes has the event as its cause that it came from.
_acting_on: ContextVar[int] = ContextVar("acting_on", default=0)


class Part(Protocol):
    """A component as it acts in one query."""

    def hear(self, recorded: Recorded[Event], *, repeat: bool) -> None:
        """Acts on an event; in `repeat` on one that was acted on before, in a process that is gone."""

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in an event from before."""


BuildPart = Callable[[frames.Place, Ports], Awaitable[Part]]
"""Builds a component for one query. Raises ServiceError where it cannot."""
Send = Callable[[str, frames.Frame], None]


class HostedQuery:
    """One query's component in this process, and the work that it has under way."""

    def __init__(
        self, begin: frames.Begin, catalog: Catalog, send: Send, most_bytes: int
    ) -> None:
        self.lease = begin.lease
        self.lease_s = begin.lease_s
        self.heard_at = 0.0
        self.received = 0
        self.part: Part | None = None
        self.followed = True
        self._place = begin.place
        self._reply_to = begin.reply_to
        self._catalog = catalog
        self._most_bytes = most_bytes
        self._send = send
        self._sent = 0
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

    def take(self, frame: frames.Recall | frames.Hear) -> None:
        """Lets the component take in an event, or act on it."""
        if self.part is None:
            raise RemoteError("nothing was begun")
        recorded = from_json(bytes(frame.recorded), self._catalog)
        if recorded.query_id != self._place.query_id:
            raise RemoteError("the event is another query's")
        if isinstance(frame, frames.Recall):
            self.part.recall(recorded)
            return
        self.followed = frame.followed
        seq = recorded.seq
        # Counted as under way while the handler runs, so that its work cannot end before it has begun all of it.
        self._count(seq, 1)
        token = _acting_on.set(seq)
        try:
            self.part.hear(recorded, repeat=frame.repeat)
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
        """Sends what a component made, which may be of any size."""
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
            work.close()  # where the task was cancelled before it began, nobody else does
            self._tasks.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                self._note_error(seq, error)
            if not background:
                self._count(seq, -1)

        task.add_done_callback(ended)
        return task.cancel

    def _count(self, seq: int, change: int) -> None:
        """Counts what an event has led to and is under way; tells the session when nothing is any more."""
        left = self._under_way.get(seq, 0) + change
        if left:
            self._under_way[seq] = left
            return
        del self._under_way[seq]
        self.tell(frames.Done, seq=seq, error=self._errors.pop(seq, ""))

    def _note_error(self, seq: int, error: BaseException) -> None:
        log.error("remote_part_failed", query_id=self._place.query_id, exc_info=error)
        self._errors[seq] = words_of(error)[: frames.MOST_WORDS]
