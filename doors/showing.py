"""What every door shows in the same way: where words can be read, what a citation rests on, and what a query does."""

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
"""Characters of the cited words in a link: they find the passage, and a terminal shows the address in full."""
LINE_CHARS = 200


def url_of(
    base_url: str | None,
    words: str,
    course: str | None,
    lesson: int | None,
    link: str | None,
) -> str | None:
    """Returns where these words can be read: in the reader, or where what is in no course comes from.

    Args:
        base_url: Where the service's pages are; None: it serves none.
        link: Where the words come from.
    """
    if course is None or base_url is None:
        return link
    place = {"course": course}
    if lesson is not None:
        place["lesson"] = str(lesson)
    place["words"] = words[:LINK_WORDS_CHARS]
    return f"{base_url}read?{urlencode(place)}"


def citation_of(citation: Citation, answer: str, base_url: str | None) -> Json:
    """Returns what one cited span of an answer rests on."""
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
    """Yields what is recorded of the query until it ends."""
    try:
        async for streamed in query.follow():
            if isinstance(streamed, Recorded):
                yield streamed.event
    except (SlowReaderError, QuotaError):
        # The events are lost, and not the answer.
        return


async def steps_of(query: Query) -> AsyncIterator[str]:
    """Yields what the query does, in a line each, until it ends."""
    async for event in events_while(query):
        line = line_of(event)
        if line is not None:
            yield line


def line_of(event: Event) -> str | None:
    """Returns a line for people on what is being done; None for an event that tells them nothing."""
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
