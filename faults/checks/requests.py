"""Checks that every request is one that the Messages API accepts; written apart from the engine that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from antiphon.faults.results import Run
from antiphon.vocabulary.events import ReasoningStarted
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request


def requests_are_legal(run: Run) -> Iterator[str]:
    """The server would refuse no request."""
    for event in run.events(ReasoningStarted):
        for wrong in refusals(event.request):
            yield f"{event.call_id}: {wrong}"


def refusals(request: Request) -> Iterator[str]:
    """Yields what the server would refuse in a request, in words."""
    if request.max_tokens < 1 or not request.model:
        yield "no model, or no room for a reply"
    yield from _wrong_roles(request)
    blocks = _blocks(request)
    yield from _wrong_texts(blocks)
    yield from _wrong_sources(blocks)
    yield from _wrong_results(blocks)
    yield from _wrong_tools(request)


def _wrong_roles(request: Request) -> Iterator[str]:
    if not request.messages or request.messages[0].role != "user":
        yield "the first message is not the user's"
    for message, following in pairwise(request.messages):
        if message.role == following.role:
            yield "two messages on end have the same role"
            return


def _blocks(request: Request) -> list[Json]:
    blocks: list[Json] = []
    for message in request.messages:
        blocks += [msgspec.json.decode(block.text) for block in message.content]
    return blocks


def _of_type(blocks: list[Json], kind: str) -> list[Json]:
    return [block for block in blocks if block["type"] == kind]


def _wrong_texts(blocks: list[Json]) -> Iterator[str]:
    if not blocks:
        yield "a message without content"
    for block in _of_type(blocks, "text"):
        if not block["text"].strip():
            yield "an empty text block"
            return


def _wrong_sources(blocks: list[Json]) -> Iterator[str]:
    cited: set[bool] = set()
    for source in _of_type(blocks, "search_result"):
        cited.add(bool(source.get("citations", {}).get("enabled")))
        if not (source["content"] and source["source"] and source["title"]):
            yield "a source without content, name or title"
    # The API takes citations on all sources or on none.
    if len(cited) > 1:
        yield "citations are on for some sources only"


def _wrong_results(blocks: list[Json]) -> Iterator[str]:
    """Each tool call is answered exactly once."""
    calls = {block["id"] for block in _of_type(blocks, "tool_use")}
    # A list, since a call that is answered twice is refused as well.
    results = [block["tool_use_id"] for block in _of_type(blocks, "tool_result")]
    if calls != set(results) or len(results) != len(set(results)):
        yield "tool calls and tool results do not match"


def _wrong_tools(request: Request) -> Iterator[str]:
    tools: list[Json] = msgspec.json.decode(request.tools.text) if request.tools else []
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield "two tools have the same name"
    if request.tool_choice and not tools:
        yield "a tool choice without tools"
