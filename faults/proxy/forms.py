"""The three protocols of the proxy: each reads a reply as content blocks, makes one from blocks, and streams it.

Blocks are those of the Messages API, so that the replies of all protocols can be made wrong in the same ways
(`faults/ports/replies.py`). Other parts of a reply than text and tool calls are passed on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from antiphon.engine import delta_events, sse_of
from antiphon.faults.ports.calls import places_of
from antiphon.faults.ports.replies import piece_chars
from antiphon.vocabulary.ports import Json

Blocks = Sequence[Json]
Stream = Iterator[tuple[bytes, Sequence[str]]]
"""The pieces of a stream, each with its places among the points `model.stream.`."""
UNREADABLE = (LookupError, TypeError, AttributeError, ValueError)
"""The errors of reading something that is not a reply."""


class Form(NamedTuple):
    """One protocol.

    Attributes:
        field: The field of a reply that only this protocol has.
        blocks: Returns the blocks of a reply.
        holding: Returns a reply with these blocks and this stop reason.
        stream: Yields a reply as a stream.
    """

    field: str
    blocks: Callable[[Json], Blocks]
    holding: Callable[[Json, Blocks, str], Json]
    stream: Callable[[Json], Stream]


def _asked(block: Json) -> Json:
    """Returns the name and arguments of a tool call in OpenAI's form, with the arguments as a string."""
    given = block["input"]
    arguments = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    return {"name": block["name"], "arguments": arguments}


def _call(call_id: str, asked: Json) -> Json:
    given = asked["arguments"]
    return {"type": "tool_use", "id": call_id, "name": asked["name"], "input": given}


def _message_holding(message: Json, blocks: Blocks, stop: str) -> Json:
    return message | {"content": blocks, "stop_reason": stop}


def _message_stream(message: Json) -> Stream:
    for event in delta_events(message, piece_chars(message["content"])):
        yield sse_of(event), places_of(event)


_FINISH = {"max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}  # fmt: skip


def _chat_blocks(completion: Json) -> Blocks:
    message = completion["choices"][0]["message"]
    blocks: list[Json] = []
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or ():
        blocks.append(_call(call["id"], call["function"]))
    return blocks


def _chat_holding(completion: Json, blocks: Blocks, stop: str) -> Json:
    # Unlike the Messages API, a chat completion has one text before all its calls.
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [
        {"id": block["id"], "type": "function", "function": _asked(block)}
        for block in blocks
        if block["type"] == "tool_use"
    ]
    choice = completion["choices"][0]
    said = choice["message"] | {"content": text or None, "tool_calls": calls or None}
    ended = {"message": said, "finish_reason": _FINISH.get(stop, "stop")}
    return completion | {"choices": [choice | ended]}


def _chat_stream(completion: Json) -> Stream:
    choice = completion["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    begins = ["before_first_token"]
    if message.get("content"):
        begins.append("in_text")
    yield _chunk(completion, message | {"tool_calls": None}), begins
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield (
            _chunk(completion, {"tool_calls": [{"index": index} | call]}),
            ["in_tool_json"],
        )
    usage = completion.get("usage")
    yield _chunk(completion, {}, finish_reason=finish, usage=usage), ["before_end"]
    yield b"data: [DONE]\n\n", []


def _chunk(
    completion: Json, delta: Json, finish_reason: object = None, usage: object = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {"object": "chat.completion.chunk", "choices": [choice], "usage": usage}
    return b"data: %s\n\n" % msgspec.json.encode(completion | chunk)


_INCOMPLETE = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}


def _response_blocks(response: Json) -> Blocks:
    blocks: list[Json] = []
    for item in response["output"]:
        if item["type"] == "message":
            texts = [part.get("text", "") for part in item["content"]]
            blocks.append({"type": "text", "text": "".join(texts)})
        elif item["type"] == "function_call":
            blocks.append(_call(item["call_id"], item))
        else:
            blocks.append(item)
    return blocks


def _response_holding(response: Json, blocks: Blocks, stop: str) -> Json:
    held: Json = {
        "output": [_item(block, f"item_{at}") for at, block in enumerate(blocks)]
    }
    if stop in _INCOMPLETE:
        details = {"reason": _INCOMPLETE[stop]}
        held |= {"status": "incomplete", "incomplete_details": details}
    return response | held


def _item(block: Json, item_id: str) -> Json:
    common = {"id": item_id, "status": "completed"}
    if block["type"] == "tool_use":
        called = {"type": "function_call", "call_id": block["id"]}
        return common | called | _asked(block)
    if block["type"] == "text":
        part = {"type": "output_text", "text": block["text"], "annotations": []}
        return common | {"type": "message", "role": "assistant", "content": [part]}
    return block


def _response_stream(response: Json) -> Stream:
    def event(kind: str, **fields: object) -> bytes:
        return sse_of({"type": f"response.{kind}"} | fields)

    begun = response | {"status": "in_progress", "output": []}
    yield event("created", response=begun), []
    for index, item in enumerate(response["output"]):
        at = {"output_index": index, "item_id": item.get("id"), "content_index": 0}
        is_call = item["type"] == "function_call"
        empty: Json = {"arguments": ""} if is_call else {"content": []}
        added = item | {"status": "in_progress"} | empty
        yield event("output_item.added", item=added, **at), ["before_first_token"]
        if is_call:
            written = event(
                "function_call_arguments.delta", delta=item["arguments"], **at
            )
            yield written, ["in_tool_json"]
        for part in item.get("content") or ():
            yield event("content_part.added", part=part | {"text": ""}, **at), []
            words = event("output_text.delta", delta=part["text"], logprobs=[], **at)
            yield words, ["in_text"]
        yield event("output_item.done", item=item, **at), []
    yield event(response["status"], response=response), ["before_end"]


_FORMS = {
    "/messages": Form(
        "content",
        lambda message: message["content"],
        _message_holding,
        _message_stream,
    ),
    "/chat/completions": Form("choices", _chat_blocks, _chat_holding, _chat_stream),
    "/responses": Form("output", _response_blocks, _response_holding, _response_stream),
}


def form_of(path: str) -> Form | None:
    """Returns the protocol of a path; None for one that does not call a model."""
    for ending, form in _FORMS.items():
        if path.endswith(ending):
            return form
    return None
