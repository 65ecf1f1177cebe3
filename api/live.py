"""A query as server-sent events, while it runs
(https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import msgspec
import structlog
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from antiphon.api.accept import EVENT_STREAM
from antiphon.api.answer import answer_of
from antiphon.api.errors import describe_failure
from antiphon.api.facade import Asked
from antiphon.api.under_way import UnderWay
from antiphon.api.waiting import GONE
from antiphon.traces import to_json
from antiphon.vocabulary.errors import ServiceError, SlowReaderError
from antiphon.vocabulary.events import Event, Live, Recorded

log = structlog.get_logger(__name__)

Told = Recorded[Event] | Live
Followed = AsyncIterator[Told]

KEEP_ALIVE_S = 15.0
KEEP_ALIVE = b": still working\n\n"


class LiveAnswer(StreamingResponse):
    """Streams a query's events and its answer; a client that goes away cancels the query."""

    media_type = EVENT_STREAM

    def __init__(self, asked: Asked, under_way: UnderWay, keep_alive_s: float = KEEP_ALIVE_S) -> None:
        # X-Accel-Buffering: nginx would otherwise hold events back.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(with_keep_alive(events_of(asked, asked.follow()), keep_alive_s), headers=headers)
        self._asked = asked
        self._under_way = under_way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._under_way.waiting(self._asked, GONE):
            await super().__call__(scope, receive, send)


async def events_of(asked: Asked, told: Followed) -> AsyncIterator[bytes]:
    """The query's events as they are recorded, its text as it is written, and the answer or the failure last."""
    async for said in _followed(asked.query_id, told):
        yield said
    [outcome] = await asyncio.gather(asked.outcome(), return_exceptions=True)
    if not isinstance(outcome, BaseException):
        yield as_event("answer", answer_of(outcome).model_dump_json().encode())
        return
    yield as_event("error", msgspec.json.encode(describe_failure(outcome, asked.query_id)))
    if not isinstance(outcome, ServiceError):
        raise outcome  # a bug: the server logs it
    log.warning("stream_failed", code=outcome.code, detail=str(outcome), query_id=asked.query_id)


async def _followed(query_id: str, told: Followed) -> AsyncIterator[bytes]:
    """What there is to follow; a reader that was too slow misses the rest, and is told so before its answer."""
    try:
        async for one in told:
            yield told_as_event(one)
    except SlowReaderError as error:
        yield as_event("events_lost", msgspec.json.encode(describe_failure(error, query_id)))


def told_as_event(told: Told) -> bytes:
    """One recorded event, with its seq as id, or one piece of text."""
    if isinstance(told, Recorded):
        return as_event(_kind(told.event), to_json(told), told.seq)
    return as_event(_kind(told), to_json(told))


def as_event(kind: str, data: bytes, number: int | None = None) -> bytes:
    """One server-sent event; `data` is JSON, which has no line breaks of its own."""
    line = b"" if number is None else b"id: %d\n" % number
    return b"event: %s\n%sdata: %s\n\n" % (kind.encode(), line, data)


def _kind(struct: msgspec.Struct) -> str:
    return str(struct.__struct_config__.tag)


async def with_keep_alive(items: AsyncIterator[bytes], every_s: float) -> AsyncGenerator[bytes, None]:
    """`items`, and a comment whenever none came for `every_s` seconds, so that no proxy hangs up."""
    coming = asyncio.ensure_future(_next(items))
    try:
        while True:
            await asyncio.wait({coming}, timeout=every_s)
            if not coming.done():
                yield KEEP_ALIVE
                continue
            item = coming.result()
            if item is None:
                return
            yield item
            coming = asyncio.ensure_future(_next(items))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)


async def _next(items: AsyncIterator[bytes]) -> bytes | None:
    return await anext(items, None)
