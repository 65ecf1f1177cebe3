"""Carries events to their handlers, over pyee; one handler's error keeps no other from hearing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pyee import EventEmitter

from antiphon.bus.ports import Handler, Subscription
from antiphon.vocabulary.errors import UnheardEventError
from antiphon.vocabulary.events import Event, Recorded

Failed = Callable[[str, Exception], None]
"""Is told of a handler (`Class.method`) and what it raised."""


class Delivery:
    """One session's subscriptions."""

    def __init__(self, failed: Failed) -> None:
        self._failed = failed
        self._emitter = EventEmitter()
        self._heard: set[type[Event]] = set()

    def subscribe(self, subscriptions: Sequence[Subscription]) -> None:
        """Adds handlers; those of one event are called in this order."""
        handlers: dict[type[Event], list[Handler]] = {}
        for kind, handler in subscriptions:
            handlers.setdefault(kind, []).append(handler)
        for kind, hearing in handlers.items():
            self._heard.add(kind)
            # One listener for each event: pyee would drop the second of two equal handlers.
            self._emitter.on(_name(kind), partial(self._call_all, hearing))

    def check_heard(self, event: Event) -> None:
        """Refuses an event without a handler.

        Raises:
            UnheardEventError: No component hears it.
        """
        if type(event) not in self._heard:
            raise UnheardEventError(
                f"{type(event).__name__} was published and no component hears it: subscribe one in the wiring table"
            )

    def deliver(self, recorded: Recorded[Event]) -> None:
        """Calls the event's handlers, one after the other."""
        self._emitter.emit(_name(type(recorded.event)), recorded)

    def clear(self) -> None:
        """Lets go of all handlers."""
        self._emitter.remove_all_listeners()

    def _call_all(self, handlers: Sequence[Handler], recorded: Recorded[Any]) -> None:
        for handler in handlers:
            self.call(handler, recorded)

    def call(self, handler: Handler, recorded: Recorded[Event]) -> None:
        """Calls one handler; what it raises is told of."""
        try:
            handler(recorded)
        except Exception as error:  # noqa: BLE001 - the bus edge: it is recorded, and raised again by drain()
            self._failed(name_of(handler), error)


def name_of(handler: object) -> str:
    """`Class.method` of a handler, or the qualified name of a coroutine."""
    return str(getattr(handler, "__qualname__", type(handler).__name__))


def _name(kind: type[Event]) -> str:
    return str(kind.__struct_config__.tag)
