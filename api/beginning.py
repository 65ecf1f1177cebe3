"""Begins the query that a request asks for, the same way for every route, and answers in the form that it wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import Request, Response

from antiphon.api.dependencies import (
    interceptor_for,
    running_queries,
    seen_service,
)
from antiphon.api.idempotency import IdempotentQueries
from antiphon.api.query_schemas import QueryRequest
from antiphon.api.responses import (
    CLIENT_GONE,
    CLIENT_GONE_STATUS,
    LiveAnswer,
    outcome_or_gone,
)
from antiphon.service import Antiphon, BusyError, NoInterceptor, Outcome, Query
from antiphon.vocabulary.errors import KnowledgeError

LATE_S = 2.0
"""Seconds beyond the deadline after which a waiting caller gets an error instead of an answer."""
AGAIN_S = 5.0

Live = Callable[[Query], AsyncIterator[bytes]]
"""Makes the server-sent events of a live answer."""


async def answer(
    body: QueryRequest,
    request: Request,
    idempotency_key: str | None,
    whole: Callable[[Outcome, int], Response],
    live: Live | None = None,
) -> Response:
    """Begins the query, waits for its answer and returns it; a client that goes away cancels it.

    Args:
        whole: Makes the response from an answer and its status.
        live: Makes the events of a live answer; None: the caller wants it as a whole.
    """
    # Not as dependencies, which FastAPI would have to resolve for each question.
    service = seen_service(request)
    waited = running_queries(request)
    async with answering_in_time(body, service):
        query = await begin(body, request, service, idempotency_key)
        if live is not None:
            return LiveAnswer(query, waited, live(query))
        with waited.waiting(query, CLIENT_GONE):
            outcome = await outcome_or_gone(query, request)
    if outcome is None:
        return Response(status_code=CLIENT_GONE_STATUS)
    return whole(outcome, status_of_answer(outcome, strict=body.strict))


def status_of_answer(outcome: Outcome, *, strict: bool) -> int:
    """Returns the status of an answer.

    Args:
        strict: True if the caller accepts only an answer by the model; otherwise they get 504 if time ran out, or 502.
    """
    # The query was stopped: the answer holds only what was found by then, and another try may bring a real one.
    if outcome.status == "cancelled":
        return 503
    if not strict or outcome.by_the_model:
        return 200
    for doubt in outcome.response.indicators:
        if doubt.kind == "deadline":
            return 504
    return 502


@asynccontextmanager
async def answering_in_time(
    body: QueryRequest, service: Antiphon
) -> AsyncIterator[None]:
    """Gives up waiting for an answer soon after its deadline: something outside the query is stuck.

    Raises:
        BusyError: No answer came in time.
    """
    usual_s = service.settings.deadline_s
    deadline_s = usual_s if body.deadline_s is None else body.deadline_s
    waiting = asyncio.timeout(deadline_s + LATE_S)
    try:
        async with waiting:
            yield
    except TimeoutError as error:
        # Somebody else's time limit ran out, not this one.
        if not waiting.expired():
            raise
        raise BusyError(
            f"No answer came within the deadline of {deadline_s:g} s, because the service is held up, as by a disk "
            "that does not respond: see /readyz, and ask again in a moment.",
            AGAIN_S,
        ) from error


async def begin(
    body: QueryRequest,
    request: Request,
    service: Antiphon,
    idempotency_key: str | None,
    *,
    is_fetched_later: bool = False,
) -> Query:
    """Begins the query, or returns the one that began with the same key.

    A query with a key, or whose answer is fetched later, is stored when this returns: its caller may come back for it.

    Raises:
        KnowledgeError: The service is not ready, for example because there is nothing to search.
        Refusal: 409: the key was used with another body.
        ServiceError: As `Antiphon.start` does.
    """
    # The same check as in /readyz: an answer without documents would read as if the documents held none.
    refusing = service.readiness().refusing
    if refusing:
        raise KnowledgeError(" ".join(refusing))
    question = body.question()
    interceptor = interceptor_for(request, body.faults) or NoInterceptor()

    async def start(query_id: str | None) -> Query:
        return await service.start(
            question,
            interceptor,
            query_id,
            must_be_stored=is_fetched_later or query_id is not None,
        )

    if idempotency_key is None:
        query = await start(None)
    else:
        keyed: IdempotentQueries = request.app.state.idempotent_queries
        # The form of the answer is not part of the question.
        sent = body.model_dump_json(exclude={"html"}).encode()
        query = await keyed.begin(service, idempotency_key, sent, start)
    # For the access log, and for an error that comes after this.
    request.state.query_id = query.query_id
    return query
