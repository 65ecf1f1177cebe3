"""Event streams are ended when they are old."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from antiphon.access.streams import TenantStreams
from antiphon.api import streams
from antiphon.api.streams import FollowedEvents
from antiphon.vocabulary.access import OWNER


async def test_a_stream_ends_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_AGE_S", -1.0)

    async def events() -> AsyncIterator[bytes]:
        while True:
            yield b"event: progress\n\n"

    reply = FollowedEvents(events(), TenantStreams(1), OWNER)

    assert [item async for item in reply.body_iterator] == [b"event: progress\n\n"]
