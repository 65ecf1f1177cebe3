"""Routes for saved sets of questions, and for comparisons of two settings over one (docs/rest.md)."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Path, Response
from pydantic import Field

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.openapi import schema_at
from antiphon.api.refusals import FORBIDDEN, UNAVAILABLE, WITH_BODY
from antiphon.api.responses import JSON
from antiphon.api.schemas import RequestBody, Schema, Text
from antiphon.vocabulary.feedback import MOST_NOTE_CHARS, Rating
from antiphon.vocabulary.question_sets import (
    MOST_QUESTIONS,
    MOST_SET_NAME_CHARS,
    QuestionSet,
    Verdict,
    check_question_set,
)
from antiphon.vocabulary.typed import prepared

router = APIRouter(
    route_class=GuardedRoute, prefix="/api/question-sets", tags=["questions"]
)

SetId = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", examples=["set-5d1f0c2e"])
]
QueryIdText = Annotated[Text, Field(max_length=200)]
Settings = Annotated[
    dict[
        Annotated[Text, Field(max_length=100)], Annotated[Text, Field(max_length=200)]
    ],
    Field(max_length=20),
]

_NOT_EMPTY: dict[str, Any] = {"pattern": r"[^\s\x00-\x1f\x85]"}


def _described(description: str, schema: Any) -> dict[int | str, dict[str, Any]]:
    answer = {"description": description, "content": {JSON: {"schema": schema}}}
    return {200: answer} | UNAVAILABLE


_STORED = _described("The set, as it is stored.", schema_at("QuestionSet"))


class DeletedSetReply(Schema):
    """The set that is no longer there."""

    status: Literal["ok"] = "ok"
    set_id: str


class SavedQuestionRequest(RequestBody):
    """A question as `antiphon traces questions` prints it; in a comparison, with its two answers."""

    question: Text = Field(json_schema_extra=_NOT_EMPTY)
    id: Annotated[Text, Field(max_length=100)] = ""
    earlier: list[Text] = Field(
        [], description="Questions of the same conversation, asked before."
    )
    rating: Rating | None = None
    note: Annotated[Text, Field(max_length=MOST_NOTE_CHARS)] | None = None
    left: QueryIdText | None = Field(
        None, description="The trace of the answer on the left."
    )
    right: QueryIdText | None = Field(
        None, description="The trace of the answer on the right."
    )
    verdict: Verdict | None = None


class ComparisonRequest(RequestBody):
    """The settings that the questions were asked with on either side; without any: the service's own."""

    of: Annotated[Text, Field(max_length=64)] = Field(
        description="The set whose questions these are."
    )
    left: Settings = Field(examples=[{}])
    right: Settings = Field(examples=[{"max_rounds": "1"}])


class QuestionSetRequest(RequestBody):
    """Questions under a name."""

    name: Annotated[Text, Field(max_length=MOST_SET_NAME_CHARS)] = Field(
        examples=["Ranking"], json_schema_extra=_NOT_EMPTY
    )
    questions: list[SavedQuestionRequest] = Field(
        json_schema_extra={"minItems": 1, "maxItems": MOST_QUESTIONS}
    )
    comparison: ComparisonRequest | None = None


@router.get(
    "",
    summary="The saved sets of questions",
    response_class=Response,
    responses=_described(
        "Each set, comparisons of two settings included; the last stored first.",
        {
            "type": "object",
            "required": ["sets"],
            "properties": {
                "sets": {"type": "array", "items": schema_at("QuestionSet")}
            },
        },
    ),
    dependencies=[needs("debug")],
)
async def list_question_sets(service: Service) -> Response:
    """The sets that were saved, each with its questions; `comparison` has the settings that it was asked with."""
    sets = await service.store.question_sets.all()
    return Response(msgspec.json.encode({"sets": sets}), media_type=JSON)


@router.put(
    "/{set_id}",
    summary="Save a set of questions",
    response_class=Response,
    responses=_STORED | WITH_BODY,
    dependencies=[needs("debug"), at_the_door(require_json)],
)
async def save_question_set(
    set_id: SetId, body: QuestionSetRequest, service: Service
) -> Response:
    """Stores a set in place of the one with this id, which its writer chooses."""
    sent = body.model_dump() | {"set_id": set_id, "at": time.time()}
    sent["name"] = " ".join(body.name.split())
    new = msgspec.convert(sent, prepared(QuestionSet))
    there = [each.set_id for each in await service.store.question_sets.all()]
    check_question_set(new, there, service.settings.query_chars)
    stored = await service.store.question_sets.put(new)
    return Response(msgspec.json.encode(stored), media_type=JSON)


@router.delete(
    "/{set_id}",
    summary="Delete a set of questions",
    responses=FORBIDDEN | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def delete_question_set(set_id: SetId, service: Service) -> DeletedSetReply:
    """Deletes a set, if there is one; the traces of its answers stay."""
    await service.store.question_sets.delete(set_id)
    return DeletedSetReply(set_id=set_id)
