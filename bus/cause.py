"""Which event is being handled: carried by the context, so that spawned work knows what it came from."""

from __future__ import annotations

from contextvars import ContextVar

from antiphon.vocabulary.events import Event, HandlerFailed, Recorded, SessionStalled

_handled: ContextVar[Recorded[Event] | None] = ContextVar("handled_event", default=None)


def handle(recorded: Recorded[Event]) -> None:
    """Marks the event as the cause of what is published from here on, in this context and those copied from it."""
    _handled.set(recorded)


def handled_seq() -> int:
    """The `seq` of the event that is being handled here, or that the work began with that runs here; 0 for none."""
    recorded = _handled.get()
    return recorded.seq if recorded else 0


def cause_of(query_id: str) -> int:
    """The `seq` of the event being handled in this query; 0 for what comes from outside it."""
    recorded = _handled.get()
    return recorded.seq if recorded and recorded.query_id == query_id else 0


def mends_a_failure() -> bool:
    """Whether the event being handled tells of a failure: one more failure there must not be told the same way."""
    recorded = _handled.get()
    return recorded is not None and isinstance(recorded.event, HandlerFailed | SessionStalled)
