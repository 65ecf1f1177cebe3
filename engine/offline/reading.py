"""A Messages API request as a `Task`: a briefing, or a plain transcript of tool calls and their results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from antiphon.engine.offline.shapes import Message, RefusedError, blocks_of, messages_of
from antiphon.engine.offline.task import OfferedTool, Source, Task
from antiphon.language.markup import Attempt, Material, Tag, read_attempts, read_material, unwrap
from antiphon.language.sentences import sentences
from antiphon.vocabulary.ports import Json

MAX_QUESTION = 4000

_EARLIER = re.compile(r"^Question: (.+)$", re.MULTILINE)
_PASSAGE_HEAD = re.compile(r"^\[([^\]\n]{1,300})\]\n", re.MULTILINE)


def read_task(request: Json) -> Task:
    """What the request asks for.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    messages = messages_of(request)
    texts = _said(messages)
    question = _tagged("question", texts) or _last_question(messages)
    conversation = _tagged("conversation", texts)
    earlier = _EARLIER.findall(conversation) if conversation else _earlier_questions(messages)
    return Task(
        question=question[:MAX_QUESTION].strip(),
        earlier=tuple(earlier),
        sources=tuple(_sources(messages)),
        attempts=_written_attempts(texts) or tuple(_transcribed_attempts(messages)),
        tools=_tools(request),
    )


def summary_task(request: Json) -> tuple[str, tuple[Material, ...]] | None:
    """The question and the material of a request for a summary; None where it is none.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    texts = _said(messages_of(request))
    try:
        material = next((found for text in texts if (found := read_material(text))), ())
    except msgspec.MsgspecError:
        return None
    return ((_tagged("question", texts) or "")[:MAX_QUESTION], material) if material else None


def _said(messages: list[Message]) -> list[str]:
    return [str(block["text"]) for message in messages if message.role == "user" for block in _texts(message)]


def _texts(message: Message) -> Iterator[Json]:
    return (block for block in message.blocks if block["type"] == "text")


def _tagged(tag: Tag, texts: list[str]) -> str | None:
    return next((found for text in texts if (found := unwrap(tag, text)) is not None), None)


def _written_attempts(texts: list[str]) -> tuple[Attempt, ...]:
    for text in texts:
        if "<attempts>" in text:
            try:
                return read_attempts(text)
            except msgspec.MsgspecError:
                return ()
    return ()


def _questions(messages: list[Message]) -> list[str]:
    """What the person said, message by message; a message of tool results is none of theirs."""
    asked = []
    for message in messages:
        if message.role == "user" and not any(block["type"] == "tool_result" for block in message.blocks):
            asked.append("\n".join(str(block["text"]) for block in _texts(message)))
    return asked


def _last_question(messages: list[Message]) -> str:
    asked = _questions(messages)
    return asked[-1] if asked else ""


def _earlier_questions(messages: list[Message]) -> list[str]:
    return _questions(messages)[:-1]


def _sources(messages: list[Message]) -> Iterator[Source]:
    """All evidence in the request's own numbering, which runs over messages and tool results."""
    number = 0
    for message in messages:
        for block in message.blocks:
            inner = blocks_of(block.get("content", []), "tool_result") if block["type"] == "tool_result" else [block]
            for part in inner:
                if part["type"] == "search_result":
                    yield _search_result(part, number)
                    number += 1
                elif part["type"] == "text" and block["type"] == "tool_result" and block.get("is_error") is not True:
                    yield from _plain_sources(str(part["text"]))


def _search_result(block: Json, number: int) -> Source:
    source, title = block.get("source"), block.get("title")
    if not isinstance(source, str) or not isinstance(title, str):
        raise RefusedError("search_result: source and title must be strings.")
    content = blocks_of(block.get("content"), "search_result.content")
    return Source(number, source, title, tuple(str(part.get("text", "")) for part in content))


def _plain_sources(text: str) -> Iterator[Source]:
    """Passages out of a tool's plain words, where each stands below its source in brackets."""
    parts = _PASSAGE_HEAD.split(text)
    for source, body in zip(parts[1::2], parts[2::2], strict=True):
        yield Source(None, source, source, tuple(sentences(body.strip())))
    if len(parts) == 1 and text.startswith("Course: "):
        yield Source(None, text.splitlines()[0].removeprefix("Course: "), "", tuple(text.splitlines(keepends=True)))


def _transcribed_attempts(messages: list[Message]) -> Iterator[Attempt]:
    """The attempts of a transcript: each tool call with what the next message answers to it."""
    results = {
        str(block.get("tool_use_id")): block
        for message in messages
        for block in message.blocks
        if block["type"] == "tool_result"
    }
    number = 0
    for message in messages:
        calls = [block for block in message.blocks if message.role == "assistant" and block["type"] == "tool_use"]
        number += bool(calls)
        for call in calls:
            given = call.get("input")
            arguments: dict[str, object] = given if isinstance(given, dict) else {}
            outcome = _outcome(results.get(str(call.get("id")), {}))
            yield Attempt(round=number, tool=str(call.get("name")), arguments=arguments, outcome=outcome)


def _outcome(result: Json) -> Literal["found", "nothing", "failed"]:
    if result.get("is_error") is True or not result:
        return "failed"
    words = "".join(str(part.get("text", "")) for part in blocks_of(result.get("content", []), "tool_result"))
    return "nothing" if words.startswith("Nothing was found") else "found"


def _tools(request: Json) -> tuple[OfferedTool, ...]:
    rows, choice = request.get("tools") or [], request.get("tool_choice") or {}
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows
    ):
        raise RefusedError("tools: a list of tools with names is required.")
    if not isinstance(choice, dict):
        raise RefusedError("tool_choice: an object is required.")
    return () if choice.get("type") == "none" else tuple(_tool(row) for row in rows)


def _tool(row: Json) -> OfferedTool:
    schema = row.get("input_schema")
    if not isinstance(schema, dict):
        raise RefusedError(f"tools: {row['name'][:100]} has no input_schema.")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise RefusedError(f"tools: the input_schema of {row['name'][:100]} is no object schema.")
    parameters = {name: schema for name, schema in properties.items() if isinstance(schema, dict)}
    names = tuple(name for name in required if isinstance(name, str))
    return OfferedTool(row["name"], str(row.get("description") or ""), parameters, names)
