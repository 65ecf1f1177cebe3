"""Messages as OpenAI, OpenTelemetry, OpenInference and others write them, turned into those of the Messages API."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from antiphon.vocabulary.ports import Json

_ROLES = {
    "ai": "assistant", "model": "assistant", "assistant": "assistant", "function_call": "assistant",
    "system": "system", "developer": "system",
}  # fmt: skip
_STOPS = {
    "stop": "end_turn", "tool_calls": "tool_use", "tool_call": "tool_use", "function_call": "tool_use",
    "length": "max_tokens", "content_filter": "refusal",
}  # fmt: skip
_CALLS = ("tool_use", "tool_call", "function_call")
_RESULTS = ("tool_result", "tool_call_response", "function_call_output")


class Conversation:
    """Messages as they are added, of which no two neighbours have one role, and the system prompt beside them.

    A call without an id, or with one that is taken, gets an id by its place: a later request repeats the messages of an
    earlier one, so the same call has the same id in all of them. Each result goes to its call.
    """

    def __init__(self, given: object = None) -> None:
        self.system: list[Json] = []
        self.shown = 0
        self._messages: list[Json] = []
        self._ids = _FreeIds()
        self._names: dict[str, list[str]] = {}
        self._waiting: list[str] = []
        for each in listed(given):
            self.add(each)

    @property
    def messages(self) -> list[Json]:
        """The messages so far; those that are added later do not change them. `shown` counts them."""
        self.shown += len(self._messages)
        return [{**each, "content": list(each["content"])} for each in self._messages]

    def add(self, given: object) -> list[Json]:
        """Adds a message of whatever shape, and returns its blocks."""
        role, blocks = _message(given)
        if role == "system":
            self.system += blocks
        elif blocks:
            if not self._messages or self._messages[-1]["role"] != role:
                self._messages.append({"role": role, "content": []})
                if role == "assistant":
                    self._names, self._waiting = {}, []
            content: list[Json] = self._messages[-1]["content"]
            blocks = [
                self._named(block, len(content) + n) for n, block in enumerate(blocks)
            ]
            content += blocks
        return blocks

    def _named(self, block: Json, place: int) -> Json:
        if block["type"] == "tool_use":
            name = self._ids.free(block["id"] or f"call-{len(self._messages)}-{place}")
            self._names.setdefault(block["id"], []).append(name)
            self._waiting.append(name)
            return {**block, "id": name}
        if block["type"] == "tool_result":
            same = self._names.get(block["tool_use_id"])
            if not block["tool_use_id"]:
                same = self._waiting
            if same:
                return {**block, "tool_use_id": same.pop(0)}
        return block


def response_of(
    content: list[Json], model: str, stop: object, message_id: object, usage: Json
) -> Json:
    """Returns a reply as a message of the Messages API."""
    if isinstance(stop, list):
        stop = next(iter(stop), None)
    if not isinstance(stop, str):
        calls = any(block["type"] == "tool_use" for block in content)
        stop = "tool_use" if calls else "end_turn"
    return {
        "id": written(message_id),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": _STOPS.get(stop, stop),
        "usage": usage,
    }


def tools_of(given: object) -> list[Json]:
    """Returns the definitions of tools; one of the server's own, which has no schema, stays as it is."""
    tools: list[Json] = []
    for each in decoded(given) or ():
        tool = as_object(decoded(each))
        tool = as_object(decoded(tool.get("tool"))) or tool
        tool = as_object(decoded(tool.get("json_schema"))) or tool
        tool = as_object(tool.get("function")) or tool
        if not isinstance(tool.get("name"), str):
            continue
        schema = decoded(tool.get("parameters", tool.get("input_schema")))
        if schema is not None:
            description = written(tool.get("description"))
            tool = {
                "name": tool["name"],
                "description": description,
                "input_schema": as_object(schema),
            }
        tools.append(tool)
    return tools


