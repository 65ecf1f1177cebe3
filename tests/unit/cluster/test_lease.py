"""A query at another process: its messages are numbered, and it is lost with the first that is missing."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
import pytest
from nats.aio.client import Client
from nats.errors import ConnectionClosedError, MaxPayloadError

from antiphon.cluster import remote_frames as frames
from antiphon.cluster.remote_link import Lease
from antiphon.vocabulary.errors import RemoteError
from tests.virtual_time import run


class Wire:
    """A connection that notes what is published, or refuses it."""

    max_payload = 1_000

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.sent: list[tuple[str, bytes]] = []

    async def publish(self, subject: str, data: bytes) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append((subject, data))


def lease(wire: Wire, lease_s: float = 5.0) -> Lease:
    return Lease(cast(Client, wire), "subject", lease_s)


async def test_messages_are_numbered_one_after_another() -> None:
    wire = Wire()
    held = lease(wire)

    await held.alive()
    wire.error = ConnectionClosedError()
    with pytest.raises(RemoteError, match="nothing can be sent"):
        await held.alive()
    wire.error = None
    await held.end()

    numbers = [msgspec.json.decode(data)["number"] for _, data in wire.sent]
    assert numbers == [1, 2]


async def test_a_message_that_is_too_large_is_refused_with_its_size_and_the_limit() -> (
    None
):
    with pytest.raises(RemoteError, match=r"`alive` has \d+ bytes.* take 1,000"):
        await lease(Wire(MaxPayloadError())).alive()


async def test_with_the_first_message_that_is_missing_the_query_is_lost() -> None:
    held = lease(Wire())

    heard = [
        held.heard(frames.Alive(lease=held.id, number=number)) for number in (1, 2, 4)
    ]

    assert heard == [True, True, False]
    assert held.lost == "a message was lost on its way"
    held.check()
    assert held.lost == "a message was lost on its way"


def test_a_process_that_is_silent_for_longer_than_its_lease_is_lost() -> None:
    async def silent() -> list[str]:
        held = lease(Wire(), lease_s=5.0)
        seen: list[str] = []
        await asyncio.sleep(4.0)
        held.heard(frames.Alive(lease=held.id, number=1))
        for seconds in (4.9, 0.2):
            await asyncio.sleep(seconds)
            held.check()
            seen.append(held.lost)
        return seen

    assert run(silent()) == ["", "no sign of life for 5 s"]
