"""The content of questions, requests, finds and answers as attributes of spans, only if the settings ask for it.

Messages, tool definitions and documents follow the JSON schemas of the conventions (`model/gen-ai/*.json` there),
encoded as text because the SDK takes no nested attributes. Every size is bounded: spans wait in memory, and collectors
refuse large ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from antiphon.telemetry import conventions as c
from antiphon.telemetry.identifiers import identifier
from antiphon.telemetry.spans import Attributes, finish_reason
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.values import Passage, Request, StoredText

ATTRIBUTE_BYTES = 64_000
"""Most bytes of one attribute; one that cannot be cut to that size is left out."""
TEXT_CHARS = (8_000, 2_000, 500, 125)
"""Most characters of each text; the next bound applies if the attribute is still too large. The cut is marked."""

Json = dict[str, Any]


def content_of(event: Event) -> Attributes:
    """Returns the content of an event as attributes; none for an event that puts no content on its span."""
    return _bounded(_said(event))


def retrieval_of(asked: e.ToolRequested, found: e.ToolSucceeded) -> Attributes:
    """Returns the query and the passages of a tool call, as attributes."""
    said: Json = {c.RETRIEVAL_DOCUMENTS: [_document(each) for each in found.passages]}
    match _plain(asked.call.arguments):
        case {"query": str(query)}:
            said[c.RETRIEVAL_QUERY] = query
    return _bounded(said)


def _said(event: Event) -> Json:
    match event:
        case e.QueryReceived(query=question):
            message = {"role": "user", "parts": [_text_part(question)]}
            return {c.INPUT_MESSAGES: [message], c.INPUT_VALUE: question}
        case e.ReasoningStarted(request=request):
            return _request(request)
        case e.ReasoningCompleted() | e.SummaryCompleted():
            reply = _output(_parts(event.content), finish_reason(event.stop_reason))
            return {c.OUTPUT_MESSAGES: [reply]}
        case e.ToolRequested(call=call):
            return {c.TOOL_ARGUMENTS: call.arguments}
        case e.ToolSucceeded(output=output):
            return {c.TOOL_RESULT: output.text}
        case e.ToolFailed(detail=detail):
            # The model gets it as the call's result.
            return {c.TOOL_RESULT: detail}
        case e.ResponseAssembled(answer=answer):
            message = _output([_text_part(answer)], "stop")
            return {c.OUTPUT_MESSAGES: [message], c.OUTPUT_VALUE: answer}
    return {}


def _request(request: Request) -> Json:
    messages: list[Json] = []
    for message in request.messages:
        parts: list[Json] = []
        for part in _parts(message.content):
            # The Messages API puts tool results into a user's message; the conventions have a role for them.
            if part["type"] == "tool_call_response":
                messages.append({"role": "tool", "parts": [part]})
            else:
                parts.append(part)
        if parts:
            messages.append({"role": message.role, "parts": parts})
    system = list(map(_part, _plain(request.system.text)))
    said: Json = {c.SYSTEM: system, c.INPUT_MESSAGES: messages}
    if request.tools is not None:
        said[c.TOOL_DEFINITIONS] = list(map(_definition, _plain(request.tools.text)))
    return said


def _definition(tool: Json) -> Json:
    about = {"description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "name": tool["name"], **about}


def _document(passage: Passage) -> Json:
    # The schema names only id and score, and allows more; viewers of traces look for content and metadata.
    names = ("source", "title", "place", "link")
    metadata = {name: getattr(passage, name) for name in names}
    about = {"content": passage.text.text, "metadata": metadata}
    return {"id": passage.id, "score": passage.score, **about}


def _output(parts: list[Json], finish: str) -> Json:
    # Since v0.1.0 of the conventions the reason is optional here, but Phoenix reads no message without it.
    return {"role": "assistant", "parts": parts, "finish_reason": finish}


def _parts(blocks: Iterable[StoredText]) -> list[Json]:
    return [_part(_plain(block.text)) for block in blocks]


def _part(block: Any) -> Json:
    """Converts a content block of the Messages API to a message part of the conventions."""
    # Redaction leaves names and ids alone, so a value that does not look like one must not pass for one.
    match block:
        case {"type": "text" | "search_result"}:
            return _text_part(_words(block))
        case {"type": "thinking", "thinking": thought}:
            return {"type": "reasoning", "content": thought}
        case {"type": "tool_use", "id": str(call), "name": str(name), "input": given}:
            about = {"id": identifier(call), "name": identifier(name)}
            return {"type": "tool_call", **about, "arguments": given}
        case {"type": "tool_result", "tool_use_id": str(call), "content": content}:
            about = {"id": identifier(call), "response": _words(content)}
            return {"type": "tool_call_response", **about}
        case {"type": str(kind)}:
            return {"type": identifier(kind)}
    return _text_part(str(block))


def _text_part(text: str) -> Json:
    return {"type": "text", "content": text}


def _words(content: Any) -> str:
    """Returns the text of content blocks; a source's text begins with its name."""
    match content:
        case str():
            return content
        case list():
            return "".join(map(_words, content))
        case {"type": "search_result", "source": source, "content": sentences}:
            return f"[{source}]\n{_words(sentences)}\n\n"
        case {"text": str(text)}:
            return text
    return ""


def _plain(text: str) -> Any:
    """Decodes a JSON text; returns the text itself if it is not JSON, such as the end of a cut-off reply."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _bounded(said: Json) -> Attributes:
    texts = {name: _fitting(value) for name, value in said.items()}
    return {name: text for name, text in texts.items() if text}


def _fitting(value: Any) -> str:
    """Returns a text, cut, or anything else as JSON; an empty text if it cannot be made small enough."""
    if isinstance(value, str):
        return str(_cut(value, TEXT_CHARS[0]))
    for most in TEXT_CHARS:
        try:
            encoded = msgspec.json.encode(_cut(value, most))
        except RecursionError:
            # Cutting the texts shorter makes nothing less deeply nested.
            break
        if len(encoded) <= ATTRIBUTE_BYTES:
            return encoded.decode()
    return ""


def _cut(value: Any, most: int) -> Any:
    match value:
        case str() if len(value) > most:
            return f"{value[:most]}… [{len(value) - most} more characters]"
        case list():
            return [_cut(each, most) for each in value]
        case dict():
            return {name: _cut(each, most) for name, each in value.items()}
    return value
