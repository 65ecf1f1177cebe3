"""`POST /agui`: a question takes the same way as one of `POST /api/query`, and its events are AG-UI's."""

from __future__ import annotations

from typing import Annotated

from ag_ui.core import RunAgentInput
from fastapi import APIRouter, Request, Response
from pydantic import Field

from antiphon.api import Door
from antiphon.api.beginning import answering_in_time, begin
from antiphon.api.dependencies import Service, Waited
from antiphon.api.door import GuardedRoute
from antiphon.api.errors import Refusal
from antiphon.api.idempotency import IdempotencyKey
from antiphon.api.responses import LiveAnswer
from antiphon.api.schemas import Text
from antiphon.doors.agui.events import RunEvents, run_error
from antiphon.doors.asking import asking
from antiphon.doors.conversation import (
    ToldMessage,
    exchanges_in,
    last_text,
    told_question,
)
from antiphon.vocabulary.errors import BadInputError

router = APIRouter(route_class=GuardedRoute, tags=["agui"])
DOOR = Door(router)

_Id = Annotated[Text, Field(min_length=1, max_length=200)]


class RunBody(RunAgentInput):
    """The input of a run; of its messages only role and text are read."""

    thread_id: _Id
    run_id: _Id
    messages: list[ToldMessage] = Field(min_length=1)  # type: ignore[assignment]  # of any version, like the rest


@router.post("/agui", **asking("Ask, as a run of AG-UI", always_streams=True))
async def run_agent(
    body: RunBody,
    request: Request,
    service: Service,
    waited: Waited,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Answers the last message of the user, with those before it as the conversation; see AG-UI's reference.

    A run that is sent again is not asked twice: its `runId` serves as an `Idempotency-Key`. A client that disconnects
    still cancels its run, unless it sent a key of its own.
    """
    if body.resume:
        raise BadInputError(
            "`resume` answers an interrupt, and no run here is ever interrupted: send the question in a run without it."
        )
    asked = _until_the_question(body.messages)
    question = told_question(last_text(asked), exchanges_in(asked))
    # `repr` quotes both ids, so that no two pairs make the same key.
    key = idempotency_key or f"{body.thread_id!r} {body.run_id!r}"
    try:
        async with answering_in_time(question, service):
            query = await begin(question, request, service, key)
    except Refusal as refusal:
        if idempotency_key is not None or refusal.status_code != 409:
            raise
        raise Refusal(
            409,
            "run_id",
            "This `runId` was used in its thread for another question: take a new one.",
        ) from refusal
    query.outlives_caller = idempotency_key is not None
    events = RunEvents(body, str(request.base_url))
    return LiveAnswer(query, waited, events.of(query), last_words=run_error)


def _until_the_question(messages: list[ToldMessage]) -> list[ToldMessage]:
    """Returns the messages up to the user's last; the output of a run whose stream was cut may follow that."""
    for number in range(len(messages), 0, -1):
        if messages[number - 1].role == "user":
            return messages[:number]
    return messages
