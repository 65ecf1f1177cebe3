"""An answer as chat clients show it: Markdown, a link behind each cited sentence; and what is done until it is made."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from antiphon.api.answer_html import Mark, with_marks
from antiphon.service import Outcome, Query
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
from antiphon.vocabulary.values import Citation, ToolCall, Usage

Json = dict[str, Any]

LINK_WORDS_CHARS = 200
"""Characters of the cited words in a link: they find the passage, and a terminal shows the address in full."""
MOST_NOTES = 5
LINE_CHARS = 200
NOTE = "> Note: "
# Nothing of a mark is read twice: an address holds no bracket that begins another.
_MARK = re.compile(r" ?\[\[\d{1,4}\]\]\([^)\s\[]{1,4000}\)")


class Written(NamedTuple):
    """An answer as it is sent.

    Attributes:
        links: For each number in the text where it stands first, and where it leads.
        citations: What each cited span rests on.
        usage: What its calls used, those that summarised among them.
    """

    query_id: str
    text: str
    links: Sequence[Json] = ()
    citations: Sequence[Json] = ()
    usage: Usage = Usage()


def written(outcome: Outcome, base_url: str) -> Written:
    """Writes an answer: behind each cited span a link to the words that it rests on, and its doubts last."""
    response = outcome.response
    urls = [_url(each, base_url) for each in response.citations]

    # Open WebUI takes the number for that of a link, so there is one link for each place that is cited.
    numbers: dict[str, int] = {}

    def mark_of(mark: Mark) -> str:
        url = urls[mark.citation]
        if url is None:
            return ""
        return f" [[{numbers.setdefault(url, len(numbers) + 1)}]]({url})"

    text = ""
    links: list[Json] = []
    pieces = with_marks(response.answer, response.citations, response.sources, mark_of)
    for piece, mark in pieces:
        if mark is None:
            # No client is to load a picture that a document names.
            text += without_controls(piece).replace("![", r"!\[")
            continue
        if len(links) < len(numbers):
            place = {"start_index": len(text) + 1, "end_index": len(text) + len(piece)}
            title = response.citations[mark.citation].source
            links.append(place | {"url": urls[mark.citation], "title": title})
        text += piece
    notes = [f"{NOTE}{' '.join(doubt.detail.split())}" for doubt in response.indicators]
    if notes:
        text = "\n\n".join([text, "\n>\n".join(notes[:MOST_NOTES])])
    citations = [
        _citation(each, url, response.answer)
        for each, url in zip(response.citations, urls, strict=True)
    ]
    used = response.usage + response.summary_usage
    return Written(outcome.query_id, text, links, citations, used)


def without_marks(text: str) -> str:
    """Returns an answer of ours, as a client sends it back, without its links and notes."""
    before, _, _ = _MARK.sub("", text).partition(f"\n\n{NOTE}")
    return before


def _url(citation: Citation, base_url: str) -> str | None:
    """Returns where the cited words can be read: in the reader, or where what is in no course comes from."""
    if citation.course is None:
        return citation.link
    place = {"course": citation.course}
    if citation.lesson is not None:
        place["lesson"] = str(citation.lesson)
    place["words"] = citation.cited_text[:LINK_WORDS_CHARS]
    return f"{base_url}read?{urlencode(place)}"


def _citation(citation: Citation, url: str | None, answer: str) -> Json:
    claim = answer[citation.start : citation.end]
    return {"claim": claim, "url": url} | msgspec.structs.asdict(citation)


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
            return "The model's reply failed; it is asked again"
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
