"""The connection of one process to NATS: checked when it is made, and kept up as long as the process lives."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import ServiceUnavailableError

from antiphon.cluster.client import REQUEST_S, CarefulClient
from antiphon.cluster.streams import Naming
from antiphon.vocabulary.circuit import Circuit, OwnCircuit
from antiphon.vocabulary.errors import ConfigurationError

log = structlog.get_logger(__name__)

LEAST_SERVER = (2, 10, 23)
"""Older servers silently ignore settings of streams and consumers that we rely on."""
CONNECT_S = 5.0
RECONNECT_S = 0.25
LEADER_S = 30.0
"""Seconds that JetStream may take to answer after a server has accepted the connection."""
WITHOUT_S = 3.0
"""The same if a server says that it has no JetStream: one that is just starting says so too."""
PENDING_BYTES = 8 * 1024 * 1024
"""While the connection is down the client keeps so many bytes of published data; it refuses more."""
PING_S = 5
REFUSED_S = 10.0
"""Seconds for which no query begins after the servers refused an append for want of room."""
_REFUSED = "authorization"
"""A word in a server's refusal of a user or password."""
UNANSWERED_PINGS = 2
"""The client gives up a connection after so many pings without an answer, for example if the network is cut."""


def _room() -> OwnCircuit:
    return OwnCircuit(Circuit(most_failures=1, rest_s=REFUSED_S))


@dataclass(frozen=True)
class Cluster:
    """A connection, with its names and its state.

    Attributes:
        replicas: Servers that hold each stream's messages.
        room: Open after the servers refused an append for want of room, by any limit.
    """

    client: Client
    jetstream: JetStreamContext
    naming: Naming
    replicas: int
    room: OwnCircuit = field(default_factory=_room)

    async def close(self) -> None:
        """Sends pending data and closes the connection; if it is down, only closes it."""
        if self.client.is_connected:
            await self.client.flush()
        await self.client.close()


async def connect(
    url: str, *, name: str, prefix: str = "antiphon", replicas: int = 1
) -> Cluster:
    """Connects to the servers of a NATS cluster.

    Args:
        url: Addresses with commas between, such as `nats://10.0.0.1:4222,nats://10.0.0.2:4222`.
        name: The name under which the servers list this connection.
        prefix: The beginning of all subjects and streams: several installations may share the servers.
        replicas: Servers that hold each stream's messages; an odd number, at most 5.

    Raises:
        ConfigurationError: No server can be reached, or the server is too old or has no JetStream.
    """
    client = CarefulClient()
    errors = _Errors()
    try:
        # With a time limit: the client itself would try for ever, as it should later when a connection is lost.
        async with asyncio.timeout(CONNECT_S):
            await client.connect(
                servers=addresses(url),
                name=name,
                connect_timeout=int(CONNECT_S),
                reconnect_time_wait=RECONNECT_S,  # type: ignore[arg-type]  # it only sleeps for that
                # -1: for ever. A worker that gave up would never take a query again.
                max_reconnect_attempts=-1,
                allow_reconnect=True,
                ping_interval=PING_S,
                max_outstanding_pings=UNANSWERED_PINGS,
                pending_size=PENDING_BYTES,
                error_cb=errors.note,
                disconnected_cb=partial(_note_loss, client),
                reconnected_cb=errors.note_return,
            )
    except (NatsError, OSError, TimeoutError) as error:
        await client.close()
        raise _unreached(url, errors.last or error) from error
    errors.made = True
    cluster = Cluster(
        client, client.jetstream(timeout=REQUEST_S), Naming(prefix), replicas
    )
    try:
        check_version(client.connected_server_version)
        await _wait_for_jetstream(cluster, url)
    except ConfigurationError:
        await client.close()
        raise
    return cluster


async def _wait_for_jetstream(cluster: Cluster, url: str) -> None:
    """Waits until JetStream answers: servers that have just been started elect a leader first.

    Raises:
        ConfigurationError: It does not, or the servers run without it.
    """
    began = time.monotonic()
    while True:
        try:
            await cluster.jetstream.account_info()
            return
        except NatsError as error:
            patience_s = (
                WITHOUT_S if isinstance(error, ServiceUnavailableError) else LEADER_S
            )
            if time.monotonic() - began > patience_s:
                raise ConfigurationError(
                    f"The NATS server at {shown(url)} has no JetStream ({error}): start it with --jetstream, and "
                    "most of a cluster's servers."
                ) from error
        await asyncio.sleep(RECONNECT_S)


def addresses(url: str) -> list[str]:
    """Returns the addresses that a setting names.

    Raises:
        ConfigurationError: An address is not valid, or the setting names none.
    """
    found = [each.strip() for each in url.split(",") if each.strip()]
    for each in found:
        place = urlsplit(each)
        if place.scheme not in ("nats", "tls", "ws", "wss") or not place.hostname:
            raise ConfigurationError(
                f"{shown(each)} is no address of a NATS server: it must look like nats://host:4222."
            )
    if not found:
        raise ConfigurationError(
            "No NATS server is named: set ANTIPHON_NATS_URL, such as nats://127.0.0.1:4222."
        )
    return found


def shown(url: str) -> str:
    """Returns an address fit for messages: without user and password."""
    return re.sub(r"//[^/@]*@", "//", url)


def check_version(version: object) -> None:
    """Checks a server's version.

    Raises:
        ConfigurationError: The server is older than the first version on which we rely.
    """
    numbers = re.match(r"v?(\d+)\.(\d+)\.(\d+)", str(version))
    if numbers is None:
        return
    found = tuple(map(int, numbers.groups()))
    if found < LEAST_SERVER:
        wanted = ".".join(map(str, LEAST_SERVER))
        raise ConfigurationError(
            f"The NATS server is version {version}; {wanted} or later is needed, because older ones pass over "
            "settings that keep traces whole."
        )


def _unreached(url: str, why: Exception) -> ConfigurationError:
    """Returns the error for a connection that cannot be made, from the error of the last attempt."""
    if _is_refusal(why):
        return ConfigurationError(
            f"The NATS server at {shown(url)} refuses the user and password of ANTIPHON_NATS_URL, or wants some: name "
            "them there, before the host and an @."
        )
    return ConfigurationError(
        f"No NATS server answers at {shown(url)} ({_reason(why)}): start one (`nats-server --jetstream`), or name "
        "others with ANTIPHON_NATS_URL."
    )


def _is_refusal(error: Exception) -> bool:
    return _REFUSED in str(error).lower()


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return str(error) or type(error).__name__


class _Errors:
    """The errors of a connection: they explain a failure to connect, and go to the log later.

    Attributes:
        made: True once there is a connection.
        last: The last error, or one that refuses user and password.
    """

    def __init__(self) -> None:
        self.made = False
        self.last: Exception | None = None
        self._logged = ""

    async def note(self, error: Exception) -> None:
        # A refusal is kept, because at the next attempt the server may close before it has said why.
        if self.last is None or not _is_refusal(self.last):
            self.last = error
        said = _reason(error)
        # While the client restores a lost connection, every attempt fails in the same way, several times a second.
        if self.made and said != self._logged:
            self._logged = said
            log.warning("nats_error", error=said)

    async def note_return(self) -> None:
        self._logged = ""
        log.info("nats_connection_restored")


async def _note_loss(client: Client) -> None:
    # The client also calls this when it is closed on purpose.
    if not client.is_closed:
        log.warning("nats_connection_lost")
