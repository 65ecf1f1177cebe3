"""A process that acts for sessions elsewhere: what it tells them, and when it gives one of them up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import NamedTuple, cast

from msgspec import Raw

from antiphon.cluster import Cluster
from antiphon.cluster import remote_frames as frames
from antiphon.cluster.remote_host import RemoteHost
from antiphon.cluster.remote_link import BEATS
from antiphon.cluster.streams import Naming
from antiphon.traces import from_json, to_json
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Recorded
from antiphon.vocabulary.performing import Command, Outside
from antiphon.vocabulary.ports import Ports
from tests.story import placed, query_received, tool_succeeded
from tests.virtual_time import run

LEASE_S = 4.0
SILENCE_S = 3 * LEASE_S
INBOX = "antiphon.acting.dispatcher.to.1a"
PLACE = frames.Place(query_id="q1")

Hear = Callable[["Message"], Awaitable[None]]


class Message(NamedTuple):
    """A message as a client hands it over."""

    data: bytes


class Wire:
    """A connection that notes what is published, with the time, and hands over what a session sends."""

    max_payload = 1_000_000

    def __init__(self) -> None:
        self.naming = Naming()
        self.sent: list[tuple[float, frames.ToSession]] = []
        self._hear: dict[str, Hear] = {}

    @property
    def client(self) -> Wire:
        return self

    async def subscribe(self, subject: str, *, cb: Hear, queue: str = "") -> Wire:
        self._hear[subject] = cb
        return self

    async def unsubscribe(self) -> None: ...

    async def flush(self) -> None: ...

    async def publish(self, subject: str, data: bytes) -> None:
        assert subject == INBOX
        at = asyncio.get_running_loop().time()
        self.sent.append((at, frames.read_to_session(data)))

    async def say(self, frame: frames.Frame) -> None:
        [subject] = [each for each in self._hear if ".at." in each]
        await self._hear[subject](Message(frames.encode(frame)))

    def of(self, kind: type[frames.Frame]) -> list[frames.Frame]:
        return [frame for _, frame in self.sent if isinstance(frame, kind)]


class Finding:
    """Publishes what a tool found, at once."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def perform(self, command: Command, /) -> None:
        self._ports.publish(tool_succeeded("a"))


async def _find(place: frames.Place, ports: Ports) -> Outside:
    return Finding(ports)


async def _hosted(wire: Wire) -> RemoteHost:
    host = RemoteHost(cast(Cluster, wire), "dispatcher", _find, BUILT_IN)
    await host.start()
    begin = frames.Begin(
        lease="l1", number=1, place=PLACE, reply_to=INBOX, lease_s=LEASE_S
    )
    await wire.say(begin)
    return host


def test_what_is_published_for_a_request_is_sent_with_the_request_as_its_cause() -> (
    None
):
    wire = Wire()
    [request] = placed("q1", [query_received()], after=6)

    async def ask() -> None:
        host = await _hosted(wire)
        await wire.say(
            frames.Perform(lease="l1", number=2, request=Raw(to_json(request)))
        )
        await host.leave()

    run(ask())

    [emitted] = wire.of(frames.Emitted)
    assert isinstance(emitted, frames.Emitted)
    # Its place in the trace and its time are given to it there.
    assert from_json(bytes(emitted.recorded), BUILT_IN) == Recorded(
        query_id="q1", seq=0, cause=request.seq, at=0.0, event=tool_succeeded("a")
    )
    assert [frame.seq for frame in wire.of(frames.Done)] == [request.seq]  # type: ignore[attr-defined]


def test_a_session_is_told_several_times_a_lease_that_its_query_is_worked_on() -> None:
    wire = Wire()

    async def wait() -> None:
        host = await _hosted(wire)
        await asyncio.sleep(2 * LEASE_S)
        await host.leave()

    run(wait())

    at = [at for at, frame in wire.sent if isinstance(frame, frames.Alive)]
    pauses = [round(after - before, 3) for before, after in pairwise(at)]
    assert set(pauses[1:]) == {LEASE_S / BEATS}
    assert len(pauses) > BEATS


def test_a_session_that_says_nothing_for_three_leases_has_its_query_dropped() -> None:
    async def held() -> list[int]:
        wire = Wire()
        host = await _hosted(wire)
        seen: list[int] = []
        await asyncio.sleep(SILENCE_S - 1)
        await wire.say(frames.Alive(lease="l1", number=2))
        for seconds in (SILENCE_S - 1, 3.0):
            await asyncio.sleep(seconds)
            seen.append(host.queries)
        await host.leave()
        return seen

    assert run(held()) == [1, 0]
