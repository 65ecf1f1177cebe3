"""Deciding components: a state that is a fold over events, and one pure rule for each event that they hear.

A decider has no clock, no random source and no I/O; everything it decides by reaches it as an event. This is why a
trace can be replayed: the same rules, folded over the recorded events, reach the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from antiphon.vocabulary.events import Event, Recorded, Role
from antiphon.vocabulary.ports import Publish, Subscription

S = TypeVar("S")

Rule = Callable[[S, Recorded[Any]], tuple[S, tuple[Event, ...]]]
"""Takes the state and an event; returns the new state, and the events to emit, in order."""

Rules = Mapping[type[Event], Rule[S]]
"""The rule for each event that a component hears; the component does not hear events that are not in it."""


class Decider(Generic[S]):
    """The shell that subscribes a table of rules to the bus; subclasses declare the table and nothing else.

    Attributes:
        role: The name by which events know this part of the service (`Event.emitted_by`).
        emits: The events that it emits; empty: all that its role emits.
        initial: The state before the first event.
        rules: The table.
        state: The state now.
    """

    role: ClassVar[Role]
    emits: ClassVar[tuple[type[Event], ...]] = ()
    initial: S
    rules: Rules[S]

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self.state = self.initial

    def hear(self, recorded: Recorded[Event]) -> None:
        """Applies the rule of this event and publishes what it returns.

        A rule that raises leaves the state as it was and publishes nothing.
        """
        self.state, emitted = self.rules[type(recorded.event)](self.state, recorded)
        # Only now: a rule that raised has published nothing.
        for event in emitted:
            self._publish(event)

    def subscriptions(self) -> Iterator[Subscription]:
        """Yields what it hears, in the order of its rules."""
        for kind in self.rules:
            yield Subscription(kind, self.hear, self.handler_name(kind))

    @classmethod
    @cache
    def handler_name(cls, kind: type[Event]) -> str:
        """Returns the name under which a failure of the rule for `kind` is recorded: `Class.on_event_kind`."""
        return f"{cls.__name__}.on_{kind.kind_name()}"
