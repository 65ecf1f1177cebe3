"""Routes for conversations: to list, search and name them, to read one, and to clear or delete it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query
from msgspec.structs import asdict

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.refusals import (
    FORBIDDEN,
    UNAVAILABLE,
    WITH_BODY,
    WITH_NAME,
    WITH_TRACE,
)
from antiphon.api.routes.listing import summary_reply
from antiphon.api.schemas import DeletedReply
from antiphon.api.trace_schemas import (
    ClearReply,
    ClearRequest,
    ConversationLineReply,
    ConversationReply,
    ConversationsReply,
    ConversationTraceReply,
    ExchangeReply,
    TitleReply,
    TitleRequest,
)
from antiphon.service import Antiphon
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import PlacedQuestion, TraceSummary

router = APIRouter(route_class=GuardedRoute, prefix="/api", tags=["conversations"])

SHOWN = 100
"""Traces of one conversation that come together."""
MOST_LISTED = 200

ConversationId = Annotated[
    str, Path(min_length=1, max_length=200, examples=["s-5d1f0c2e"])
]
Before = Annotated[
    str | None,
    Query(
        min_length=1, max_length=200, description="Only what comes after this `next`."
    ),
]


@router.get(
    "/conversations",
    summary="The conversations, the last asked first",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def list_conversations(
    service: Service,
    q: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Words of one of its questions, or of its title, or the beginnings of words.",
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many.")] = 50,
    before: Before = None,
) -> ConversationsReply:
    """One line per conversation in which something was asked since it was last cleared."""
    after_id = None if before is None else await service.find(before)
    found = await service.store.conversations(limit, after_id, q or None)
    lines = [ConversationLineReply(**asdict(each)) for each in found]
    # A full page may be the last; then the next one is empty.
    next_page = found[-1].last_query_id if len(found) == limit else None
    return ConversationsReply(conversations=lines, next=next_page)


@router.get(
    "/conversations/{session_id}",
    summary="One conversation",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_conversation(
    session_id: ConversationId,
    service: Service,
    before: Before = None,
    through: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            description="One of its queries: the conversation as it continued after that version of a question; "
            "null: behind the last one that was asked.",
        ),
    ] = None,
) -> ConversationReply:
    """The last hundred queries of the conversation that follow one another, each with its versions.

    `exchanges` holds those that were answered since the conversation was last cleared.
    """
    path = await _path(service, session_id, before, through)
    shown = path[-SHOWN:]
    ids = [place.query_id for place in shown]
    exchanges = await service.store.answered(session_id, ids)
    found = await service.store.list(len(ids), among=ids)
    summaries = {each.query_id: each for each in found}
    # A trace may just have been deleted.
    traces = [
        _placed_reply(summaries[place.query_id], place)
        for place in reversed(shown)
        if place.query_id in summaries
    ]
    lines = await service.store.conversations(1, session_id=session_id)
    return ConversationReply(
        session_id=session_id,
        title=lines[0].title if lines else None,
        exchanges=[ExchangeReply(**asdict(each)) for each in exchanges],
        traces=traces,
        next=shown[0].query_id if len(path) > SHOWN else None,
    )


async def _path(
    service: Antiphon, session_id: str, before: str | None, through: str | None
) -> Sequence[PlacedQuestion]:
    """Returns the questions that follow one another: those before one, or those of the path through one."""
    if before is None:
        query_id = None if through is None else await service.find(through)
        return await service.store.path(session_id, query_id)
    query_id = await service.find(before)
    earlier: list[PlacedQuestion] = []
    for place in await service.store.path(session_id, query_id):
        if place.query_id == query_id:
            break
        earlier.append(place)
    return earlier


def _placed_reply(
    summary: TraceSummary, place: PlacedQuestion
) -> ConversationTraceReply:
    line = summary_reply(summary)
    return ConversationTraceReply(
        **line.model_dump(), follows=place.follows, versions=list(place.versions)
    )


@router.patch(
    "/conversations/{session_id}",
    summary="Name a conversation",
    responses=WITH_BODY | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def name_conversation(
    session_id: ConversationId, body: TitleRequest, service: Service
) -> TitleReply:
    """Gives the conversation a title, in place of its first question."""
    title = " ".join(body.title.split())
    if not title:
        raise BadInputError("The title is empty: send some text in `title`.")
    stored = await service.store.annotations.set_title(session_id, title)
    return TitleReply(session_id=session_id, title=stored)


@router.delete(
    "/conversations/{session_id}",
    summary="Delete a conversation",
    responses=FORBIDDEN | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def delete_conversation(
    session_id: ConversationId, service: Service
) -> DeletedReply:
    """Deletes the conversation with all its traces."""
    return DeletedReply(deleted=await service.archive.delete_conversation(session_id))


@router.post(
    "/clear-session",
    summary="Forget a conversation",
    responses=WITH_BODY | WITH_NAME,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def clear_session(body: ClearRequest, service: Service) -> ClearReply:
    """Forgets the conversation's exchanges, so the next question starts afresh. Its traces stay."""
    await service.clear_conversation(body.session_id)
    return ClearReply(status="ok", session_id=body.session_id)
