"""Forks: a recorded query run from one event on with something changed; and the comparison of two traces."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import (
    OtherId,
    QueryId,
    RunningQuery,
    Service,
    Waited,
    interceptor_for,
)
from antiphon.api.errors import (
    FORBIDDEN,
    NOT_NOW,
    UNAVAILABLE,
    WITH_BODY,
    WITH_TRACE,
)
from antiphon.api.openapi import schema_at
from antiphon.api.query_schemas import QueryAnswer, answer_of
from antiphon.api.responses import (
    CLIENT_GONE,
    CLIENT_GONE_STATUS,
    JSON,
    outcome_or_gone,
)
from antiphon.api.schemas import (
    MOST_SEQ,
    RequestBody,
    Schema,
    Text,
    WholeNumber,
)
from antiphon.service import MOST_CHANGES, MOST_VALUE_CHARS, Change, Mode, Outcome
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryReceived

router = APIRouter(prefix="/api/traces", tags=["traces"])

MOST_DEPTH = 32
"""Levels of a value: a message with blocks that hold citations has five."""


class ChangeRequest(RequestBody):
    """One thing that a fork changes."""

    kind: Literal["set", "setting", "reply", "tool", "drop", "show"] = Field(
        description="`set` a field of the event, a `setting` of the query, the `reply` of a reasoning call, the result "
        "of a `tool`, `drop` a passage wherever it was found, or `show` sentences of a fact that the briefing `at` "
        "left out (`value`: their numbers from 0)."
    )
    name: Annotated[Text, Field(max_length=1_000)] = Field(
        "",
        description="The field, the setting, the tool call's id or the passage's (or a fact's); empty for a reply.",
    )
    value: JsonValue = Field(
        "",
        description="The new value; a reply or result may be plain text. "
        f"At most {MOST_VALUE_CHARS:,} characters, {MOST_DEPTH} deep.",
        examples=[1],
    )

    def change(self) -> Change:
        """Returns the change as the service takes it.

        Raises:
            BadInputError: The value holds what no trace can.
        """
        _check_sound(self.value)
        value = self.value
        if not isinstance(value, str):
            value = msgspec.json.encode(value).decode()
        return Change(kind=self.kind, name=self.name, value=value)


def _check_sound(value: JsonValue) -> None:
    """Refuses values that are nested deep, numbers that no store holds, and half surrogate pairs.

    Raises:
        BadInputError: There is one.
    """
    # Not by recursion, which is what a deep value is sent for.
    level: list[JsonValue] = [value]
    for _ in range(MOST_DEPTH):
        below: list[JsonValue] = []
        for each in level:
            below += _parts(each)
        if not below:
            return
        level = below
    raise BadInputError(
        f"`value` is nested more than {MOST_DEPTH} deep: nothing here needs that."
    )


def _parts(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list):
        return value
    if isinstance(value, int) and abs(value) > MOST_SEQ:
        raise BadInputError("`value` holds a number of more than 15 digits.")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise BadInputError(
                "`value` holds half of a surrogate pair, which is no character: send valid Unicode."
            ) from error
    return []


def _form(change: object) -> str:
    """Tells one change from several, so that what is wrong is said of the form that was sent."""
    if isinstance(change, list | tuple):
        return "several"
    return "one"


class ForkRequest(RequestBody):
    """The event from which on a query is run again, and what is different."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": [name]} for name in ("at", "change", "faults")]
        }
    )

    at: Annotated[WholeNumber, Field(ge=0, le=MOST_SEQ)] | None = Field(
        None,
        description="The event to change, the last that both have; null is the last that the changes name. With "
        "`faults` alone: the first event that may break; null is the first of all.",
        examples=[11],
    )
    change: Annotated[
        Annotated[ChangeRequest, Tag("one")]
        | Annotated[
            list[ChangeRequest], Field(max_length=MOST_CHANGES), Tag("several")
        ],
        Discriminator(_form),
    ] = Field(
        [],
        description=f"What is changed: one, or up to {MOST_CHANGES}. Settings go only downwards from the service's. "
        "Of fields only `query` and a tool's `call.arguments` may be set, and `messages` if the owner allows it.",
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


class ForkPlanReply(Schema):
    """What a fork would do."""

    parent: str
    shared: int = Field(description="Its last event that is its parent's too.")
    mode: Mode
    models: list[str] = Field(description="Who is asked; empty where no model is.")
    calls: int = Field(
        description="Calls to them at most, each of which may be retried."
    )
    tools: list[str] = Field(description="Tools that may be run.")
    effects: list[str] = Field(
        description="Those of them that change something outside."
    )
    may_cost: bool = Field(description="A model is asked that is not known to be free.")
    sentence: str = Field(description="All of it in words.")


_FORKED: dict[int | str, dict[str, Any]] = {
    201: {
        "model": ForkReply,
        "description": "The fork ran to its end; `Location` names its trace.",
    }
}
_COMPARED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What each came to, the events that differ and why, the answers sentence by sentence.",
        "content": {JSON: {"schema": schema_at("Diff")}},
    }
}


