"""Reads a Messages API request: its shape is checked, and it becomes a `Task` or the material of a summary.

The request may be a briefing, or a plain transcript of tool calls and their results. One that is not of the API's shape
is refused with a sentence, never with an exception of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from antiphon.engine.offline.task import OfferedTool, Source, Task
from antiphon.language.markup import Attempt, Material, Tag, read_attempts, read_material, unwrap
from antiphon.language.sentences import sentences
from antiphon.vocabulary.ports import Json

MAX_MESSAGES = 1000
MAX_BLOCKS = 5000
MAX_QUESTION = 4000

_EARLIER = re.compile(r"^Question: (.+)$", re.MULTILINE)
_PASSAGE_HEAD = re.compile(r"^\[([^\]\n]{1,300})\]\n", re.MULTILINE)
_COURSE = "Course: "


class RefusedError(Exception):
    """A request that the Messages API would answer with `invalid_request_error`; the message says why."""


class Message(NamedTuple):
    """One message, its content always as blocks."""

    role: str
    blocks: list[Json]

    def texts(self) -> list[str]:
        """Returns the texts of its text blocks."""
        return [str(block["text"]) for block in self.blocks if block["type"] == "text"]


class SummaryTask(NamedTuple):
    """A request for a summary: the question, and what is to be summed up."""

    question: str
    material: tuple[Material, ...]


def parse(body: bytes) -> Json:
    """Returns the body's JSON object, its top-level fields of the right types.

    Raises:
        RefusedError: It is no such object.
    """
    try:
        request = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError("The request body is not valid JSON.") from error
    if not isinstance(request, dict):
        raise RefusedError("The request body must be a JSON object.")
    if not (isinstance(request.get("model"), str) and request["model"]):
        raise RefusedError("model: a string is required.")
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise RefusedError("max_tokens: an integer of at least 1 is required.")
    if not isinstance(request.get("stream", False), bool):
        raise RefusedError("stream: must be true or false.")
    return request


def read_task(request: Json) -> Task:
    """Returns what the request asks for.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    messages = _messages(request)
    texts = _user_texts(messages)
    asked = _questions(messages) or [""]
    conversation = _tagged("conversation", texts)
    question = _tagged("question", texts) or asked[-1]
    earlier = _EARLIER.findall(conversation) if conversation else asked[:-1]
    return Task(
        question=question[:MAX_QUESTION].strip(),
        earlier=tuple(earlier),
        sources=tuple(_sources(messages)),
        attempts=_written_attempts(texts) or tuple(_transcribed_attempts(messages)),
        tools=_tools(request),
    )


def summary_task(request: Json) -> SummaryTask | None:
    """Returns the question and the material of a request for a summary; None where it is none.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    texts = _user_texts(_messages(request))
    try:
        for text in texts:
            if material := read_material(text):
                question = _tagged("question", texts) or ""
                return SummaryTask(question[:MAX_QUESTION], material)
    except msgspec.MsgspecError:
        pass  # it only looks like material of ours
    return None


def _messages(request: Json) -> list[Message]:
    rows = request.get("messages")
    if not isinstance(rows, list) or not rows:
        raise RefusedError("messages: a list of at least one message is required.")
    if len(rows) > MAX_MESSAGES:
        raise RefusedError(f"messages: at most {MAX_MESSAGES} messages are taken.")
    messages: list[Message] = []
    for at, row in enumerate(rows):
        if not isinstance(row, dict) or row.get("role") not in ("user", "assistant"):
            raise RefusedError(f"messages.{at}.role: must be user or assistant.")
        messages.append(Message(row["role"], _blocks(row.get("content"), f"messages.{at}.content")))
    if messages[0].role != "user":
        raise RefusedError("messages: the first message must have the role user.")
    return messages


def _blocks(content: object, where: str) -> list[Json]:
    """Content as a list of blocks; a plain string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list) or len(content) > MAX_BLOCKS:
        raise RefusedError(f"{where}: a string or a list of at most {MAX_BLOCKS} content blocks is required.")
    for at, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise RefusedError(f"{where}.{at}: a content block with a type is required.")
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            raise RefusedError(f"{where}.{at}.text: a string is required.")
    return content


def _user_texts(messages: Sequence[Message]) -> list[str]:
    texts: list[str] = []
    for message in messages:
        if message.role == "user":
            texts += message.texts()
    return texts


def _tagged(tag: Tag, texts: Sequence[str]) -> str | None:
    for text in texts:
        found = unwrap(tag, text)
        if found is not None:
            return found
    return None


