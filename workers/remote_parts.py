"""Has other processes perform the requests that the settings name (docs/cluster.md)."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon import cluster
from antiphon.composition import (
    LiveOutside,
    Resources,
    Settings,
    live_outside,
    performers,
)
from antiphon.dispatcher import ToolDispatcher
from antiphon.vocabulary import events as e
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import ConfigurationError, RemoteError
from antiphon.vocabulary.events import DISPATCHER, ENGINE
from antiphon.vocabulary.imports import split_names
from antiphon.vocabulary.performing import Outside
from antiphon.vocabulary.ports import Ports

ROOMS = ("dispatcher", "engine")


class PerformedElsewhere:
    """Builds the outside of queries with some requests performed in other processes; satisfies `BuildOutside`.

    Args:
        connection: The connection to the servers; opens when the first query needs it.
        rooms: The components whose requests other processes perform.
        lease_s: Seconds without a sign of life after which a process counts as lost.
    """

    def __init__(
        self, connection: cluster.LateConnection, rooms: Sequence[str], lease_s: float
    ) -> None:
        self._connection = connection
        self._rooms = rooms
        self._lease_s = lease_s
        self._links: dict[str, cluster.RemoteLink] = {}

    def __call__(self, resources: Resources, ports: Ports, /) -> Outside:
        performed = performers(resources, ports)
        definitions = resources.tools.definitions()
        place = cluster.Place(
            tenant=resources.owner,
            effects=any(tool.has_effects for tool in resources.tools.tools),
            tools=definitions.key,
        )
        for name in self._rooms:
            # Tools that were replaced for this query exist only in this process.
            if name == "dispatcher" and resources.tools.is_wrapped:
                continue
            room = _room(name, resources.catalog)
            link = self._link(name, resources.catalog)
            elsewhere = cluster.RemoteOutside(
                link, place, ports, resources.catalog, room
            )
            for kind in room.performs:
                performed[kind] = elsewhere.perform
        return LiveOutside(performed)

    def _link(self, name: str, catalog: Catalog) -> cluster.RemoteLink:
        if name not in self._links:
            self._links[name] = cluster.RemoteLink(
                self._connection, name, catalog, self._lease_s
            )
        return self._links[name]

    async def close(self) -> None:
        """Closes the connection."""
        await self._connection.close()


def performed_elsewhere(settings: Settings) -> PerformedElsewhere:
    """Returns a builder that has other processes perform the requests of the settings' rooms, not connected yet.

    Raises:
        ConfigurationError: There is no such room, or the settings name no NATS server.
    """
    rooms = split_names(settings.remote)
    connection = connection_of(settings, "sessions")
    for name in rooms:
        check_room(name)
    return PerformedElsewhere(connection, rooms, settings.remote_lease_s)


def hosted(resources: Resources, place: cluster.Place, ports: Ports) -> Outside:
    """Returns the outside that performs the requests of a query whose session is in another process.

    Raises:
        RemoteError: This process has other tools than the session, and so not those that the model saw.
    """
    if place.tools != resources.tools.definitions().key:
        raise RemoteError(
            "the tools here are not those of the session: give both processes the same ANTIPHON_TOOLS and version"
        )
    return live_outside(resources, ports)


def _room(name: str, catalog: Catalog) -> cluster.Room:
    if name == "dispatcher":
        emitted = catalog.emitted_by(DISPATCHER)
        return cluster.Room(
            performs=(e.ToolRequested,),
            emits=tuple([kind for kind in emitted if kind not in ToolDispatcher.emits]),
            needs=emitted,
        )
    return cluster.Room(
        performs=(e.ReasoningRequested, e.SummaryRequested),
        emits=catalog.emitted_by(ENGINE),
    )


def connection_of(settings: Settings, name: str) -> cluster.LateConnection:
    """Returns a connection, which opens at its first use, to the servers that the settings name.

    Raises:
        ConfigurationError: The settings name none.
    """
    if not settings.nats_url:
        raise ConfigurationError(
            "What acts in another process is reached through NATS: set ANTIPHON_NATS_URL, such as nats://127.0.0.1:4222."
        )
    return cluster.LateConnection(
        settings.nats_url,
        name=f"antiphon {name}",
        prefix=settings.nats_prefix,
        replicas=settings.nats_replicas,
    )


def check_room(name: str) -> None:
    """Checks that a component of that name can act in another process.

    Raises:
        ConfigurationError: None can.
    """
    if name not in ROOMS:
        raise ConfigurationError(
            f"{name!r} cannot act in another process; what can: {', '.join(ROOMS)}."
        )
