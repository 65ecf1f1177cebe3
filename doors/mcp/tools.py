"""The tools. A client's model reads their docstrings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NamedTuple

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from msgspec.structs import asdict
from pydantic import Field

from antiphon.api.beginning import answering_in_time
from antiphon.api.dependencies import RunningQueries
from antiphon.api.query_schemas import QueryRequest
from antiphon.api.responses import CLIENT_GONE
from antiphon.api.schemas import Schema, SessionId, Text, WholeNumber
from antiphon.doors.mcp.places import URIS, Fetched, Found, Place, place_of, text_at
from antiphon.doors.showing import citation_of, steps_of, url_of
from antiphon.service import MOST_PASSAGES, PASSAGES, Antiphon, Query, suspects
from antiphon.vocabulary.errors import BusyError
from antiphon.vocabulary.events import Confidence

BEFORE_CHARS = 1_000
AROUND_CHARS = 4_000
"""Characters that `fetch` reads, including those before the passage."""


class Caller(NamedTuple):
    """The sender of a request: the service as they see it, how their query begins, and the address of the pages."""

    service: Antiphon
    begin: Callable[[QueryRequest], Awaitable[Query]]
    running: RunningQueries
    base_url: str | None


CallerOf = Callable[[ServerRequestContext[Any, Any]], Caller]
Sent = Context[CallerOf, Any]


def caller_of(sent: Sent) -> Caller:
    """Returns the sender of a request, whom the transport knows."""
    return sent.request_context.lifespan_context(sent.request_context)


class Answer(Schema):
    """An answer; each citation holds the claim and the exact words that it rests on."""

    answer: str
    citations: list[dict[str, str | int | None]]
    confidence: Confidence
    doubts: list[str]
    query_id: str
    session_id: str
    reasoner: str


async def ask(
    sent: Sent,
    question: Annotated[Text, Field(description="The question, in any words.")],
    session_id: Annotated[
        SessionId | None,
        Field(description="The conversation, as an earlier answer named it."),
    ] = None,
) -> Answer:
    """Answers a question about the indexed courses, with citations: tell the user these, and the doubts too."""
    caller = caller_of(sent)
    asked = {"query": question, "session_id": session_id}
    body = QueryRequest.model_validate(asked)
    async with answering_in_time(body, caller.service):
        query = await caller.begin(body)
        with caller.running.waiting(query, CLIENT_GONE):
            number = 0
            async for step in steps_of(query):
                number += 1
                await sent.report_progress(number, message=step)
            outcome = await query.outcome()
    if outcome.status == "cancelled":
        raise BusyError(
            "The question was stopped before its answer was complete: ask again."
        )
    response = outcome.response
    return Answer(
        answer=response.answer,
        citations=[
            citation_of(each, response.answer, caller.base_url)
            for each in response.citations
        ],
        confidence=response.confidence,
        doubts=[doubt.detail for doubt in response.indicators],
        query_id=outcome.query_id,
        session_id=outcome.session_id,
        reasoner=response.reasoner,
    )


class Results(Schema):
    """What was found, best first."""

    results: list[Found]


async def search(
    sent: Sent,
    query: Annotated[Text, Field(description="A question, or words.")],
    course: Annotated[
        Text | None, Field(description="A course's title, or a part of it.")
    ] = None,
    lesson: Annotated[WholeNumber | None, Field(description="Its number.")] = None,
    limit: Annotated[WholeNumber, Field(ge=1, le=MOST_PASSAGES)] = PASSAGES,
) -> Results:
    """Finds passages in the indexed courses, without an answer; `fetch` shows the text around one of them."""
    caller = caller_of(sent)
    number = None if lesson is None else str(lesson)
    found = await caller.service.search(query, course, number, limit)
    results: list[Found] = []
    for each in found.passages:
        at = Place(course=each.course or "", lesson=each.lesson, start=each.start or 0)
        url = url_of(caller.base_url, each.text, each.course, each.lesson, each.link)
        results.append(
            Found(id=at.uri, title=each.source, text=each.text, url=url or at.uri)
        )
    return Results(results=results)


async def fetch(
    sent: Sent,
    id: Annotated[  # noqa: A002  # clients that look for `search` and `fetch` call it so
        Text,
        Field(description="The id of what was found, or the URI of a resource."),
    ],
) -> Fetched:
    """Reads what was found with the text before and after it; `next` is the id of what follows."""
    service, *_, base_url = caller_of(sent)
    at = place_of(URIS.match(id))
    return await text_at(service, at, base_url, BEFORE_CHARS, AROUND_CHARS)


class Why(Schema):
    """What may have made an answer bad, the likeliest first, each with the event that explains it."""

    suspects: list[dict[str, str | int | float]]


async def why(
    sent: Sent,
    query_id: Annotated[Text, Field(description="As `ask` named it.", max_length=200)],
) -> Why:
    """Ranks what may have made an answer bad: failures, limits, lost evidence, bad sources."""
    service = caller_of(sent).service
    service.principal.require("debug")
    events = await service.store.read(await service.find(query_id))
    found = await asyncio.to_thread(suspects, events)
    return Why(suspects=[asdict(each) for each in found])
