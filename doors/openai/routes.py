"""The routes of OpenAI's API. A question takes the same way as one of `POST /api/query`; only its shapes are others."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal

import msgspec
from fastapi import APIRouter, Request, Response

from antiphon.api import Door
from antiphon.api.beginning import answer, status_of_answer
from antiphon.api.bodies import JSON, require_json
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.errors import Refusal
from antiphon.api.idempotency import IdempotencyKey
from antiphon.api.openapi import EVENTS
from antiphon.api.refusals import (
    FULL,
    NOT_NOW,
    UNAVAILABLE,
    WITH_BODY,
    WITH_NAME,
)
from antiphon.api.responses import EVENT_STREAM, ended_by
from antiphon.api.schemas import Schema
from antiphon.doors.openai.bodies import (
    ChatBody,
    Exchanges,
    ResponsesBody,
    ToldQuestion,
    exchanges_in,
    last_text,
    told_question,
)
from antiphon.doors.openai.chat import Chunks, completion
from antiphon.doors.openai.errors import TheirErrors, in_their_shape
from antiphon.doors.openai.responses import (
    RESPONSE,
    ResponseEvents,
    message,
    response,
)
from antiphon.doors.openai.tasks import reply_to_task
from antiphon.doors.openai.writing import Json, Written, usage_of, written
from antiphon.service import Antiphon, Outcome, Query
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.values import Usage

router = APIRouter(route_class=GuardedRoute, prefix="/v1", tags=["openai"])
DOOR = Door(router, TheirErrors)

MODEL = "antiphon"
STRICT = "antiphon-strict"
MOST_NAMED = 10
SLUG_CHARS = 80
CHAT = "chatcmpl-"
ANSWERS: dict[int | str, dict[str, Any]] = (
    {
        200: {
            "description": "The answer; with `stream` as server-sent events.",
            "content": {JSON: {"schema": {"type": "object"}}, EVENT_STREAM: EVENTS},
        }
    }
    | WITH_BODY
    | WITH_NAME
    | NOT_NOW
    | FULL
    | UNAVAILABLE
)


class ModelReply(Schema):
    """A way to ask: of all courses, strictly, or of one course."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = MODEL


class ModelsReply(Schema):
    """The ways to ask."""

    object: Literal["list"] = "list"
    data: list[ModelReply]


@router.get("/models", summary="The models", dependencies=[needs("ask")])
async def list_models(service: Service) -> ModelsReply:
    """`antiphon`; `antiphon-strict`, which fails where no model answered; and one for each course."""
    return ModelsReply(data=[ModelReply(id=each) for each in _models(service)])


@router.get(
    "/models/{model}",
    summary="A model",
    responses=WITH_NAME,
    dependencies=[needs("ask")],
)
async def read_model(model: str, service: Service) -> ModelReply:
    """One of `GET /v1/models`."""
    _course(service, model)
    return ModelReply(id=model)


