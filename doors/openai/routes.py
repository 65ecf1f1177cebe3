"""The routes of OpenAI's API. A question runs as one of `POST /api/query` does; only its shapes differ."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response

from antiphon.api import Door
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, needs
from antiphon.api.idempotency import IdempotencyKey
from antiphon.api.refusals import WITH_NAME
from antiphon.api.schemas import Schema
from antiphon.doors.asking import asking
from antiphon.doors.conversation import Exchanges, exchanges_in, last_text
from antiphon.doors.openai.asking import answered, said
from antiphon.doors.openai.bodies import ChatBody, ResponsesBody
from antiphon.doors.openai.chat import Completion
from antiphon.doors.openai.errors import TheirErrors
from antiphon.doors.openai.models import MODEL, course_of, models_of, question_to
from antiphon.doors.openai.responses import RESPONSE, ResponseShape
from antiphon.doors.openai.tasks import reply_to_task
from antiphon.doors.showing import events_while
from antiphon.service import Antiphon
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryReceived, ResponseAssembled

router = APIRouter(route_class=GuardedRoute, prefix="/v1", tags=["openai"])
DOOR = Door(router, TheirErrors)


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
    """`antiphon`; `antiphon-strict`, which fails if no model answered; and one for each course."""
    return ModelsReply(data=[ModelReply(id=each) for each in models_of(service)])


@router.get(
    "/models/{model}",
    summary="A model",
    responses=WITH_NAME,
    dependencies=[needs("ask")],
)
async def read_model(model: str, service: Service) -> ModelReply:
    """One of `GET /v1/models`."""
    course_of(service, model)
    return ModelReply(id=model)


@router.post("/chat/completions", **asking("Ask, as a chat completion"))
async def complete_chat(
    body: ChatBody,
    request: Request,
    service: Service,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Answers the last message, with those before it as the conversation; see OpenAI's reference for the shapes.

    In addition, `citations` holds what each cited sentence rests on, and `reasoning_content` the steps on the way.
    """
    body.refuse_what_is_not_done()
    options = body.stream_options
    counts = options is not None and bool(options.include_usage)
    shape = Completion(body.model, with_usage=counts)
    streams = bool(body.stream)
    text = last_text(body.messages)
    told = exchanges_in(body.messages)
    # Before the task, so that an unknown model is refused there too.
    question = question_to(service, body.model, text, told)
    task = await reply_to_task(service, body.messages)
    if task is not None:
        return said(task, shape, streams=streams)
    return await answered(question, shape, request, idempotency_key, streams=streams)


@router.post("/responses", **asking("Ask, as a response"))
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
    told = exchanges_in(body.input)
    if body.previous_response_id is not None:
        if told:
            raise BadInputError(
                "`input` holds an earlier answer, and `previous_response_id` names one too: send one of both."
            )
        told = await _told_until(service, body.previous_response_id)
    question = question_to(service, body.model, last_text(body.input), told)
    shape = ResponseShape(body.model)
    return await answered(
        question, shape, request, idempotency_key, streams=bool(body.stream)
    )


async def _told_until(service: Antiphon, response_id: str) -> Exchanges:
    """Returns the conversation up to and including a response, from its trace. Raises as `find` does."""
    query_id = await service.find(response_id.removeprefix(RESPONSE))
    told: Exchanges = ()
    asked = ""
    async for event in events_while(service.recorded(query_id)):
        if isinstance(event, QueryReceived):
            told = tuple((each.question, each.answer) for each in event.history)
            asked = event.query
        elif isinstance(event, ResponseAssembled):
            return (*told, (asked, event.answer))
    raise BadInputError(
        "`previous_response_id` names a response that has no answer: send the messages, or another's id."
    )
