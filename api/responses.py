"""The forms of an answer, chosen by the Accept header: one JSON object at the end, or server-sent events
(https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
)
from email.message import Message

import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from antiphon.api.answer_html import html_of
from antiphon.api.bodies import JSON as JSON
from antiphon.api.dependencies import RunningQueries
from antiphon.api.draft_html import DraftHtml, TextHtml
from antiphon.api.errors import ErrorBody, describe_failure
from antiphon.api.query_schemas import answer_of
from antiphon.service import Outcome, Query, to_json
from antiphon.vocabulary.errors import QuotaError, ServiceError, SlowReaderError
from antiphon.vocabulary.events import Event, Live, Recorded

log = structlog.get_logger(__name__)

EVENT_STREAM = "text/event-stream"

CLIENT_GONE = "the client went away"
CLIENT_GONE_STATUS = 499
"""The status that nginx logs for a client that went away; nobody receives it."""

KEEP_ALIVE_S = 15.0
KEEP_ALIVE = b": still working\n\n"
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""X-Accel-Buffering: nginx would otherwise hold back events."""

Streamed = Recorded[Event] | Live


def preferred(accept: str | None, offers: tuple[str, ...]) -> str:
    """Returns the offer that an Accept header weighs highest: the earlier of equals, and the first if it names none."""
    # A short cut for the header of most programs.
    if not accept or accept == "*/*":
        return offers[0]
    weights = dict(map(_weighed, accept.split(",")))
    return max(offers, key=lambda offer: _weight(offer, weights))


def _weight(offer: str, weights: dict[str, float]) -> float:
    # The most specific pattern decides, by RFC 9110 (https://www.rfc-editor.org/rfc/rfc9110#name-accept).
    for pattern in (offer, f"{offer.partition('/')[0]}/*", "*/*"):
        if pattern in weights:
            return weights[pattern]
    return 0.0


def _weighed(part: str) -> tuple[str, float]:
    # The standard library parses parameters of a media type only as the header of a message.
    message = Message()
    message["content-type"] = part.strip()
    try:
        return message.get_content_type(), float(str(message.get_param("q", "1")))
    except ValueError:
        return message.get_content_type(), 0.0


async def outcome_or_gone(query: Query, request: Request) -> Outcome | None:
    """Waits for the outcome; returns None if the client went away: its query was then cancelled, and is over."""
    watching = asyncio.ensure_future(_cancel_once_gone(query, request))
    try:
        # Waits even for a client that is gone, so that the query is over when the request is.
        outcome = await query.outcome()
    finally:
        is_gone = watching.done()
        watching.cancel()
    return None if is_gone else outcome


async def _cancel_once_gone(query: Query, request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    query.leave(CLIENT_GONE)


LastWords = Callable[[ErrorBody], bytes]
"""Makes the event with the reason why a stream ends early."""
_LAST_WORDS = "last_words"


def end_with(scope: Scope, words: LastWords) -> None:
    """Has the stream that answers a request end early with these words, in the protocol of its client."""
    scope.setdefault("state", {})[_LAST_WORDS] = words


def last_words_of(scope: Scope) -> LastWords:
    """Returns the early end of the stream that answers a request; by default an event named after the error's code."""
    words: LastWords = scope.get("state", {}).get(_LAST_WORDS, _named)
    return words


def _named(error: ErrorBody) -> bytes:
    return as_event(error["error"]["code"], msgspec.json.encode(error))


class LiveAnswer(StreamingResponse):
    """Streams a query's events and its answer; a client that goes away cancels the query.

    Args:
        last_words: Makes the event with the reason why the stream ends early; None: the API's own.
    """

    media_type = EVENT_STREAM

    def __init__(
        self,
        query: Query,
        running: RunningQueries,
        events: AsyncIterator[bytes],
        keep_alive_s: float = KEEP_ALIVE_S,
        last_words: LastWords | None = None,
    ) -> None:
        super().__init__(with_keep_alive(events, keep_alive_s), headers=STREAM_HEADERS)
        self._query = query
        self._running = running
        self._last_words = last_words

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._last_words is not None:
            end_with(scope, self._last_words)
        with self._running.waiting(self._query, CLIENT_GONE):
            await super().__call__(scope, receive, send)


async def events_of(
    query: Query, streamed: AsyncIterator[Streamed], *, html: bool = False
) -> AsyncIterator[bytes]:
    """Yields the query's events as they are recorded, its text as it is written, and the answer or failure last."""
    async for event in server_sent(query.query_id, streamed, html=html):
        yield event

    def whole(outcome: Outcome) -> Iterator[bytes]:
        answer = answer_of(outcome, html_of(outcome, wanted=html))
        yield as_event("answer", answer.model_dump_json().encode())

    async for event in ended_by(query, whole):
        yield event


def _failure(error: ErrorBody) -> bytes:
    return as_event("error", msgspec.json.encode(error))


async def ended_by(
    query: Query,
    whole: Callable[[Outcome], Iterable[bytes]],
    failed: LastWords = _failure,
) -> AsyncIterator[bytes]:
    """Yields the end of a stream: the answer as `whole` writes it, or the failure as `failed` does."""
    # `gather` returns any error as a value, because it must still reach the client as an event.
    [outcome] = await asyncio.gather(query.outcome(), return_exceptions=True)
    if not isinstance(outcome, BaseException):
        for event in whole(outcome):
            yield event
        return
    yield failed(describe_failure(outcome, query.query_id))
    if not isinstance(outcome, ServiceError):
        raise outcome  # a bug: the server logs it
    log.warning(
        "stream_failed", code=outcome.code, detail=str(outcome), query_id=query.query_id
    )


async def server_sent(
    query_id: str, streamed: AsyncIterator[Streamed], *, html: bool = False
) -> AsyncIterator[bytes]:
    """Encodes each event as a server-sent one; a reader that was too slow misses the rest and gets `events_lost`.

    Args:
        html: Sends the HTML of the text, too, after its pieces.
    """
    draft = DraftHtml()
    try:
        async for each in streamed:
            yield streamed_as_event(each)
            shown = draft.after(each) if html else None
            if shown is not None:
                yield streamed_as_event(shown)
    except (SlowReaderError, QuotaError) as error:
        yield as_event(
            "events_lost", msgspec.json.encode(describe_failure(error, query_id))
        )


def streamed_as_event(streamed: Streamed | TextHtml) -> bytes:
    """Encodes one recorded event, with its seq as id, or one piece of text."""
    if isinstance(streamed, Recorded):
        return as_event(streamed.event.kind_name(), to_json(streamed), streamed.seq)
    return as_event(str(streamed.__struct_config__.tag), msgspec.json.encode(streamed))


def as_event(kind: str, data: bytes, number: int | None = None) -> bytes:
    """Encodes one server-sent event; `data` is JSON on one line."""
    line = b"" if number is None else b"id: %d\n" % number
    return b"event: %s\n%sdata: %s\n\n" % (kind.encode(), line, data)


async def with_keep_alive(
    items: AsyncIterator[bytes], every_s: float
) -> AsyncGenerator[bytes, None]:
    """Yields `items`, and a comment after each `every_s` seconds without one, so that no proxy hangs up."""
    coming = asyncio.ensure_future(_next(items))
    try:
        while True:
            # Not `wait_for`, which would cancel the item that is still to come.
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
