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
from antiphon.language.markup import (
    Attempt,
    Material,
    Tag,
    read_attempts,
    read_material,
    unwrap,
)
from antiphon.language.sentences import sentences
from antiphon.vocabulary.ports import Json

# Bounds of what is read: a request comes from anywhere, and no briefing is near them.
MAX_MESSAGES = 1000
MAX_BLOCKS = 5000
MAX_QUESTION = 4000

_EARLIER = re.compile(r"^Question: (.+)$", re.MULTILINE)
_PASSAGE_HEAD = re.compile(r"^\[([^\]\n]{1,300})\]\n", re.MULTILINE)
_COURSE = "Course: "


class RefusedError(Exception):
    """A request that the Messages API would answer with `invalid_request_error`; the message gives the reason."""


class Message(NamedTuple):
    """One message, its content always as blocks."""

    role: str
    blocks: list[Json]

    def of_kind(self, kind: str) -> list[Json]:
        """Returns its blocks of this type."""
        return [block for block in self.blocks if block["type"] == kind]

    def texts(self) -> list[str]:
        """Returns the texts of its text blocks."""
        return [str(block["text"]) for block in self.of_kind("text")]


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
        request: Json = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError("The request body is not valid JSON.") from error
    _require(isinstance(request, dict), "The request body must be a JSON object.")
    model = request.get("model")
    _require(isinstance(model, str) and model != "", "model: a string is required.")
    limit = request.get("max_tokens")
    # By its type, since `true` is an integer to isinstance.
    _require(
        type(limit) is int and limit >= 1,
        "max_tokens: an integer of at least 1 is required.",
    )
    _require(
        isinstance(request.get("stream", False), bool), "stream: must be true or false."
    )
    return request


def _require(fits: bool, sentence: str) -> None:
    if not fits:
        raise RefusedError(sentence)


def read_task(request: Json) -> Task:
    """Returns what the request asks for.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    messages = _messages(request)
    texts = _user_texts(messages)
    # Without tags the request is a plain transcript, in which the last question is the one to answer.
    earlier = _questions(messages)
    question = ""
    if earlier:
        question = earlier.pop()
    tagged_question = _tagged("question", texts)
    if tagged_question:
        question = tagged_question
    conversation = _tagged("conversation", texts)
    if conversation:
        earlier = _EARLIER.findall(conversation)
    # Before the attempts: of a request that is wrong in two places the evidence is refused first.
    sources = tuple(_sources(messages))
    attempts = _written_attempts(texts)
    if not attempts:
        attempts = tuple(_transcribed_attempts(messages))
    return Task(
        question=question[:MAX_QUESTION].strip(),
        earlier=tuple(earlier),
        sources=sources,
        attempts=attempts,
        tools=_tools(request),
    )


def summary_task(request: Json) -> SummaryTask | None:
    """Returns the question and the material of a request for a summary; None where it is none.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    texts = _user_texts(_messages(request))
    for text in texts:
        try:
            material = read_material(text)
        except msgspec.MsgspecError:
            return None  # It only looks like material of ours.
        if material:
            question = _tagged("question", texts) or ""
            return SummaryTask(question[:MAX_QUESTION], material)
    return None


def _messages(request: Json) -> list[Message]:
    rows = request.get("messages")
    if not isinstance(rows, list) or not rows:
        raise RefusedError("messages: a list of at least one message is required.")
    _require(
        len(rows) <= MAX_MESSAGES,
        f"messages: at most {MAX_MESSAGES} messages are taken.",
    )
    messages: list[Message] = []
    for at, row in enumerate(rows):
        is_message = isinstance(row, dict) and row.get("role") in ("user", "assistant")
        _require(is_message, f"messages.{at}.role: must be user or assistant.")
        blocks = _blocks(row.get("content"), f"messages.{at}.content")
        messages.append(Message(row["role"], blocks))
    _require(
        messages[0].role == "user",
        "messages: the first message must have the role user.",
    )
    return messages


def _blocks(content: object, where: str) -> list[Json]:
    """Returns content as a list of blocks; a plain string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list) or len(content) > MAX_BLOCKS:
        raise RefusedError(
            f"{where}: a string or a list of at most {MAX_BLOCKS} content blocks is required."
        )
    for at, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str):
            raise RefusedError(
                f"{where}.{at}: a content block with a type is required."
            )
        if kind == "text":
            _require(
                isinstance(block.get("text"), str),
                f"{where}.{at}.text: a string is required.",
            )
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
    """Returns the attempts of a briefing; none where what stands in the tag is not ours to read."""
    for text in texts:
        if "<attempts>" not in text:
            continue
        try:
            return read_attempts(text)
        except msgspec.MsgspecError:
            return ()
    return ()


def _questions(messages: Sequence[Message]) -> list[str]:
    """Returns the person's questions, message by message; a message of tool results is none of theirs."""
    asked: list[str] = []
    for message in messages:
        if message.role == "user" and not message.of_kind("tool_result"):
            asked.append("\n".join(message.texts()))
    return asked