@router.post(
    "/{query_id}/fork",
    summary="Run a query again with something changed",
    status_code=201,
    response_model=ForkReply,
    responses=_FORKED | WITH_BODY | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[Depends(require_json)],
)
async def fork_trace(
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
    forked = await service.fork(
        query_id, body.at, body.changes(), body.mode, interceptor
    )
    outcome = await _outcome(forked, request, waited)
    if outcome is None:
        return Response(status_code=CLIENT_GONE_STATUS)
    # The trace itself records where the two part and what was changed, in words.
    events = await service.store.read(forked.query_id)
    first = events[0].event
    assert isinstance(first, QueryReceived)  # or there had been nothing to fork
    root = request.scope["root_path"]
    reply = ForkReply(
        query_id=forked.query_id,
        parent=query_id,
        parent_seq=first.parent_seq,
        change=first.change,
        mode=body.mode,
        answer=answer_of(outcome),
        diff=f"{root}/api/traces/{query_id}/diff/{forked.query_id}",
    )
    headers = {"Location": f"{root}/api/traces/{forked.query_id}"}
    return Response(
        reply.model_dump_json(), status_code=201, media_type=JSON, headers=headers
    )


@router.post(
    "/{query_id}/fork/plan",
    summary="What a fork would call, and may cost",
    responses=WITH_BODY | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[Depends(require_json)],
)
async def plan_fork(
    query_id: QueryId, body: ForkRequest, request: Request, service: Service
) -> ForkPlanReply:
    """Checks a fork as if it were to begin, and says what of it would be live. Nothing is run and nothing recorded."""
    interceptor = interceptor_for(request, body.faults)
    plan = await service.plan_fork(
        query_id, body.at, body.changes(), body.mode, interceptor
    )
    return ForkPlanReply.model_validate(plan, from_attributes=True)


@router.post(
    "/{query_id}/resume",
    summary="Go on with an interrupted query",
    response_model=QueryAnswer,
    responses=FORBIDDEN | WITH_TRACE | NOT_NOW | UNAVAILABLE,
)
async def resume_query(
    query_id: QueryId, request: Request, service: Service, waited: Waited
) -> Response:
    """Goes on with a query whose process ended: only what was under way is asked again. A query that is over stays so.

    The reply comes when the query is over. A client that goes away cancels it.
    """
    resumed = await service.resume(query_id)
    outcome = await _outcome(resumed, request, waited)
    if outcome is None:
        return Response(status_code=CLIENT_GONE_STATUS)
    return Response(answer_of(outcome).model_dump_json(), media_type=JSON)


async def _outcome(
    query: RunningQuery, request: Request, waited: Waited
) -> Outcome | None:
    # For the access log, and for an error that comes after this.
    request.state.query_id = query.query_id
    with waited.waiting(query, CLIENT_GONE):
        return await outcome_or_gone(query, request)


@router.get(
    "/{query_id}/diff/{other_id}",
    summary="Compare two traces",
    response_class=Response,
    responses=_COMPARED | WITH_TRACE | UNAVAILABLE,
)
async def compare_traces(
    query_id: QueryId, other_id: OtherId, service: Service
) -> Response:
    """Compares two traces: the events that differ, and why; answers, tokens, cost.

    Why: `question`, `change`, `model`, `tool`, `code`, `order`, `settings`, `time` or `subscriber`.
    """
    found = await service.history.diff(query_id, other_id)
    return Response(msgspec.json.encode(found), media_type=JSON)
