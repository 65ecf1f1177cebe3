"""Chooses who acts in a query that goes on from a trace: all as usual, the recording in part, or only the recording."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from antiphon.composition import (
    BuildOutside,
    Interceptor,
    NoInterceptor,
    Resources,
    Wiring,
    live_outside,
    wire,
)
from antiphon.history.changes import Change
from antiphon.history.forking import Mode
from antiphon.history.played import PlayedOutside
from antiphon.history.recorded_order import RecordedClock
from antiphon.history.recorded_ports import (
    noting_calls,
    with_recorded_ports,
    without_effects,
    without_passages,
)
from antiphon.history.recording import Recording
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.performing import Outside
from antiphon.vocabulary.ports import Clock, Ports

WireFor = Callable[[Ports], Wiring]
"""Builds a query's components."""


@dataclass(frozen=True)
class Acting:
    """The components of one query and their surroundings.

    Attributes:
        clock: The clock of its events.
        wire: Builds its components; called after the interceptor has taken in the prefix.
    """

    interceptor: Interceptor
    clock: Clock
    wire: WireFor


def acting_as_usual(
    resources: Resources,
    interceptor: Interceptor | None,
    around_outside: Callable[[BuildOutside], BuildOutside] = lambda build: build,
) -> Acting:
    """Returns the usual components of a query, with everything live.

    Args:
        around_outside: Wraps the outside.
    """
    around = interceptor or NoInterceptor()

    def build(ports: Ports) -> Wiring:
        used = around.resources(resources)
        outside = around_outside(used.outside or live_outside)
        return wire(dataclasses.replace(used, outside=outside), ports)

    return Acting(around, resources.clock, build)


def acting_in_fork(
    resources: Resources,
    events: Sequence[Recorded[Event]],
    changes: Sequence[Change],
    mode: Mode,
    interceptor: Interceptor | None,
    prefix: Sequence[Recorded[Event]],
    shift_s: float,
    *,
    effects: bool = True,
) -> Acting:
    """Returns the components of a fork.

    Args:
        events: The parent's trace.
        prefix: Its own events so far, `shift_s` seconds later than the parent's.
        effects: Lets it run tools that change something outside, in the mode `live`.
    """
    dropped = frozenset(change.name for change in changes if change.kind == "drop")
    # Another call, recorded or live, may find a dropped passage again, so all tools leave it out.
    resources = dataclasses.replace(
        resources, tools=without_passages(resources.tools, dropped)
    )
    if mode == "live":
        if not effects:
            resources = dataclasses.replace(
                resources, tools=without_effects(resources.tools)
            )
        return acting_as_usual(resources, interceptor)
    recording = Recording(events, dropped)
    # A recorded fork only repeats events that cost nothing and that observers of the service have already seen.
    if mode == "recorded":
        resources = dataclasses.replace(resources, observers=())
    # Faults break ports and components, which must therefore run; without faults only the rules need to.
    if mode == "remodel" or interceptor is not None:
        return _through_ports(resources, recording, mode, interceptor)
    clock = RecordedClock(resources.clock, prefix[-1].at)

    def played(_: Resources, ports: Ports, /) -> Outside:
        return PlayedOutside(ports, recording, clock, len(prefix), shift_s)

    # Own circuits, because repeated events say nothing about the provider.
    resources = dataclasses.replace(resources.with_own_circuits(), outside=played)

    def build(ports: Ports) -> Wiring:
        return wire(resources, ports)

    return Acting(NoInterceptor(), clock, build)


def _through_ports(
    resources: Resources,
    recording: Recording,
    mode: Mode,
    interceptor: Interceptor | None,
) -> Acting:
    """Returns the usual components with ports that answer from the recording."""
    recorded = with_recorded_ports(resources, recording, model=mode == "recorded")
    # Any other outside would perform the requests that the recording should answer.
    if mode == "recorded":
        recorded = dataclasses.replace(recorded, outside=live_outside)
    return acting_as_usual(recorded, interceptor, noting_calls)
