"""The three protocols that pass the proxy: a reply as content blocks, made of others, and as a stream's events.

Blocks are those of the Messages API, so that a reply of any protocol is made wrong in the same ways
(`faults/ports/replies.py`). What a reply holds besides text and tool calls is passed on as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from antiphon.engine import delta_events, sse_of
from antiphon.faults.ports.replies import piece_chars
from antiphon.vocabulary.ports import Json

Blocks = Sequence[Json]
UNREADABLE = (LookupError, TypeError, AttributeError, ValueError)
"""What comes of reading something else than a reply as one."""


class Form(NamedTuple):
    """One protocol.

    Attributes:
        field: The field of a reply that only this protocol has.
        blocks: Returns what a reply holds.
        holding: Returns a reply that holds these blocks, and ended for this reason.
        events: Yields a reply as a stream's events.
    """

    field: str
    blocks: Callable[[Json], Blocks]
    holding: Callable[[Json, Blocks, str], Json]
    events: Callable[[Json], Iterator[Json]]


def _asked(block: Json) -> Json:
    """Returns name and arguments of a tool call as OpenAI has them: the arguments are a text."""
    given = block["input"]
    if not isinstance(given, str):
        given = msgspec.json.encode(given).decode()
    return {"name": block["name"], "arguments": given}


def _call(call_id: str, asked: Json) -> Json:
    given = asked["arguments"]
    return {"type": "tool_use", "id": call_id, "name": asked["name"], "input": given}


_FINISH = {
    "max_tokens": "length",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
}


def _chat_blocks(completion: Json) -> Blocks:
    message = completion["choices"][0]["message"]
    blocks: list[Json] = []
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or ():
        blocks.append(_call(call["id"], call["function"]))
    return blocks


def _chat_holding(completion: Json, blocks: Blocks, stop: str) -> Json:
    texts: list[str] = []
    calls: list[Json] = []
    for block in blocks:
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "tool_use":
            named = {"id": block["id"], "type": "function"}
            calls.append(named | {"function": _asked(block)})
    [choice, *_] = completion["choices"]
    said = {"content": "".join(texts) or None, "tool_calls": calls or None}
    held = {"message": choice["message"] | said}
    held["finish_reason"] = _FINISH.get(stop, "stop")
    return completion | {"choices": [choice | held]}


def _chat_events(completion: Json) -> Iterator[Json]:
    choice = completion["choices"][0]
    head = completion | {"object": "chat.completion.chunk", "usage": None}
    deltas: list[Json] = [choice["message"] | {"tool_calls": None}]
    for index, call in enumerate(choice["message"].get("tool_calls") or ()):
        deltas.append({"tool_calls": [{"index": index} | call]})
    for delta in deltas:
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ended = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}
    yield head | {"choices": [ended], "usage": completion.get("usage")}
    yield {"type": "message_stop"}


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
    output = [_item(block, f"item_{at}") for at, block in enumerate(blocks)]
    if stop in ("max_tokens", "refusal"):
        details = {
            "reason": {"max_tokens": "max_output_tokens"}.get(stop, "content_filter")
        }
        response = response | {"status": "incomplete", "incomplete_details": details}
    return response | {"output": output}


def _item(block: Json, item_id: str) -> Json:
    common = {"id": item_id, "status": "completed"}
    if block["type"] == "tool_use":
        called = {"type": "function_call", "call_id": block["id"]}
        return common | called | _asked(block)
    if block["type"] == "text":
        part = {"type": "output_text", "text": block["text"], "annotations": []}
        return common | {"type": "message", "role": "assistant", "content": [part]}
    return block


def _response_events(response: Json) -> Iterator[Json]:
    begun = response | {"status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(response["output"]):
        at = {"output_index": index, "item_id": item.get("id"), "content_index": 0}
        empty = item | {"status": "in_progress"}
        if item["type"] == "function_call":
            empty["arguments"] = ""
            delta = item["arguments"]
            name = "response.function_call_arguments"
            pieces = [{"type": f"{name}.delta", "delta": delta}]
        else:
            empty["content"] = []
            pieces = []
            for part in item.get("content") or ():
                bare = {"part": part | {"text": ""}}
                pieces.append({"type": "response.content_part.added"} | bare)
                words = {"delta": part["text"], "logprobs": []}
                pieces.append({"type": "response.output_text.delta"} | words)
        yield {"type": "response.output_item.added", "item": empty} | at
        for piece in pieces:
            yield piece | at
        yield {"type": "response.output_item.done", "item": item} | at
    yield {"type": f"response.{response['status']}", "response": response}


FORMS = {
    "/messages": Form(
        "content",
        lambda message: message["content"],
        lambda message, blocks, stop: (
            message | {"content": list(blocks), "stop_reason": stop}
        ),
        lambda message: delta_events(message, piece_chars(message["content"])),
    ),
    "/chat/completions": Form("choices", _chat_blocks, _chat_holding, _chat_events),
    "/responses": Form("output", _response_blocks, _response_holding, _response_events),
}
"""The protocols, by how their path ends."""


def form_of(path: str) -> Form | None:
    """Returns the protocol of a path; None for one that asks no model."""
    for ending, form in FORMS.items():
        if path.endswith(ending):
            return form
    return None


def sse_in(form: Form, event: Json) -> bytes:
    """Returns an event as the lines of a stream; those of a chat completion have no name, and its end is a word."""
    if form.field != "choices":
        return sse_of(event)
    if event.get("type") == "message_stop":
        return b"data: [DONE]\n\n"
    bare = {name: value for name, value in event.items() if name != "type"}
    return b"data: %s\n\n" % msgspec.json.encode(bare)


_PLACES = {
    "content_block_start": "before_first_token",
    "text_delta": "in_text",
    "input_json_delta": "in_tool_json",
    "message_stop": "before_end",
    "response.output_item.added": "before_first_token",
    "response.output_text.delta": "in_text",
    "response.function_call_arguments.delta": "in_tool_json",
    "response.completed": "before_end",
    "response.incomplete": "before_end",
    "role": "before_first_token",
    "content": "in_text",
    "tool_calls": "in_tool_json",
    "finish_reason": "before_end",
}
"""The places of a stream by the type of an event, or of its delta, or by what a chunk of a chat completion brings."""


def places_of(event: Json) -> list[str]:
    """Lists the places of a stream at which an event stands."""
    names = [event.get("type")]
    if isinstance(event.get("delta"), dict):
        names.append(event["delta"].get("type"))
    for choice in event.get("choices") or ():
        brought = choice | (choice.get("delta") or {})
        names += [name for name in _PLACES if brought.get(name)]
    return [_PLACES[name] for name in names if name in _PLACES]
