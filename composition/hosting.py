"""Builds the components of a room for a query whose session is in another process."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon import cluster
from antiphon.composition.components import components_here
from antiphon.composition.remote import ROOMS
from antiphon.composition.resources import Resources
from antiphon.composition.wiring import ACTIONS, subscription_of
from antiphon.dispatcher import ToolDispatcher
from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Ports, Subscription


class HostedRoom:
    """One room's components in one query; satisfies `cluster.Part`."""

    def __init__(
        self, components: Sequence[object], subscriptions: Sequence[Subscription]
    ) -> None:
        self._components = components
        self._subscriptions = subscriptions

    def hear(self, recorded: Recorded[Event], *, repeat: bool) -> None:
        """Acts on an event."""
        for subscription in self._subscriptions:
            if subscription.kind is not type(recorded.event):
                continue
            if repeat and subscription.repeat is not None:
                subscription.repeat(recorded)
            else:
                subscription.handler(recorded)

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in an event from before."""
        for component in self._components:
            if isinstance(component, ToolDispatcher):
                component.recall(recorded)


def hosted_room(
    name: str, resources: Resources, place: cluster.Place, ports: Ports
) -> HostedRoom:
    """Builds a room's components.

    Raises:
        RemoteError: This process has other tools than the session: they would not be what the model was shown.
    """
    if place.tools != resources.tools.definitions().key:
        raise RemoteError(
            "the tools here are not those of the session: give both processes the same ANTIPHON_TOOLS and version"
        )
    others = ROOMS.keys() - {name}
    components = components_here(resources, ports, others)
    names = {each.__name__ for each in ROOMS[name].classes}
    subscriptions = [
        subscription_of(action, components)
        for action in ACTIONS
        if action.owner in names
    ]
    return HostedRoom(components, subscriptions)