def _written_attempts(texts: Sequence[str]) -> tuple[Attempt, ...]:
    for text in texts:
        if "<attempts>" in text:
            try:
                return read_attempts(text)
            except msgspec.MsgspecError:
                return ()
    return ()


def _questions(messages: Sequence[Message]) -> list[str]:
    """The person's questions, message by message; a message of tool results is none of theirs."""
    asked: list[str] = []
    for message in messages:
        if message.role == "user" and not any(block["type"] == "tool_result" for block in message.blocks):
            asked.append("\n".join(message.texts()))
    return asked


def _sources(messages: Sequence[Message]) -> Iterator[Source]:
    """All evidence in the request's own numbering, which runs over messages and tool results."""
    number = 0
    for block, in_result in _evidence_blocks(messages):
        if block["type"] == "search_result":
            yield _search_result(block, number)
            number += 1
        elif block["type"] == "text" and in_result:
            yield from _plain_sources(str(block["text"]))


def _evidence_blocks(messages: Sequence[Message]) -> Iterator[tuple[Json, bool]]:
    """The blocks that may be evidence, those within tool results too, each with True where a tool said it."""
    for message in messages:
        for block in message.blocks:
            if block["type"] == "tool_result":
                # The words of a failed tool are an error's, but search results are numbered wherever they stand.
                succeeded = block.get("is_error") is not True
                for part in _blocks(block.get("content", []), "tool_result"):
                    yield part, succeeded
            else:
                yield block, False


def _search_result(block: Json, number: int) -> Source:
    source, title = block.get("source"), block.get("title")
    if not isinstance(source, str) or not isinstance(title, str):
        raise RefusedError("search_result: source and title must be strings.")
    content = _blocks(block.get("content"), "search_result.content")
    return Source(number, source, title, tuple([str(part.get("text", "")) for part in content]))


def _plain_sources(text: str) -> Iterator[Source]:
    """Passages out of a tool's plain words, where each stands below its source in brackets."""
    parts = _PASSAGE_HEAD.split(text)
    for source, body in zip(parts[1::2], parts[2::2], strict=True):
        yield Source(None, source, source, tuple(sentences(body.strip())))
    if len(parts) == 1 and text.startswith(_COURSE):
        course = text.splitlines()[0].removeprefix(_COURSE)
        yield Source(None, course, "", tuple(text.splitlines(keepends=True)))


def _transcribed_attempts(messages: Sequence[Message]) -> Iterator[Attempt]:
    """The attempts of a transcript: each tool call with what the next message answers to it."""
    results = _results_by_call(messages)
    round_ = 0
    for message in messages:
        calls = [block for block in message.blocks if block["type"] == "tool_use"]
        if message.role != "assistant" or not calls:
            continue
        round_ += 1
        for call in calls:
            given = call.get("input")
            yield Attempt(
                round=round_,
                tool=str(call.get("name")),
                arguments=given if isinstance(given, dict) else {},
                outcome=_outcome(results.get(str(call.get("id")), {})),
            )


def _results_by_call(messages: Sequence[Message]) -> dict[str, Json]:
    results: dict[str, Json] = {}
    for message in messages:
        for block in message.blocks:
            if block["type"] == "tool_result":
                results[str(block.get("tool_use_id"))] = block
    return results


def _outcome(result: Json) -> Literal["found", "nothing", "failed"]:
    if result.get("is_error") is True or not result:
        return "failed"
    parts = _blocks(result.get("content", []), "tool_result")
    words = "".join([str(part.get("text", "")) for part in parts])
    return "nothing" if words.startswith("Nothing was found") else "found"


def _tools(request: Json) -> tuple[OfferedTool, ...]:
    rows = request.get("tools") or []
    choice = request.get("tool_choice") or {}
    if not isinstance(rows, list):
        raise RefusedError("tools: a list of tools with names is required.")
    if not isinstance(choice, dict):
        raise RefusedError("tool_choice: an object is required.")
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            raise RefusedError("tools: a list of tools with names is required.")
    if choice.get("type") == "none":
        return ()
    return tuple([_tool(row) for row in rows])


def _tool(row: Json) -> OfferedTool:
    schema = row.get("input_schema")
    if not isinstance(schema, dict):
        raise RefusedError(f"tools: {row['name'][:100]} has no input_schema.")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise RefusedError(f"tools: the input_schema of {row['name'][:100]} is no object schema.")
    return OfferedTool(
        name=row["name"],
        description=str(row.get("description") or ""),
        parameters={name: parameter for name, parameter in properties.items() if isinstance(parameter, dict)},
        required=tuple([name for name in required if isinstance(name, str)]),
    )
