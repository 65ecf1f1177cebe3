"""Output that all doors share: links to cited words, citations, and the steps of a query."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import msgspec

from antiphon.service import Query
from antiphon.vocabulary.errors import QuotaError, SlowReaderError
from antiphon.vocabulary.events import (
    Event,
    ReasoningRequested,
    ReasoningRetried,
    Recorded,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.outside import without_controls
from antiphon.vocabulary.values import Citation, ToolCall

Json = dict[str, Any]

LINK_WORDS_CHARS = 200
"""Characters of the cited words in a link: enough to find the passage, since a terminal shows the address in full."""
LINE_CHARS = 200


def url_of(
    base_url: str | None,
    words: str,
    course: str | None,
    lesson: int | None,
    link: str | None,
) -> str | None:
    """Returns the address of these words: in the reader, or for words in no course that of their origin.

    Args:
        base_url: The address of the service's pages; None: it serves none.
        link: The address of the words' origin.
    """
    if course is None or base_url is None:
        return link
    place = {"course": course}
    if lesson is not None:
        place["lesson"] = str(lesson)
    place["words"] = words[:LINK_WORDS_CHARS]
    return f"{base_url}read?{urlencode(place)}"


def citation_of(citation: Citation, answer: str, base_url: str | None) -> Json:
    """Returns one cited span of an answer, and the words that it rests on."""
    claim = answer[citation.start : citation.end]
    cited = msgspec.structs.asdict(citation)
    url = url_of(
        base_url,
        citation.cited_text,
        citation.course,
        citation.lesson,
        citation.link,
    )
    return {"claim": claim, "url": url} | cited


async def events_while(query: Query) -> AsyncIterator[Event]:
    """Yields the query's recorded events until it ends."""
    try:
        async for streamed in query.follow():
            if isinstance(streamed, Recorded):
                yield streamed.event
    except (SlowReaderError, QuotaError):
        # A reader that is too slow, or over its quota, loses the events but not the answer.
        return


async def steps_of(query: Query) -> AsyncIterator[str]:
    """Yields each step of the query as a line, until it ends."""
    async for event in events_while(query):
        line = line_of(event)
        if line is not None:
            yield line


def line_of(event: Event) -> str | None:
    """Returns a line that describes a step to people; None for an event that tells them nothing."""
    match event:
        case ToolRequested(call=call):
            return _line_of_call(call)
        case ToolSucceeded(name=name, passages=passages):
            return f"{len(passages)} passages found" if passages else f"{name} is done"
        case ToolFailed(name=name):
            return f"{name} failed"
        case ReasoningRetried():
            return "The model's reply failed; trying again"
        case ReasoningRequested(reasoner="fallback"):
            return "The built-in reasoner takes over"
        case ReasoningRequested(final=True):
            return "Writing the answer"
    return None


def _line_of_call(call: ToolCall) -> str:
    try:
        values = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        values = None
    asked = values.get("query") if isinstance(values, dict) else None
    if not isinstance(asked, str):
        return call.name
    shown = " ".join(without_controls(asked).split())[:LINE_CHARS]
    return f"Searching “{shown}”"
