"""Faults between a component and its session: in events on their way out and in, and in the work that it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.faults.plan import Fault
from antiphon.faults.ports.injection import RAISED, QueryFaults
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Publish, Spawn, Subscription

LATE_S = 1.0
"""The time that an event or work that is `late` waits, in seconds."""

Work = Coroutine[Any, Any, None]


def publish_point(kind: type[Event]) -> str:
    """Names the point between the components and their session."""
    return f"publish.{kind.kind_name()}"


def delivery_point(kind: type[Event], handler: str) -> str:
    """Names the point between an event and one component's handler (`Class.on_event`)."""
    return f"deliver.{kind.kind_name()}.{handler.partition('.')[0]}"


class FaultyDelivery:
    """Carries one query's events, with faults.

    Args:
        note: Is called with every event that a component publishes, before anything is done to it.
    """

    def __init__(
        self, faults: QueryFaults, publish: Publish, note: Callable[[Event], None]
    ) -> None:
        self._faults = faults
        self._publish = publish
        self._note = note
        self._held: list[Callable[[], None]] = []

    def publish(self, event: Event, /) -> None:
        """Publishes an event, or what a fault makes of it."""
        self._note(event)
        point = publish_point(type(event))
        fault = self._faults.traverse(point)
        if fault is None:
            self._publish(event)
            self._release()
            return
        # One that is reordered is neither lost nor doubled: it comes after the next.
        if fault.kind != "reorder":
            self._faults.lost.append(event)
        self._break(fault, lambda: self._publish(event), point)

    def subscription(self, subscription: Subscription) -> Subscription:
        """Returns the subscription, with faults between the event and its handler."""
        point = delivery_point(subscription.kind, subscription.name)
        handler = subscription.handler

        def hear(recorded: Recorded[Any]) -> None:
            fault = self._faults.traverse(point)
            if fault is not None and fault.kind == "block":
                self._faults.block(fault)
                fault = None
            if fault is None:
                handler(recorded)
                self._release()
                return
            self._faults.undelivered.add(
                (subscription.kind.kind_name(), subscription.component)
            )
            self._break(fault, lambda: handler(recorded), point)

        return subscription._replace(handler=hear)

    def _break(self, fault: Fault, act: Callable[[], None], point: str) -> None:
        """Does what the fault makes of `act`; what is dropped needs nothing done, since it is never carried on."""
        if fault.kind in RAISED:
            self._faults.note_raised(point)
            raise self._faults.error_of(fault, point)
        if fault.kind == "duplicate":
            act()
            act()
        elif fault.kind == "reorder":
            self._held.append(act)
            # If nothing follows in this turn of the loop, it comes at its end.
            asyncio.get_running_loop().call_soon(self._release)
        elif fault.kind == "late":
            asyncio.get_running_loop().call_later(fault.seconds(LATE_S), act)
        elif fault.kind != "drop":
            raise self._faults.error_of(fault, point)

    def _release(self) -> None:
        # Emptied first: what is carried on now may itself hold something back.
        held = self._held
        self._held = []
        for act in held:
            act()


def faulty_spawn(spawn: Spawn, faults: QueryFaults) -> Spawn:
    """Returns `spawn`, with faults in the beginning and the life of the work."""

    def begin(work: Work, /, *, background: bool = False) -> Callable[[], object]:
        point = f"spawn.{_name_of(work)}"
        fault = faults.traverse(point)
        if fault is None:
            return spawn(work, background=background)
        if fault.kind == "drop":
            work.close()
            return lambda: None
        if fault.kind == "cancel":
            # In the loop's next turn, when the work has begun: what is cancelled before never runs at all.
            cancel = spawn(work, background=background)
            asyncio.get_running_loop().call_soon(cancel)
            return cancel
        if fault.kind != "late":
            work.close()
            failing = _fail(fault, point, faults)
            return spawn(_named(failing, work), background=background)
        # If the query ends before the work begins, nobody else closes it.
        faults.delayed.append(work)
        return spawn(
            _named(_begin_late(work, fault.seconds(LATE_S)), work),
            background=background,
        )

    return begin


def _name_of(work: object) -> str:
    """Returns the name of a coroutine's function, as `Class.method`."""
    return str(getattr(work, "__qualname__", type(work).__name__))


def _named(work: Work, like: Work) -> Work:
    """Names one coroutine like another: the session names its tasks, and what is left behind, by it."""
    setattr(work, "__qualname__", _name_of(like))  # noqa: B010 - the type of coroutines hides it
    return work


async def _fail(fault: Fault, point: str, faults: QueryFaults) -> None:
    # The session hears of it in the loop's next turn: if the query has ended by then, nothing can be recorded.
    asyncio.get_running_loop().call_soon(faults.note_raised, point)
    raise faults.error_of(fault, point)


async def _begin_late(work: Work, seconds: float) -> None:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        work.close()
        raise
    await work
