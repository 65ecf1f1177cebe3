"""The acting components that run in other processes, as the settings name them (docs/cluster.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from antiphon import cluster
from antiphon.composition.settings import Settings
from antiphon.dispatcher import Registry, ToolDispatcher
from antiphon.engine import ReasoningEngine, SummaryEngine
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import DISPATCHER, ENGINE, Reasoner, Role
from antiphon.vocabulary.imports import split_names
from antiphon.vocabulary.ports import Model


class Room(NamedTuple):
    """What can act in a process of its own.

    Attributes:
        classes: Its components.
        role: The part of the service as its events name it.
    """

    classes: tuple[type[object], ...]
    role: Role


ROOMS: Mapping[str, Room] = {
    "dispatcher": Room((ToolDispatcher,), DISPATCHER),
    "engine": Room((ReasoningEngine, SummaryEngine), ENGINE),
}


class RemotePart(NamedTuple):
    """One room that acts elsewhere.

    Attributes:
        place: Whose queries, and with which tools.
        acts_with: The tools or models that it stands for; where a query has others (a fork's recorded ones, broken
            ones), its component acts in this process.
    """

    name: str
    link: cluster.RemoteLink
    place: cluster.Place
    acts_with: object

    @property
    def room(self) -> Room:
        return ROOMS[self.name]

    def with_caller(
        self,
        tenant: str,
        tools: Registry,
        models: Mapping[Reasoner, Model],
        *,
        effects: bool,
    ) -> RemotePart:
        """Returns the same for the queries of one kind of caller."""
        place = replace(
            self.place, tenant=tenant, effects=effects, tools=tools.definitions().key
        )
        return self._replace(
            place=place, acts_with=_acting_with(self.name, tools, models)
        )


def remote_parts(
    settings: Settings,
    catalog: Catalog,
    tools: Registry,
    models: Mapping[Reasoner, Model],
) -> tuple[RemotePart, ...]:
    """Returns the rooms that act elsewhere; nothing is connected yet.

    Raises:
        ConfigurationError: There is no such room, or no NATS server is named.
    """
    names = split_names(settings.remote)
    if not names:
        return ()
    connection = connection_of(settings, "sessions")
    parts: list[RemotePart] = []
    for name in names:
        check_room(name)
        link = cluster.RemoteLink(connection, name, catalog, settings.remote_lease_s)
        place = cluster.Place(tools=tools.definitions().key)
        parts.append(RemotePart(name, link, place, _acting_with(name, tools, models)))
    return tuple(parts)


def connection_of(settings: Settings, name: str) -> cluster.LateConnection:
    """Returns a connection to the servers that the settings name, which is made when it is first used.

    Raises:
        ConfigurationError: They name none.
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
    """Checks that something of that name can act in another process.

    Raises:
        ConfigurationError: Nothing can.
    """
    if name not in ROOMS:
        raise ConfigurationError(
            f"{name!r} cannot act in another process; what can: {', '.join(ROOMS)}."
        )


def _acting_with(
    name: str, tools: Registry, models: Mapping[Reasoner, Model]
) -> object:
    return tools if name == "dispatcher" else models
