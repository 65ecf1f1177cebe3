"""Converts messages of OpenAI, OpenTelemetry, OpenInference and others into those of the Messages API."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from typing import Any

import msgspec

from antiphon.vocabulary.ports import Json

_ROLES = {
    "ai": "assistant", "model": "assistant", "assistant": "assistant", "function_call": "assistant",
    "system": "system", "developer": "system",
}  # fmt: skip
_CALLS = ("tool_use", "tool_call", "function_call")
_RESULTS = ("tool_result", "tool_call_response", "function_call_output")


class Conversation:
    """Collects messages, merging neighbours with the same role, and the system prompt apart from them.

    A call without an id, or with one that is taken, gets a numbered id, which is the same in all requests, because a
    later request repeats the messages of an earlier one. Each result goes to its call.
    """

    def __init__(self, given: object = None) -> None:
        self.system: list[Json] = []
        self.shown = 0
        self._messages: list[Json] = []
        self._taken: set[str] = set()
        self._numbers = itertools.count(2)
        # The calls without a result by their original ids; all of them under the empty id.
        self._waiting: dict[str, deque[str]] = defaultdict(deque)
        for each in listed(given):
            self.add(each)

    @property
    def messages(self) -> list[Json]:
        """A copy of the messages so far. `shown` counts all messages that were returned."""
        self.shown += len(self._messages)
        return [{**each, "content": list(each["content"])} for each in self._messages]

    def add(self, given: object) -> list[Json]:
        """Adds a message of any shape, and returns its blocks."""
        role, blocks = _message(given)
        if role == "system":
            self.system += blocks
        elif blocks:
            if not self._messages or self._messages[-1]["role"] != role:
                self._messages.append({"role": role, "content": []})
                if role == "assistant":
                    self._waiting.clear()
            blocks = [self._named(block) for block in blocks]
            self._messages[-1]["content"] += blocks
        return blocks

    def _named(self, block: Json) -> Json:
        if block["type"] == "tool_use":
            given = block["id"]
            name = given or "call"
            while name in self._taken:
                name = f"{given or 'call'}-{next(self._numbers)}"
            self._taken.add(name)
            for known_by in {given, ""}:
                self._waiting[known_by].append(name)
            return {**block, "id": name}
        if block["type"] == "tool_result":
            same = self._waiting.get(block["tool_use_id"])
            if same:
                return {**block, "tool_use_id": same.popleft()}
        return block


def tools_of(given: object) -> list[Json]:
    """Returns the definitions of tools; leaves a server's own tool, which has no schema, unchanged."""
    tools: list[Json] = []
    for each in decoded(given) or ():
        tool = as_object(decoded(each))
        for holder in ("tool", "json_schema", "function"):
            tool = as_object(decoded(tool.get(holder))) or tool
        if not isinstance(tool.get("name"), str):
            continue
        schema = decoded(tool.get("parameters", tool.get("input_schema")))
        if schema is not None:
            description = written(tool.get("description"))
            tool = {"name": tool["name"], "description": description}
            tool["input_schema"] = as_object(schema)
        tools.append(tool)
    return tools


def text_of(blocks: object) -> str:
    """Returns the text of content blocks or of a string, with the types of blocks that are not text."""
    if isinstance(blocks, str):
        return blocks
    pieces: list[str] = []
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, str):
            pieces.append(block)
        else:
            inner = as_object(block).get("text", as_object(block).get("content"))
            pieces.append(text_of(inner) or f"[{as_object(block).get('type')}]")
    return "\n".join(pieces)


def decoded(value: object) -> Any:
    """Decodes a string of JSON, which tools write into attributes; returns any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            return value
    return value


def written(value: object) -> str:
    """Returns a string unchanged, and any other value as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def as_object(value: object) -> Json:
    """Returns an object unchanged, and an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def first(given: Json, *names: str) -> Any:
    """Returns the first of these fields that is not empty; None if all are."""
    return next((given[name] for name in names if given.get(name)), None)


def listed(given: object) -> list[Any]:
    """Returns a list of messages from one message or from any container of several."""
    given = decoded(given)
    if isinstance(given, dict) and "messages" in given:
        given = decoded(given["messages"])
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def _message(given: object) -> tuple[str, list[Json]]:
    """Returns the role of a message, and its content as Messages API blocks."""
    given = decoded(given)
    message = given if isinstance(given, dict) else {"role": "user", "content": given}
    message = {**message, **as_object(message.get("message"))}
    said = str(message.get("role") or message.get("type"))
    role = _ROLES.get(said, "user")
    if said in (*_CALLS, *_RESULTS):
        return role, [_block(message)]
    blocks = _content(message)
    if said in ("tool", "function") and not _any(blocks, "tool_result"):
        blocks = [_result({"id": message.get("tool_call_id"), "content": blocks})]
    return role, blocks


def _content(message: Json) -> list[Json]:
    blocks: list[Json] = []
    if thought := message.get("reasoning_content"):
        blocks.append({"type": "thinking", "thinking": written(thought)})
    # Instrumentations repeat content under several of these names, and write a call both in the content and beside it.
    blocks += _blocks(first(message, "parts", "contents", "content"))
    if not _any(blocks, "tool_use"):
        calls = decoded(message.get("tool_calls"))
        blocks += [_call(each) for each in calls or () if isinstance(each, dict)]
    return blocks


def _any(blocks: list[Json], kind: str) -> bool:
    return any(block["type"] == kind for block in blocks)


def _blocks(value: object) -> list[Json]:
    inner = decoded(value)
    # Some write the list of blocks as a string, but an ordinary text may begin the same way.
    parts = inner if isinstance(inner, list) else [inner]
    are_blocks = bool(parts) and all("type" in as_object(part) for part in parts)
    if isinstance(value, str) and not (are_blocks and parts is inner):
        return [{"type": "text", "text": value}] if value.strip() else []
    return [_block(part) for part in parts if part not in (None, "")]


def _block(given: object) -> Json:
    if not isinstance(given, dict):
        return {"type": "text", "text": written(given)}
    part = {**given, **as_object(given.get("message_content"))}
    kind = part.get("type")
    if kind in _CALLS:
        return _call(part)
    if kind in _RESULTS:
        return _result(part)
    text = part.get("text", part.get("content"))
    if kind == "reasoning":
        return {"type": "thinking", "thinking": written(text)}
    is_bare = kind == "text" and "text" not in part
    if is_bare or kind in (None, "input_text", "output_text"):
        return {"type": "text", "text": written(part if text is None else text)}
    return {**part, "type": str(kind)}


def _call(given: Json) -> Json:
    call = as_object(given.get("tool_call")) or given
    function = as_object(call.get("function")) or call
    arguments = decoded(first(function, "input", "arguments", "args", "parameters"))
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments} if arguments else {}
    return {
        "type": "tool_use",
        "id": str(first(call, "call_id", "tool_call_id", "id") or ""),
        "name": str(first(function, "name", "function_name") or "unknown"),
        "input": arguments,
    }


def _result(part: Json) -> Json:
    result: Json = {
        "type": "tool_result",
        "tool_use_id": str(first(part, "tool_use_id", "call_id", "id") or ""),
        "content": _blocks(first(part, "content", "response", "result", "output")),
    }
    return {**result, "is_error": True} if part.get("is_error") else result