def text_of(blocks: object) -> str:
    """Returns the text of content blocks, or of one text; what is no text is named by its type."""
    if isinstance(blocks, str):
        return blocks
    pieces: list[str] = []
    for block in blocks if isinstance(blocks, list) else ():
        given = as_object(block)
        text = text_of(
            block if isinstance(block, str) else given.get("text", given.get("content"))
        )
        pieces.append(text or f"[{given.get('type')}]")
    return "\n".join(pieces)


def decoded(value: object) -> Any:
    """Returns what a text of JSON holds, which tools write into attributes; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError):
            return value
    return value


def written(value: object) -> str:
    """Returns a value as text: as it is, or as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def as_object(value: object) -> Json:
    """Returns an object as it is, and an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def listed(given: object) -> list[Any]:
    """Returns messages one by one, however many there are and whatever holds them."""
    given = decoded(given)
    if isinstance(given, dict) and "messages" in given:
        given = decoded(given["messages"])
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def _message(given: object) -> tuple[str, list[Json]]:
    """Returns the role of a message, and its content as blocks of the Messages API."""
    given = decoded(given)
    message = given if isinstance(given, dict) else {"role": "user", "content": given}
    message = {**message, **as_object(message.get("message"))}
    said = str(message.get("role") or message.get("type"))
    if said in (*_CALLS, *_RESULTS):
        return _ROLES.get(said, "user"), [_block(message)]
    blocks = _content(message)
    if said not in ("tool", "function"):
        return _ROLES.get(said, "user"), blocks
    if not any(block["type"] == "tool_result" for block in blocks):
        blocks = [_result({"id": message.get("tool_call_id"), "content": blocks})]
    return "user", blocks


def _content(message: Json) -> list[Json]:
    blocks: list[Json] = []
    if thought := message.get("reasoning_content"):
        blocks.append({"type": "thinking", "thinking": written(thought)})
    # Instrumentations tell the same content under several of these names, and a call as content and beside it.
    names = ("parts", "contents", "content")
    blocks += _blocks(
        next((message[name] for name in names if message.get(name)), None)
    )
    if not any(block["type"] == "tool_use" for block in blocks):
        calls = decoded(message.get("tool_calls"))
        blocks += [_call(each) for each in calls or () if isinstance(each, dict)]
    return blocks


def _blocks(value: object) -> list[Json]:
    inner = decoded(value)
    # Some write the list of blocks as a text; another text may begin like one.
    if isinstance(value, str) and not (
        isinstance(inner, list)
        and inner
        and all("type" in as_object(each) for each in inner)
    ):
        return [{"type": "text", "text": value}] if value.strip() else []
    parts = inner if isinstance(inner, list) else [inner]
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
    if kind in (None, "input_text", "output_text") or (
        kind == "text" and "text" not in part
    ):
        return {"type": "text", "text": written(part if text is None else text)}
    return {**part, "type": str(kind)}


def _call(given: Json) -> Json:
    call = as_object(given.get("tool_call")) or given
    function = as_object(call.get("function")) or call
    names = ("input", "arguments", "args", "parameters")
    arguments = decoded(
        next((function[name] for name in names if function.get(name)), {})
    )
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments}
    return {
        "type": "tool_use",
        "id": str(call.get("call_id") or call.get("id") or ""),
        "name": str(function.get("name") or "unknown"),
        "input": arguments,
    }


def _result(part: Json) -> Json:
    names = ("content", "response", "result", "output")
    result: Json = {
        "type": "tool_result",
        "tool_use_id": str(
            part.get("tool_use_id") or part.get("call_id") or part.get("id") or ""
        ),
        "content": _blocks(
            next((part[name] for name in names if part.get(name)), None)
        ),
    }
    return {**result, "is_error": True} if part.get("is_error") else result


class _FreeIds:
    """The ids that are taken in one conversation."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._repeats: Counter[str] = Counter()

    def free(self, wanted: str) -> str:
        """Returns the id, or the first of those numbered after it that is free."""
        name = wanted
        while name in self._taken:
            self._repeats[wanted] += 1
            name = f"{wanted}-{self._repeats[wanted] + 1}"
        self._taken.add(name)
        return name
