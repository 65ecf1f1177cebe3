"""What components hear, as tables that all queries of a process share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from antiphon.vocabulary.deciding import Decider
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.hearing import Method, MethodTable

Deciders = tuple[type[Decider[Any]], ...]


class Action(NamedTuple):
    """One acting component's method and the event that it hears.

    Attributes:
        repeat: The method that is called instead in a resumed query that was interrupted between this request and
            its outcome; None: the same.
    """

    kind: type[Event]
    method: Callable[[Any, Recorded[Any]], None]
    repeat: Callable[[Any, Recorded[Any]], None] | None = None

    @property
    def owner(self) -> str:
        """The class of the component."""
        return self.method.__qualname__.partition(".")[0]


# A process has few combinations: the deciders of its subscribers, and the components that act in it.
@lru_cache(maxsize=32)
def deciding_table(deciders: Deciders) -> MethodTable:
    """Returns what deciders hear."""
    methods: list[Method] = []
    for place, decider in enumerate(deciders):
        for kind in decider.rules:
            methods.append(
                Method(kind, place, decider.hear, decider.handler_name(kind))
            )
    return MethodTable(methods)


@lru_cache(maxsize=32)
def acting_table(actions: tuple[Action, ...], owners: tuple[str, ...]) -> MethodTable:
    """Returns what acting components hear, by the names of their classes."""
    methods: list[Method] = []
    for action in actions:
        name = action.method.__qualname__
        if action.owner not in owners:
            raise LookupError(
                f"{name} stands in the table of actions, and no component is a {action.owner}"
            )
        place = owners.index(action.owner)
        methods.append(Method(action.kind, place, action.method, name, action.repeat))
    return MethodTable(methods)


@lru_cache(maxsize=32)
def joined(first: MethodTable, then: MethodTable, places: int) -> MethodTable:
    """Returns what `first` hears and behind it what `then` hears, whose components begin behind so many places."""
    return then.behind(first, places)
