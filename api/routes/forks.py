"""Forks: a recorded query run from one event on with something changed; and the comparison of two traces."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, JsonValue

from antiphon.api.dependencies import QueryId, Service, Waited, interceptor_for
from antiphon.api.errors import UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.guards import require_json
from antiphon.api.query_schemas import QueryAnswer, answer_of
from antiphon.api.responses import (
    CLIENT_GONE,
    CLIENT_GONE_STATUS,
    JSON,
    outcome_or_gone,
)
from antiphon.api.schemas import Schema, Text
from antiphon.service import Change, Mode
from antiphon.vocabulary.events import QueryReceived

router = APIRouter(prefix="/api/traces", tags=["traces"])


class ChangeRequest(Schema):
    """One thing that a fork changes."""

    kind: Literal["set", "setting", "reply", "tool", "drop"] = Field(
        description="`set` a field of the event, a `setting` of the query, the `reply` of a reasoning call, the result "
        "of a `tool`, or `drop` a passage wherever it was found."
    )
    name: Annotated[Text, Field(max_length=1_000)] = Field(
        "",
        description="The field, the setting, the tool call's id or the passage's (or a fact's); empty for a reply.",
    )
    value: JsonValue = Field(
        "",
        description="The new value; a reply or result may be plain text.",
        examples=[1],
    )

    def change(self) -> Change:
        """Returns the change as the service takes it."""
        value = self.value
        if not isinstance(value, str):
            value = msgspec.json.encode(value).decode()
        return Change(kind=self.kind, name=self.name, value=value)


class ForkRequest(Schema):
    """The event from which on a query is run again, and what is different."""

    at: Annotated[int, Field(strict=True, ge=0)] | None = Field(
        None,
        description="The event to change, the last that both have; null is the last that the changes name. With "
        "`faults` alone: the first event that may break; null is the first of all.",
        examples=[11],
    )
    change: ChangeRequest | list[ChangeRequest] = Field(
        [],
        description="What is changed: one, or several.",
        examples=[{"kind": "setting", "name": "max_rounds", "value": 1}],
    )
    mode: Mode = Field(
        "recorded",
        description="`recorded`: every call is answered as it was recorded, nothing is live, and where nothing was "
        "recorded the fork stops (`cancelled`) and says so; `remodel`: the model live, and tools where nothing was "
        "recorded; `live`: everything live.",
    )
    faults: dict[str, JsonValue] | None = Field(
        None,
        description="A fault plan (docs/faults.md); refused unless the service was started with --allow-faults.",
    )

    def changes(self) -> list[Change]:
        """Returns the changes as the service takes them."""
        if isinstance(self.change, ChangeRequest):
            return [self.change.change()]
        return [each.change() for each in self.change]


class ForkReply(Schema):
    """The new query: a trace of its own, which names its parent."""

    query_id: str = Field(description="The fork's trace.")
    parent: str
    parent_seq: int = Field(
        description="The last event that both have; 0 where they share no more than the question."
    )
    change: str = Field(description="What was changed, in words.")
    mode: Mode
    answer: QueryAnswer
    diff: str = Field(
        description="Where the two are compared.",
        examples=["/api/traces/q-0b8a4a7c/diff/q-77aa0912"],
    )


_FORKED: dict[int | str, dict[str, Any]] = {
    201: {
        "model": ForkReply,
        "description": "The fork ran to its end; `Location` names its trace.",
    }
}
_COMPARED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What each came to, the events that differ and why, the answers sentence by sentence.",
        "content": {JSON: {"schema": {"type": "object"}}},
    }
}


@router.post(
    "/{query_id}/fork",
    summary="Run a query again with something changed",
    status_code=201,
    response_model=ForkReply,
    responses=_FORKED | WITH_BODY | WITH_NAME | UNAVAILABLE,
    dependencies=[Depends(require_json)],
)
async def fork(
    query_id: QueryId,
    body: ForkRequest,
    request: Request,
    service: Service,
    waited: Waited,
) -> Response:
    """Runs a query again from one event on, with something changed there, as a trace of its own; the original stays.

    The reply comes when the fork is over. A client that goes away cancels it.
    """
    interceptor = interceptor_for(request, body.faults)
    forked = await service.history.fork(
        query_id, body.at, body.changes(), body.mode, interceptor
    )
    request.state.query_id = forked.query_id
    with waited.waiting(forked, CLIENT_GONE):
        outcome = await outcome_or_gone(forked, request)
    if outcome is None:
        return Response(status_code=CLIENT_GONE_STATUS)
    # The trace itself records where the two part and what was changed, in words.
    events = await service.store.read(forked.query_id)
    first = events[0].event
    assert isinstance(first, QueryReceived)  # or there had been nothing to fork
    reply = ForkReply(
        query_id=forked.query_id,
        parent=query_id,
        parent_seq=first.parent_seq,
        change=first.change,
        mode=body.mode,
        answer=answer_of(outcome),
        diff=f"/api/traces/{query_id}/diff/{forked.query_id}",
    )
    headers = {"Location": f"/api/traces/{forked.query_id}"}
    return Response(
        reply.model_dump_json(), status_code=201, media_type=JSON, headers=headers
    )


@router.get(
    "/{query_id}/diff/{other_id}",
    summary="Compare two traces",
    response_class=Response,
    responses=_COMPARED | WITH_NAME | UNAVAILABLE,
)
async def compare(query_id: QueryId, other_id: QueryId, service: Service) -> Response:
    """Compares two traces: the events that differ, and why; answers, tokens, cost.

    Why: `question`, `change`, `model`, `tool`, `code`, `order`, `settings`, `time` or `subscriber`.
    """
    found = await service.history.diff(query_id, other_id)
    return Response(msgspec.json.encode(found), media_type=JSON)