@router.post(
    "/chat/completions",
    summary="Ask, as a chat completion",
    response_class=Response,
    responses=ANSWERS,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def complete_chat(
    body: ChatBody,
    request: Request,
    service: Service,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Answers the last message, with those before it as the conversation; see OpenAI's reference for the shapes.

    Beside them `citations` holds what each cited sentence rests on, and `reasoning_content` what is done meanwhile.
    """
    body.refuse_what_is_not_done()
    course = _course(service, body.model)
    now = int(time.time())
    with_usage = body.stream_options is not None and bool(
        body.stream_options.include_usage
    )

    def chunks_of(query_id: str) -> Chunks:
        return Chunks(body.model, now, f"{CHAT}{query_id}", with_usage=with_usage)

    def whole(query_id: str, text: Written, usage: Usage) -> Json:
        return completion(body.model, now, f"{CHAT}{query_id}", text, usage)

    task = await reply_to_task(service, body.messages)
    if task is not None:
        text = Written(task, [], [])
        if not body.stream:
            return _json(whole(uuid.uuid4().hex, text, Usage()))
        chunks = map(_sent, chunks_of(uuid.uuid4().hex).answer(text, Usage()))
        return Response(b"".join([*chunks, Chunks.END]), media_type=EVENT_STREAM)
    question = told_question(
        last_text(body.messages),
        exchanges_in(body.messages),
        course,
        strict=body.model == STRICT,
    )
    live = chunks_of if body.stream else None
    return await _answer(question, request, idempotency_key, whole, live)


@router.post(
    "/responses",
    summary="Ask, as a response",
    response_class=Response,
    responses=ANSWERS,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def create_response(
    body: ResponsesBody,
    request: Request,
    service: Service,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Answers the last message of `input`; see OpenAI's reference for the shapes.

    The conversation is what `input` holds before it, or that of `previous_response_id`.
    """
    body.refuse_what_is_not_done()
    course = _course(service, body.model)
    now = int(time.time())
    told = exchanges_in(body.input)
    if body.previous_response_id is not None:
        if told:
            raise BadInputError(
                "`input` holds an earlier answer, and `previous_response_id` names one too: send one of both."
            )
        told = await _told_until(service, body.previous_response_id)

    def events_of(query_id: str) -> ResponseEvents:
        return ResponseEvents(body.model, now, query_id)

    def whole(query_id: str, text: Written, usage: Usage) -> Json:
        output = [message(query_id, text)]
        return response(body.model, now, query_id, output, usage, text.citations)

    question = told_question(
        last_text(body.input), told, course, strict=body.model == STRICT
    )
    live = events_of if body.stream else None
    return await _answer(question, request, idempotency_key, whole, live)


async def _told_until(service: Antiphon, response_id: str) -> Exchanges:
    """Returns the conversation up to a response and with it, as its trace holds it. Raises as `find` does."""
    query_id = await service.find(response_id.removeprefix(RESPONSE))
    [first, *_] = await service.store.read(query_id)
    outcome = await service.recorded(query_id).outcome()
    if not isinstance(first.event, QueryReceived):
        return ()
    before = [(each.question, each.answer) for each in first.event.history]
    return (*before, (first.event.query, outcome.response.answer))


async def _answer(
    question: ToldQuestion,
    request: Request,
    idempotency_key: str | None,
    whole: Callable[[str, Written, Usage], Json],
    live: Callable[[str], Chunks | ResponseEvents] | None,
) -> Response:
    """Asks the question, and answers in the shapes that are handed in."""
    base_url = str(request.base_url)

    def reply(outcome: Outcome, status: int) -> Response:
        if status != 200:
            return _failure(outcome, status).as_response()
        text = written(outcome, base_url)
        return _json(whole(outcome.query_id, text, usage_of(outcome)))

    async def events(query: Query) -> AsyncIterator[bytes]:
        assert live is not None
        shapes = live(query.query_id)
        async for each in shapes.before(query):
            yield _sent(each)

        def last(outcome: Outcome) -> Iterator[bytes]:
            status = status_of_answer(outcome, strict=question.strict)
            if status == 200:
                text = written(outcome, base_url)
                yield from map(_sent, shapes.answer(text, usage_of(outcome)))
                return
            failure = _failure(outcome, status)
            yield _sent(in_their_shape(status, failure.as_body()["error"]))

        async for sent in ended_by(query, last):
            yield sent
        yield shapes.END

    streams = None if live is None else events
    return await answer(question, request, idempotency_key, reply, streams)


def _failure(outcome: Outcome, status: int) -> Refusal:
    """Returns the refusal for a caller who takes no answer but the model's, or whose query was stopped."""
    if status == 503:
        return Refusal(
            503,
            "cancelled",
            "The question was stopped before its answer was complete: ask again.",
        )
    why = (
        "Time ran out before the model's answer"
        if status == 504
        else "No model answered"
    )
    said = " ".join(doubt.detail for doubt in outcome.response.indicators)
    return Refusal(
        status,
        "no_model",
        f"{why}, and `{STRICT}` takes no other: ask `{MODEL}` for what was found. {said}",
    )


def _json(reply: Json) -> Response:
    return Response(msgspec.json.encode(reply), media_type=JSON)


def _sent(event: Json) -> bytes:
    """Encodes a server-sent event; one that has a type is named by it."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return b"%sdata: %s\n\n" % (name.encode(), msgspec.json.encode(event))


def _models(service: Antiphon) -> dict[str, str | None]:
    """Returns the course that each model is about, by its id; None: all."""
    models: dict[str, str | None] = {MODEL: None, STRICT: None}
    for course in service.courses():
        words = re.sub(r"\W+", "-", course.title.lower()).strip("-")[:SLUG_CHARS]
        name = f"{MODEL}:{words}"
        number = 2
        while name in models:
            name = f"{MODEL}:{words}-{number}"
            number += 1
        models[name] = course.title
    return models


def _course(service: Antiphon, model: str) -> str | None:
    """Returns the course that a model is about.

    Raises:
        Refusal: 404: there is no such model.
    """
    models = _models(service)
    if model not in models:
        named = ", ".join(list(models)[:MOST_NAMED])
        raise Refusal(
            404,
            "model_not_found",
            f"`model` is {model[:100]!r}, which there is not: there are {named}.",
        )
    return models[model]
