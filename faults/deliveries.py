"""What components say and hear: faults between a component and its mailbox, on the way out and on the way in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from antiphon.faults.passage import InjectedError, Meeting
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Publish, Subscription

LATE_S = 1.0


class Deliveries:
    """One query's events on their way.

    Args:
        note: Hears every event that a component says, before anything is done to it.
    """

    def __init__(self, meeting: Meeting, publish: Publish, note: Callable[[Event], None]) -> None:
        self._meeting = meeting
        self._publish = publish
        self._note = note
        self._held: list[Callable[[], None]] = []

    def publish(self, event: Event, /) -> None:
        """Says an event, or what a fault makes of it."""
        self._note(event)
        point = f"publish.{event.__struct_config__.tag}"
        fault = self._meeting.meet(point)
        if fault is None:
            self._publish(event)
            self._release()
            return
        if fault.kind != "reorder":
            self._meeting.lost.append(event)
        self._spoil(fault.kind, lambda: self._publish(event), point, fault.for_s)

    def subscription(self, subscription: Subscription) -> Subscription:
        """The subscription, with faults between the event and its handler."""
        point = point_of(subscription.kind, subscription.name)
        handler = subscription.handler

        def hear(recorded: Recorded[Any]) -> None:
            fault = self._meeting.meet(point)
            if fault is None:
                handler(recorded)
                self._release()
                return
            self._meeting.unheard.add((subscription.kind.kind_name(), subscription.component))
            self._spoil(fault.kind, lambda: handler(recorded), point, fault.for_s)

        return subscription._replace(handler=hear)

    def _spoil(self, kind: str, act: Callable[[], None], point: str, for_s: float) -> None:
        match kind:
            case "raise":
                self._meeting.note_raised(point)
                raise InjectedError(f"{point}: injected: raise")
            case "duplicate":
                act()
                act()
            case "reorder":
                self._held.append(act)
                asyncio.get_running_loop().call_soon(self._release)
            case "late":
                asyncio.get_running_loop().call_later(for_s or LATE_S, act)

    def _release(self) -> None:
        held, self._held = self._held, []
        for act in held:
            act()


def point_of(kind: type[Event], handler: str) -> str:
    """The name of the door between an event and one component's handler (`Class.on_event`)."""
    return f"deliver.{kind.kind_name()}.{handler.partition('.')[0]}"
