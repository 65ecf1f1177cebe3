"""Reads a Messages API request into a `Task`, or into the material of a summary.

The request may be a briefing, or a plain transcript of tool calls and their results. One without the API's shape is
refused with a sentence, never with another kind of exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from antiphon.engine.offline.shapes import (
    Block,
    Messages,
    RefusedError,
    SearchResultBlock,
    TextBlock,
    ToolResultBlock,
    Tools,
    ToolUseBlock,
    blocks_of,
    shaped,
)
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

MAX_QUESTION = 4000

_EARLIER = re.compile(r"^Question: (.+?)(?: \(Answered: |$)", re.MULTILINE)
_PASSAGE_HEAD = re.compile(r"^\[([^\]\n]{1,300})\]\n", re.MULTILINE)
_COURSE = "Course: "
# A page or time after a title is nothing to search for, unlike a heading.
_PAGE_OR_TIME = re.compile(
    r"(?:, | \u2013 )(?:page \d|slide \d|cell \d|at \d+:\d)[\w: \u2013]{0,100}$"
)


class Message(NamedTuple):
    """One message, with its content always as blocks."""

    role: str
    blocks: list[Block]

    def texts(self) -> list[str]:
        """Returns the texts of its text blocks."""
        return [block.text for block in self.blocks if isinstance(block, TextBlock)]

    def results(self) -> list[ToolResultBlock]:
        """Returns its tool results."""
        return [block for block in self.blocks if isinstance(block, ToolResultBlock)]

    def calls(self) -> list[ToolUseBlock]:
        """Returns its tool calls."""
        return [block for block in self.blocks if isinstance(block, ToolUseBlock)]


class SummaryTask(NamedTuple):
    """A request for a summary: the question, and the material to sum up."""

    question: str
    material: tuple[Material, ...]


def read_task(request: Json) -> Task:
    """Reads the task in a request.

    Raises:
        RefusedError: The request does not have the API's shape.
    """
    messages = _messages(request)
    texts = _user_texts(messages)
    # Without tags the request is a plain transcript, in which the last question is the one to answer.
    earlier = _questions(messages)
    last = earlier.pop() if earlier else ""
    question = _tagged("question", texts) or last
    conversation = _tagged("conversation", texts) or ""
    if conversation:
        earlier = _EARLIER.findall(conversation)
    # Before the attempts, so that of two faults in a request the one in the evidence is refused first.
    sources = tuple(_sources(messages))
    attempts = _written_attempts(texts) or tuple(_transcribed_attempts(messages))
    return Task(
        question=question[:MAX_QUESTION].strip(),
        earlier=tuple(earlier),
        conversation=conversation.strip(),
        sources=sources,
        attempts=attempts,
        tools=_tools(request),
    )


def summary_task(request: Json) -> SummaryTask | None:
    """Returns the question and the material of a request for a summary; None for any other request.

    Raises:
        RefusedError: The request is not of the API's shape.
    """
    texts = _user_texts(_messages(request))
    for text in texts:
        try:
            material = read_material(text)
        except msgspec.MsgspecError:
            return None  # It only looks like our material.
        if material:
            question = _tagged("question", texts) or ""
            return SummaryTask(question[:MAX_QUESTION], material)
    return None


def _messages(request: Json) -> list[Message]:
    messages = [
        Message(row.role, blocks_of(row.content))
        for row in shaped(request, Messages).messages
    ]
    if messages[0].role != "user":
        raise RefusedError("messages: the first message must have the role user.")
    return messages


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
    """Returns the attempts in a briefing; empty if the content of the tag is not in our form."""
    for text in texts:
        if "<attempts>" not in text:
            continue
        try:
            return read_attempts(text)
        except msgspec.MsgspecError:
            return ()
    return ()


def _questions(messages: Sequence[Message]) -> list[str]:
    """Returns the user's questions, message by message, skipping messages of tool results."""
    return [
        "\n".join(message.texts())
        for message in messages
        if message.role == "user" and not message.results()
    ]


def _sources(messages: Sequence[Message]) -> Iterator[Source]:
    """Yields all evidence in the order of the request's numbering, which covers messages and tool results."""
    number = 0
    for block, in_result in _evidence_blocks(messages):
        if isinstance(block, SearchResultBlock):
            title = _PAGE_OR_TIME.sub("", block.title)
            yield Source(number, block.source, title, _texts_of(block))
            number += 1
        elif isinstance(block, TextBlock) and in_result:
            yield from _plain_sources(block.text)


def _texts_of(result: SearchResultBlock) -> tuple[str, ...]:
    if isinstance(result.content, str):
        return (result.content,)
    return tuple([part.text for part in result.content])


def _evidence_blocks(messages: Sequence[Message]) -> Iterator[tuple[Block, bool]]:
    """Yields the blocks that may be evidence, including those in tool results, each with True if a tool wrote it."""
    for message in messages:
        for block in message.blocks:
            if not isinstance(block, ToolResultBlock):
                yield block, False
                continue
            for part in blocks_of(block.content):
                # The words of a failed tool are an error message, but all search results take part in the numbering.
                yield part, not block.is_error


def _plain_sources(text: str) -> Iterator[Source]:
    """Yields the passages in a tool's plain words, in which each follows its source in brackets."""
    heads = list(_PASSAGE_HEAD.finditer(text))
    # A passage ends at the head of the next one, the last at the end of the text.
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        body = text[head.end() : end].strip()
        yield Source(None, head[1], head[1], tuple(sentences(body)))
    if not heads and text.startswith(_COURSE):
        course = text.splitlines()[0].removeprefix(_COURSE)
        yield Source(None, course, "", tuple(text.splitlines(keepends=True)))


def _transcribed_attempts(messages: Sequence[Message]) -> Iterator[Attempt]:
    """Yields the attempts in a transcript: each tool call with its result in the next message."""
    results: dict[str, ToolResultBlock] = {}
    for message in messages:
        for result in message.results():
            results[result.tool_use_id] = result
    round_number = 0
    for message in messages:
        if message.role == "assistant" and message.calls():
            round_number += 1
            for call in message.calls():
                yield Attempt(
                    round=round_number,
                    tool=call.name,
                    arguments=call.input,
                    outcome=_outcome(results.get(call.id)),
                )


def _outcome(
    result: ToolResultBlock | None,
) -> Literal["found", "nothing", "failed"]:
    # A call without a result was interrupted.
    if result is None or result.is_error:
        return "failed"
    for part in blocks_of(result.content):
        if isinstance(part, TextBlock):
            if part.text.startswith("Nothing was found"):
                return "nothing"
            break
    return "found"


def _tools(request: Json) -> tuple[OfferedTool, ...]:
    offer = shaped(request, Tools)
    if offer.tool_choice is not None and offer.tool_choice.get("type") == "none":
        return ()
    tools: list[OfferedTool] = []
    for tool in offer.tools or ():
        parameters = {
            name: schema
            for name, schema in tool.input_schema.properties.items()
            if isinstance(schema, dict)
        }
        tools.append(
            OfferedTool(
                name=tool.name,
                description=tool.description or "",
                parameters=parameters,
                required=tuple(tool.input_schema.required),
            )
        )
    return tuple(tools)
