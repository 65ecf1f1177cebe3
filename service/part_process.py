"""Runs one part of the service in its own process, for the sessions of other processes (`antiphon act`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import get_args

from antiphon import cluster as on_nats
from antiphon import workers
from antiphon.access import TenantResources
from antiphon.composition import ServiceResources, Settings, build
from antiphon.service.memory import keep_loaded
from antiphon.service.short_turns import take_short_turns
from antiphon.vocabulary.access import OWNER, Principal, Scope
from antiphon.vocabulary.performing import Outside
from antiphon.vocabulary.ports import Ports


async def act(
    name: str,
    settings: Settings,
    stopped: Callable[[], Awaitable[object]],
    announce: Callable[[], None] = lambda: None,
) -> None:
    """Acts as one part until `stopped` returns; then lets running work end.

    Args:
        name: The part, such as `dispatcher`.
        announce: Called once the part accepts work.

    Raises:
        ConfigurationError: There is no such part, or the settings cannot work.
    """
    workers.check_room(name)
    connection = workers.connection_of(settings, f"act {name}")
    # The settings may place this part in another process, but this process must run it itself.
    settings = settings.model_copy(update={"remote": ""})
    cluster = await connection.get()
    resources = await asyncio.to_thread(
        build, settings, limits_of=workers.shared_limits
    )
    keep_loaded()
    take_short_turns()
    watching = asyncio.create_task(resources.telemetry.loop_watchdog().run())
    servers = resources.tool_servers
    keeping = asyncio.create_task(servers.keep()) if servers is not None else None
    try:
        host = await asyncio.to_thread(host_of, name, resources, cluster)
        await host.start()
        announce()
        await stopped()
        await host.leave()
    finally:
        watching.cancel()
        if keeping is not None:
            keeping.cancel()
            await asyncio.wait([keeping])
        await resources.close()
        await connection.close()


def host_of(
    name: str, resources: ServiceResources, cluster: on_nats.Cluster
) -> on_nats.RemoteHost:
    """Returns the host of one part over a connection; blocks while it opens the tenants' documents."""
    views = TenantResources(resources)
    views.open()

    async def outside_of(place: on_nats.Place, ports: Ports) -> Outside:
        return workers.hosted(views.of(caller_of(place)).shared, place, ports)

    return on_nats.RemoteHost(cluster, name, outside_of, resources.shared.catalog)


def caller_of(place: on_nats.Place) -> Principal:
    """Returns the caller of a query: the tenant whose documents it may search, and whether tools may have effects."""
    scopes: frozenset[Scope] = frozenset(get_args(Scope))
    if not place.effects:
        scopes -= {"effects"}
    if not place.tenant:
        return Principal(tenant=OWNER.tenant, scopes=scopes, sees_all=True)
    return Principal(tenant=place.tenant, scopes=scopes)