def _sources(messages: Sequence[Message]) -> Iterator[Source]:
    """Yields all evidence in the request's own numbering, which runs over messages and tool results."""
    number = 0
    for block, in_result in _evidence_blocks(messages):
        if block["type"] == "search_result":
            yield _search_result(block, number)
            number += 1
        elif block["type"] == "text" and in_result:
            yield from _plain_sources(str(block["text"]))


def _evidence_blocks(messages: Sequence[Message]) -> Iterator[tuple[Json, bool]]:
    """Yields the blocks that may be evidence, those within tool results too, each with True where a tool wrote it."""
    for message in messages:
        for block in message.blocks:
            if block["type"] != "tool_result":
                yield block, False
                continue
            # The words of a failed tool are an error's, but search results are numbered wherever they stand.
            succeeded = block.get("is_error") is not True
            for part in _blocks(block.get("content", []), "tool_result"):
                yield part, succeeded


def _search_result(block: Json, number: int) -> Source:
    source = block.get("source")
    title = block.get("title")
    if not isinstance(source, str) or not isinstance(title, str):
        raise RefusedError("search_result: source and title must be strings.")
    sentences_of_result: list[str] = []
    for part in _blocks(block.get("content"), "search_result.content"):
        sentences_of_result.append(str(part.get("text", "")))
    return Source(number, source, title, tuple(sentences_of_result))


def _plain_sources(text: str) -> Iterator[Source]:
    """Yields passages out of a tool's plain words, where each stands below its source in brackets."""
    heads = list(_PASSAGE_HEAD.finditer(text))
    # A passage ends where the next one's head begins, the last at the end of the text.
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        body = text[head.end() : end].strip()
        yield Source(None, head[1], head[1], tuple(sentences(body)))
    if not heads and text.startswith(_COURSE):
        course = text.splitlines()[0].removeprefix(_COURSE)
        yield Source(None, course, "", tuple(text.splitlines(keepends=True)))


def _transcribed_attempts(messages: Sequence[Message]) -> Iterator[Attempt]:
    """Yields the attempts of a transcript: each tool call with what the next message answers to it."""
    results: dict[str, Json] = {}
    for message in messages:
        for result in message.of_kind("tool_result"):
            results[str(result.get("tool_use_id"))] = result
    round_number = 0
    for message in messages:
        calls = message.of_kind("tool_use")
        if message.role != "assistant" or not calls:
            continue
        round_number += 1
        for call in calls:
            yield _attempt(call, results.get(str(call.get("id")), {}), round_number)


def _attempt(call: Json, result: Json, round_number: int) -> Attempt:
    arguments = call.get("input")
    if not isinstance(arguments, dict):
        arguments = {}
    return Attempt(
        round=round_number,
        tool=str(call.get("name")),
        arguments=arguments,
        outcome=_outcome(result),
    )


def _outcome(result: Json) -> Literal["found", "nothing", "failed"]:
    # A call without a result was interrupted.
    if result.get("is_error") is True or not result:
        return "failed"
    words = ""
    for part in _blocks(result.get("content", []), "tool_result"):
        words += str(part.get("text", ""))
    if words.startswith("Nothing was found"):
        return "nothing"
    return "found"


def _tools(request: Json) -> tuple[OfferedTool, ...]:
    rows = request.get("tools") or []
    choice = request.get("tool_choice") or {}
    _require(isinstance(rows, list), "tools: a list of tools with names is required.")
    _require(isinstance(choice, dict), "tool_choice: an object is required.")
    # All names before any schema, which is not even read where no tool may be called.
    for row in rows:
        is_named = isinstance(row, dict) and isinstance(row.get("name"), str)
        _require(is_named, "tools: a list of tools with names is required.")
    if choice.get("type") == "none":
        return ()
    return tuple([_tool(row) for row in rows])


def _tool(row: Json) -> OfferedTool:
    name: str = row["name"]
    schema = row.get("input_schema")
    if not isinstance(schema, dict):
        raise RefusedError(f"tools: {name[:100]} has no input_schema.")
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise RefusedError(
            f"tools: the input_schema of {name[:100]} is no object schema."
        )
    return OfferedTool(
        name=name,
        description=str(row.get("description") or ""),
        parameters=_parameters(properties),
        required=tuple(
            [parameter for parameter in required if isinstance(parameter, str)]
        ),
    )


def _parameters(properties: Json) -> dict[str, dict[str, object]]:
    parameters: dict[str, dict[str, object]] = {}
    for name, schema in properties.items():
        # The schemas `true` and `false` are legal too, and say nothing about a parameter.
        if isinstance(schema, dict):
            parameters[name] = schema
    return parameters
