"""A query as live events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest

from antiphon.api.responses import KEEP_ALIVE, events_of, with_keep_alive
from antiphon.service import Query
from antiphon.vocabulary.errors import SlowReaderError, TraceError
from antiphon.vocabulary.events import Event, Live, Recorded
from tests.unit.api.calling import Browser, app_of, events_in
from tests.unit.api.fakes import FakeService
from tests.unit.api.fakes_parts import FakeAsked

STREAM = "text/event-stream"


async def test_a_stream_tells_every_event_the_text_and_the_answer_last() -> None:
    service = FakeService()

    reply = await Browser(app_of(service)).post(
        "/api/query", {"query": "x"}, accept=STREAM
    )

    told = events_in(reply.body)
    assert reply.headers["content-type"].startswith(STREAM)
    assert [(kind, number) for kind, number, _ in told] == [
        ("query_received", "1"),
        ("text_delta", None),
        ("response_assembled", "2"),
        ("query_closed", "3"),
        ("answer", None),
    ]
    assert told[0][2]["event"]["query"] == "x"
    assert told[-1][2]["answer"] == "BM25 is good."


async def test_the_same_answer_comes_last_in_a_stream_as_comes_without_one() -> None:
    plain = await Browser(app_of(FakeService())).post("/api/query", {"query": "x"})
    live = await Browser(app_of(FakeService())).post(
        "/api/query", {"query": "x"}, accept=STREAM
    )

    assert events_in(live.body)[-1][2] == plain.json()


async def test_events_are_sent_while_the_query_runs() -> None:
    service = FakeService(held=True)
    browser = Browser(app_of(service))
    call = asyncio.create_task(
        browser.post("/api/query", {"query": "x"}, accept=STREAM)
    )

    await browser.reply.arrived.wait()

    assert b"query_received" in browser.reply.body
    assert b"event: answer" not in browser.reply.body
    service.asked[0].release()
    await call
    assert b"event: answer" in browser.reply.body


async def test_a_reader_that_goes_away_cancels_its_query() -> None:
    service = FakeService(held=True)
    browser = Browser(app_of(service))
    call = asyncio.create_task(
        browser.post("/api/query", {"query": "x"}, accept=STREAM)
    )
    await browser.reply.arrived.wait()

    browser.leave()
    await call

    assert service.asked[0].cancelled == ["the client went away"]


async def test_a_failure_after_the_beginning_is_the_last_event() -> None:
    service = FakeService(fails=TraceError("the trace cannot be written"))

    reply = await Browser(app_of(service)).post(
        "/api/query", {"query": "x"}, accept=STREAM
    )

    kind, _, data = events_in(reply.body)[-1]
    assert kind == "error"
    assert data == {
        "error": {
            "code": "trace",
            "message": "the trace cannot be written",
            "query_id": "q-1",
        }
    }


async def test_a_bug_after_the_beginning_is_told_without_its_inside_and_raised_for_the_log() -> (
    None
):
    browser = Browser(app_of(FakeService(fails=ZeroDivisionError("secret"))))

    with pytest.raises(ZeroDivisionError):
        await browser.post("/api/query", {"query": "x"}, accept=STREAM)

    kind, _, data = events_in(browser.reply.body)[-1]
    assert (kind, data["error"]["code"], b"secret" in browser.reply.body) == (
        "error",
        "internal",
        False,
    )


async def test_a_reader_that_was_too_slow_is_told_so_and_gets_its_answer() -> None:
    asked = FakeAsked("q", "s", (), None)
    asked.release()

    events = events_of(cast(Query, asked), _cut_off())
    told = events_in(b"".join([event async for event in events]))

    assert [kind for kind, _, _ in told] == ["events_lost", "answer"]


async def _cut_off() -> AsyncIterator[Recorded[Event] | Live]:
    raise SlowReaderError("cut off")
    yield


async def test_a_comment_keeps_a_silent_stream_alive() -> None:
    more = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"first"
        await more.wait()
        yield b"second"

    stream = with_keep_alive(slow(), every_s=0.0)
    got = [await anext(stream)]
    while got[-1] != KEEP_ALIVE:
        got.append(await anext(stream))
    more.set()
    got += [item async for item in stream]

    assert [item for item in got if item != KEEP_ALIVE] == [b"first", b"second"]


async def test_leaving_a_kept_alive_stream_leaves_no_task_behind() -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"first"
        await asyncio.Event().wait()

    stream = with_keep_alive(endless(), every_s=0.0)
    await anext(stream)
    await anext(stream)
    await stream.aclose()

    assert asyncio.all_tasks() == {asyncio.current_task()}
