"""Carries events to their handlers, over pyee; an error of one handler does not keep the event from the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from pyee import EventEmitter

from antiphon.vocabulary.containment import failure_of, words_of
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Subscription

OnFailure = Callable[[str, Exception], None]
"""Is called with the name of a handler (`Class.method`) and the error that it raised."""

_MAX_CHARACTERS = 500
# API keys, the values of authorisation headers, and `user:password` in addresses.
_SECRET = re.compile(
    r"\b(?:sk-[\w-]{8,}|(?:Bearer|Basic)\s+\S+)|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",
    re.IGNORECASE,
)


class Delivery:
    """One session's subscriptions."""

    def __init__(self, on_failure: OnFailure) -> None:
        self._on_failure = on_failure
        self._emitter = EventEmitter()

    def subscribe(self, subscriptions: Sequence[Subscription]) -> None:
        """Adds handlers; each event calls its own in this order."""
        for subscription in subscriptions:
            # Each gets its own partial: pyee drops the second of two equal handlers.
            self._emitter.on(
                subscription.kind.kind_name(), partial(self.call, subscription)
            )

    def deliver(self, recorded: Recorded[Event]) -> None:
        """Calls the event's handlers, one after the other; an event may have none."""
        self._emitter.emit(recorded.event.kind_name(), recorded)

    def call(self, subscription: Subscription, recorded: Recorded[Event]) -> None:
        """Calls one handler, and reports its error."""
        try:
            subscription.handler(recorded)
        except BaseException as error:  # noqa: BLE001 - the bus edge: it is recorded, and raised once more by drain()
            self._on_failure(subscription.name, failure_of(error))

    def clear(self) -> None:
        """Removes all handlers."""
        self._emitter.remove_all_listeners()
        self._on_failure = _ignore


def in_words(error: BaseException) -> str:
    """Returns `Type: message`, bounded, without API keys, authorisation headers and passwords in addresses."""
    # Also cut before the search: a hostile server may send a message of any length.
    words = words_of(error)[: 4 * _MAX_CHARACTERS]
    return _SECRET.sub("[hidden]", words)[:_MAX_CHARACTERS]


def _ignore(_handler: str, _error: Exception) -> None:
    """Replaces `on_failure` once the session is over, so that a handler that still runs does not keep it alive."""
