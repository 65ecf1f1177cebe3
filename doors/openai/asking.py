"""Asks a question as `POST /api/query` does, and answers in the shape of one of the two APIs."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import msgspec
from fastapi import Request, Response

from antiphon.api.beginning import answer, status_of_answer
from antiphon.api.bodies import JSON
from antiphon.api.errors import Refusal
from antiphon.api.responses import EVENT_STREAM, ended_by
from antiphon.doors.conversation import ToldQuestion
from antiphon.doors.openai.chat import Completion
from antiphon.doors.openai.errors import in_their_shape
from antiphon.doors.openai.models import MODEL, STRICT
from antiphon.doors.openai.responses import ResponseShape
from antiphon.doors.showing import Json
from antiphon.doors.writing import Written, written
from antiphon.service import Outcome, Query

Shape = Completion | ResponseShape
"""The form of an answer in one of the two APIs."""


async def answered(
    question: ToldQuestion,
    shape: Shape,
    request: Request,
    idempotency_key: str | None,
    *,
    streams: bool,
) -> Response:
    """Asks the question, and returns its answer. Raises as `POST /api/query` does."""
    base_url = str(request.base_url)

    def reply(outcome: Outcome, status: int) -> Response:
        if status != 200:
            return _failure(outcome, status).as_response()
        return as_json(shape.whole(written(outcome, base_url)))

    def last(outcome: Outcome) -> Iterator[bytes]:
        status = status_of_answer(outcome, strict=question.strict)
        if status != 200:
            failure = _failure(outcome, status)
            yield _sent(in_their_shape(status, failure.as_body()["error"]))
            return
        yield from map(_sent, shape.answer(written(outcome, base_url)))

    async def events(query: Query) -> AsyncIterator[bytes]:
        async for each in shape.before(query):
            yield _sent(each)
        async for sent in ended_by(query, last):
            yield sent
        yield shape.END

    live = events if streams else None
    return await answer(question, request, idempotency_key, reply, live)


def said(text: str, shape: Shape, *, streams: bool) -> Response:
    """Returns a response with a text that does not come from a query."""
    alone = Written(uuid.uuid4().hex, text)
    if not streams:
        return as_json(shape.whole(alone))
    events = map(_sent, shape.answer(alone))
    return Response(b"".join([*events, shape.END]), media_type=EVENT_STREAM)


def as_json(reply: Json) -> Response:
    """Returns the response with this body."""
    return Response(msgspec.json.encode(reply), media_type=JSON)


def _sent(event: Json) -> bytes:
    """Encodes a server-sent event, named by its type if it has one."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return b"%sdata: %s\n\n" % (name.encode(), msgspec.json.encode(event))


def _failure(outcome: Outcome, status: int) -> Refusal:
    """Returns the refusal for a caller who accepts only the model's answer, or whose query was stopped."""
    if status == 503:
        message = "The question was stopped before its answer was complete: ask again."
        return Refusal(503, "cancelled", message)
    why = "No model answered"
    if status == 504:
        why = "Time ran out before the model's answer"
    doubts = " ".join(doubt.detail for doubt in outcome.response.indicators)
    return Refusal(
        status,
        "no_model",
        f"{why}, and `{STRICT}` takes no other: ask `{MODEL}` for what was found. {doubts}",
    )
