"""Routes into the courses' texts: the passages that the tools would find, and the text of a lesson."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from antiphon.api.answer_html import formulas_of
from antiphon.api.bodies import require_json
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.refusals import UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.schemas import (
    MOST_SEQ,
    FormulasReply,
    FormulasRequest,
    SearchReply,
    TextReply,
)
from antiphon.service import (
    MOST_NAME_CHARS,
    MOST_PASSAGES,
    MOST_QUERY_CHARS,
    MOST_TEXT_CHARS,
    PASSAGES,
)
from antiphon.vocabulary.access import without_keys

router = APIRouter(route_class=GuardedRoute, prefix="/api", tags=["courses"])

# Only for the schema: the service itself refuses an empty query, in its own words. The pattern names the separators of
# ASCII and U+0085, which Python strips, but which a pattern of JSON Schema (ECMA-262) does not count as white space.
_SOME_WORDS: dict[str, JsonValue] = {
    "minLength": 1,
    "pattern": r"[^\s\x1c-\x1f\x85]",
}

Name = Annotated[str | None, Field(max_length=MOST_NAME_CHARS)]


class SearchQuery(BaseModel):
    """What to look for, in which course and lesson, and how many passages."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    q: str = Field(
        max_length=MOST_QUERY_CHARS,
        description="What to look for: a question, or words.",
        examples=["how does BM25 rank"],
        json_schema_extra=_SOME_WORDS,
    )
    course: Name = Field(
        None,
        description="Search in this course only: its title, a part of it, or other words for it.",
    )
    lesson: Name = Field(
        None,
        description="Search in this lesson only: its number, or with `course` also `last` or its title.",
    )
    limit: int = Field(
        PASSAGES, ge=1, le=MOST_PASSAGES, description="How many passages."
    )
    why: bool = Field(False, description="Say why each passage was found.")


@router.get(
    "/search",
    summary="Search the courses",
    responses=WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def search(
    service: Service, wanted: Annotated[SearchQuery, Query()]
) -> SearchReply:
    """The passages that the search tool finds, best first. No model is called and nothing is recorded.

    An unknown course or lesson is 404; the message names those that exist.
    """
    found = await service.search(
        wanted.q, wanted.course, wanted.lesson, wanted.limit, why=wanted.why
    )
    return SearchReply.model_validate(msgspec.to_builtins(found))


@router.post(
    "/formulas",
    summary="The formulas in a text",
    responses=WITH_BODY,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def find_formulas(body: FormulasRequest) -> FormulasReply:
    """Finds formulas in TeX, as in an answer's `html`, and returns each as MathML by what is written for it."""
    found = await asyncio.to_thread(formulas_of, without_keys(body.text))
    return FormulasReply(formulas=found)


@router.get(
    "/text",
    summary="A lesson's text",
    responses=WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_text(
    service: Service,
    course: Annotated[
        str, Query(max_length=MOST_NAME_CHARS, description="The exact title.")
    ],
    start: Annotated[
        int, Query(ge=0, le=MOST_SEQ, description="Its first character, from 0.")
    ],
    length: Annotated[
        int, Query(ge=1, le=MOST_TEXT_CHARS, description="How many characters.")
    ],
    lesson: Annotated[
        int | None,
        Query(
            ge=-MOST_SEQ,
            le=MOST_SEQ,
            description="Its number; without it, the text outside lessons.",
        ),
    ] = None,
) -> TextReply:
    """A stretch of the text that passages are cut from; the `offset` of a lineage step is a position in it."""
    found = await service.text(course, lesson, start, length)
    return TextReply.model_validate(found, from_attributes=True)
