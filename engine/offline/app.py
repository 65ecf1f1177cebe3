"""The small Messages API: an ASGI application that answers `POST /v1/messages` without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from antiphon.engine.anthropic_model import AnthropicModel, connect
from antiphon.engine.in_process import InProcessTransport, Receive, Scope, Send
from antiphon.engine.offline.answering import answer, summary
from antiphon.engine.offline.asked import understand
from antiphon.engine.offline.names import EMPTY, Catalogue, catalogue_of
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task, summary_task
from antiphon.engine.offline.shapes import RefusedError, parse
from antiphon.engine.offline.task import Task
from antiphon.engine.offline.wire import OFFLINE, Draft, error_of, message_of, stream_of
from antiphon.language.evidence import WORDS_ALONE, Measures
from antiphon.vocabulary.ports import Courses, Json, KnownCourse

MAX_BODY_BYTES = 32 * 2**20


class OfflineMessagesApi:
    """Plans tool calls by rule and answers by extraction; each reply depends only on its request.

    Args:
        measures: Compare questions with texts; by default by words, all of equal weight.
        courses: Returns the catalogue, in which to find the names in a question; None: there is none.
    """

    def __init__(
        self, measures: Measures = WORDS_ALONE, courses: Courses | None = None
    ) -> None:
        self._measures = measures
        self._courses = courses
        # The courses of the cached catalogue, which takes longer to make than a question to read.
        self._known: Sequence[KnownCourse] = ()
        self._catalogue = EMPTY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] != "/v1/messages":
            await _error(
                send, 404, "not_found_error", "There is only POST /v1/messages here."
            )
            return
        if scope["method"] != "POST":
            await _error(
                send, 405, "invalid_request_error", "Only POST is answered here."
            )
            return
        body = await body_of(receive)
        if body is None:
            await _error(
                send, 413, "request_too_large", "The request is larger than 32 MB."
            )
            return
        await self._reply(body, send)

    async def _reply(self, body: bytes, send: Send) -> None:
        # Drafts the whole reply before the first byte, because a refusal needs its own status even for a stream.
        try:
            request = parse(body)
            if self._measures.likeness is None:
                draft = self._draft(request)
            else:
                # Comparing meanings takes the embedder some time, in which other queries can go on.
                draft = await asyncio.to_thread(self._draft, request)
        except RefusedError as error:
            await _error(send, 400, "invalid_request_error", str(error))
            return
        # The reply's id must not depend on `stream`, so that a question has the same reply in both forms.
        read = body.replace(b'"stream":true', b'"stream":false', 1)
        message = message_of(read, OFFLINE, draft)
        if request.get("stream"):
            await _send(
                send, 200, b"text/event-stream; charset=utf-8", stream_of(message)
            )
        else:
            await _send(send, 200, b"application/json", [msgspec.json.encode(message)])

    def _draft(self, request: Json) -> Draft:
        wanted = summary_task(request)
        if wanted is not None:
            return Draft(summary(wanted.question, wanted.material, self._measures))
        task = read_task(request)._replace(catalogue=self._current_catalogue())
        return reply_to(task, self._measures)

    def _current_catalogue(self) -> Catalogue:
        if self._courses is None:
            return EMPTY
        courses = self._courses()
        if courses is not self._known:
            self._known = courses
            self._catalogue = catalogue_of(courses)
        return self._catalogue


def offline_model(
    measures: Measures = WORDS_ALONE, courses: Courses | None = None
) -> AnthropicModel:
    """Connects the same SDK to the Messages API in this process: a model that needs neither key nor network.

    Its answers are labelled `offline`.

    Args:
        measures: Compare questions with texts; by default by words, all of equal weight.
        courses: Returns the catalogue; None: there is none.
    """
    transport = InProcessTransport(OfflineMessagesApi(measures, courses))
    return connect("none", "http://offline.invalid", name=OFFLINE, transport=transport)


def reply_to(task: Task, measures: Measures) -> Draft:
    """Returns the reply: tool calls, or the answer."""
    inquiry = understand(task.question, task.earlier, task.catalogue)
    calls = plan(inquiry, task)
    if not calls:
        return answer(inquiry, task, measures)
    return Draft(
        [
            {"type": "tool_use", "id": "", "name": call.tool, "input": call.arguments}
            for call in calls
        ]
    )


async def body_of(receive: Receive) -> bytes | None:
    """Returns the request's whole body; None if it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


async def _error(send: Send, status: int, kind: str, sentence: str) -> None:
    await _send(
        send,
        status,
        b"application/json",
        [msgspec.json.encode(error_of(kind, sentence))],
    )


async def _send(
    send: Send, status: int, content_type: bytes, chunks: Iterable[bytes]
) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", content_type)],
        }
    )
    for chunk in chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
