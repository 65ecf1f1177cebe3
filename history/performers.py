"""Who acts in a query that goes on from a trace: everybody as usual, the recording in part, or the recording alone."""

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
    """The components of one query and what surrounds them.

    Attributes:
        clock: The time of its events.
        wire: Builds its components; called after the interceptor took in what happened before.
    """

    interceptor: Interceptor
    clock: Clock
    wire: WireFor


def acting_as_usual(
    resources: Resources,
    interceptor: Interceptor | None,
    around_outside: Callable[[BuildOutside], BuildOutside] = lambda build: build,
) -> Acting:
    """Returns the components of every query, with everything live.

    Args:
        around_outside: Puts something before the outside.
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
        events: The trace that it is a fork of.
        prefix: Its own events so far, `shift_s` seconds later than those.
        effects: In the mode `live` it may run tools that change something outside.
    """
    dropped = frozenset(change.name for change in changes if change.kind == "drop")
    # A passage that is dropped may be found again by another call, recorded or live: every tool leaves it out.
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
    # What is only said again costs nothing and takes no time: whoever watches the service has seen it.
    if mode == "recorded":
        resources = dataclasses.replace(resources, observers=())
    # Faults break ports and components, which must therefore be there; else nothing need run but the rules.
    if mode == "remodel" or interceptor is not None:
        return _through_ports(resources, recording, mode, interceptor)
    clock = RecordedClock(resources.clock, prefix[-1].at)

    def played(_: Resources, ports: Ports, /) -> Outside:
        return PlayedOutside(ports, recording, clock, len(prefix), shift_s)

    # Nothing that is only said again tells anything of the provider.
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
    """Returns the usual components, over ports that answer from the recording."""
    recorded = with_recorded_ports(resources, recording, model=mode == "recorded")
    # Another outside would perform what the recording is to answer.
    if mode == "recorded":
        recorded = dataclasses.replace(recorded, outside=live_outside)
    return acting_as_usual(recorded, interceptor, noting_calls)
