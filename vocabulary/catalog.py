"""The events that a process knows, and the tables derived from what each of them declares about itself."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from antiphon.vocabulary import events
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import Event


class Catalog:
    """A closed set of event types: the built-in ones, and those that subscribers from outside bring along.

    Args:
        kinds: The event types, in the order in which a query meets them.

    Raises:
        ConfigurationError: Two of them have the same tag, or one does not declare who emits it.
    """

    def __init__(self, kinds: Iterable[type[Event]]) -> None:
        self.events: tuple[type[Event], ...] = tuple(kinds)
        self._known = frozenset(self.events)
        self.by_kind: Mapping[str, type[Event]] = MappingProxyType(
            _by_kind(self.events)
        )
        self.outcomes: Mapping[type[Event], tuple[type[Event], ...]] = MappingProxyType(
            _outcomes(self.events)
        )
        """For each event that requests something: the events that settle it; any one of them does."""
        self.union: Any = functools.reduce(operator.or_, self.events)
        """Their union, from which a decoder can be made."""

    def __contains__(self, kind: type[Event]) -> bool:
        """Returns True for one of its own types, and not for another with the same tag."""
        return kind in self._known

    def extended(self, kinds: Iterable[type[Event]]) -> Catalog:
        """Returns this catalog with further events; the same one if there are none.

        Raises:
            ConfigurationError: As the constructor does.
        """
        further = [kind for kind in kinds if kind not in self.events]
        # Decoders are cached by catalog; an equal copy would build them all again.
        if not further:
            return self
        return Catalog((*self.events, *further))

    def emitted_by(self, role: str) -> tuple[type[Event], ...]:
        """Returns the events that a part of the service emits."""
        return tuple(kind for kind in self.events if role in kind.emitted_by)


def _by_kind(kinds: Iterable[type[Event]]) -> dict[str, type[Event]]:
    found: dict[str, type[Event]] = {}
    for kind in kinds:
        name = kind.kind_name()
        if name in found:
            raise ConfigurationError(
                f"Two events are tagged {name!r}, {found[name].__name__} and {kind.__name__}: give one another tag."
            )
        if not kind.emitted_by:
            # A replay could not assign such an event to a component.
            raise ConfigurationError(
                f"{kind.__name__} declares nobody who emits it: set its `emitted_by`."
            )
        found[name] = kind
    return found


def _outcomes(
    kinds: Iterable[type[Event]],
) -> dict[type[Event], tuple[type[Event], ...]]:
    found: dict[type[Event], tuple[type[Event], ...]] = {}
    for kind in kinds:
        for settled in kind.settles:
            found[settled.request] = (*found.get(settled.request, ()), kind)
    return found


def _declared_in(module: Any) -> list[type[Event]]:
    # In the order of the file, which is the order in which a query meets them.
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Event) and value is not Event
    ]


BUILT_IN = Catalog(_declared_in(events))
"""The vocabulary of the service itself: every event that vocabulary/events.py declares, in its order."""
