"""What a session hands its components, and what it gets from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Publish, Spawn, Tell

# Each handler takes the one kind of event that its subscription names, which types cannot say of a mixed list.
Handler = Callable[[Recorded[Any]], None]
"""Hears one event. It returns at once: what takes time it hands to `Spawn`."""

Subscription = tuple[type[Event], Handler]
"""Who hears what: handlers of one event are called in the order of their subscriptions."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The session as its components see it."""

    publish: Publish
    tell: Tell
    spawn: Spawn


Step = tuple[Recorded[Event], Handler]
"""A handler to call, and the event that it is called with: how a session that goes on from a trace begins."""

Components = Callable[[Ports], Sequence[Subscription]]
"""Builds the components of one query and says what they hear, so that no state is shared between queries."""
