"""Faults between a component and its session: in its outgoing and incoming events, and in the work that it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.faults.plan import Fault
from antiphon.faults.ports.injection import RAISED, QueryFaults
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Publish, Spawn, Subscription

LATE_S = 1.0
"""Seconds by which `late` delays an event or work."""

Work = Coroutine[Any, Any, None]


def publish_point(kind: type[Event]) -> str:
    """Names the point between the emitting component and its session."""
    return f"publish.{kind.kind_name()}"


def delivery_point(kind: type[Event], handler: str) -> str:
    """Names the point between an event and one component's handler (`Class.on_event`)."""
    return f"deliver.{kind.kind_name()}.{handler.partition('.')[0]}"


class FaultyDelivery:
    """Carries one query's events with faults.

    Args:
        note: Called with every event that a component publishes, before any fault.
    """

    def __init__(
        self, faults: QueryFaults, publish: Publish, note: Callable[[Event], None]
    ) -> None:
        self._faults = faults
        self._publish = publish
        self._note = note
        self._held: list[Callable[[], None]] = []

    def publish(self, event: Event, /) -> None:
        """Publishes an event, or breaks it if a fault fires."""
        self._note(event)
        point = publish_point(type(event))
        fault = self._faults.traverse(point)
        if fault is None:
            self._publish(event)
            self._release()
            return
        # A reordered event is neither lost nor doubled: it comes after the next one.
        if fault.kind != "reorder":
            self._faults.lost.append(event)
        self._break(fault, lambda: self._publish(event), point)

    def subscription(self, subscription: Subscription) -> Subscription:
        """Returns the subscription with faults between the event and its handler."""
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
        """Carries out `act` as the fault demands; `drop` does nothing."""
        if fault.kind in RAISED:
            self._faults.note_raised(point)
            raise self._faults.error_of(fault, point)
        if fault.kind == "duplicate":
            act()
            act()
        elif fault.kind == "reorder":
            self._held.append(act)
            # If no event follows in this turn of the loop, it comes at the end of the turn.
            asyncio.get_running_loop().call_soon(self._release)
        elif fault.kind == "late":
            asyncio.get_running_loop().call_later(fault.seconds(LATE_S), act)
        elif fault.kind != "drop":
            raise self._faults.error_of(fault, point)

    def _release(self) -> None:
        # Emptied first, because a released event may lead to holding another.
        held = self._held
        self._held = []
        for act in held:
            act()


def faulty_spawn(spawn: Spawn, faults: QueryFaults) -> Spawn:
    """Returns `spawn` with faults in the start and the run of the work."""

    def begin(work: Work, /, *, background: bool = False) -> Callable[[], object]:
        point = f"spawn.{_name_of(work)}"
        fault = faults.traverse(point)
        if fault is None:
            return spawn(work, background=background)
        if fault.kind == "drop":
            work.close()
            return lambda: None
        if fault.kind == "cancel":
            # In the loop's next turn, when the work has begun: work cancelled earlier never runs at all.
            cancel = spawn(work, background=background)
            asyncio.get_running_loop().call_soon(cancel)
            return cancel
        if fault.kind != "late":
            work.close()
            failing = _fail(fault, point, faults)
            return spawn(_named(failing, work), background=background)
        # Noted, because nothing else closes the coroutine if the query ends before it begins.
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
    """Gives one coroutine the name of another, by which the session names its tasks and reports leftovers."""
    setattr(work, "__qualname__", _name_of(like))  # noqa: B010 - the type of coroutines hides it
    return work


async def _fail(fault: Fault, point: str, faults: QueryFaults) -> None:
    # Noted in the loop's next turn, like the session: if the query has ended by then, it cannot record the error.
    asyncio.get_running_loop().call_soon(faults.note_raised, point)
    raise faults.error_of(fault, point)


async def _begin_late(work: Work, seconds: float) -> None:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        work.close()
        raise
    await work
