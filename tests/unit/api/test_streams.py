"""Event streams of a tenant: counted, warned of before they are too many, and ended when they are old."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from antiphon.api import streams
from antiphon.api.streams import FollowedEvents, OpenStreams
from antiphon.vocabulary.access import Principal

ACME = Principal(tenant="acme", key_id="k1", scopes=frozenset({"ask"}))


def test_the_log_warns_once_when_four_fifths_of_a_tenants_streams_are_open(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counted = OpenStreams(10)

    for _ in range(7):
        assert counted.enter(ACME)
    before = capsys.readouterr().out
    for _ in range(3):
        assert counted.enter(ACME)
    refused = counted.enter(ACME)
    said = capsys.readouterr().out

    assert before == ""
    assert not refused
    assert said.count("event_streams_nearly_full") == 1
    assert "ANTIPHON_MOST_STREAMS" in said


def test_streams_that_were_closed_meanwhile_are_warned_of_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counted = OpenStreams(10)

    for _ in range(2):
        for _ in range(8):
            counted.enter(ACME)
        for _ in range(8):
            counted.leave(ACME)

    assert capsys.readouterr().out.count("event_streams_nearly_full") == 2


async def test_a_stream_ends_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_AGE_S", -1.0)

    async def events() -> AsyncIterator[bytes]:
        while True:
            yield b"event: progress\n\n"

    reply = FollowedEvents(events(), OpenStreams(1), ACME)

    assert [item async for item in reply.body_iterator] == [b"event: progress\n\n"]
