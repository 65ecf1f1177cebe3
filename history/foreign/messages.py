"""Messages as OpenAI, OpenTelemetry, OpenInference and others write them, turned into those of the Messages API."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from antiphon.vocabulary.ports import Json

_ROLES = {
    "ai": "assistant", "model": "assistant", "assistant": "assistant", "function_call": "assistant",
    "system": "system", "developer": "system", "tool": "tool", "function": "tool", "function_call_output": "tool",
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
        self._messages: list[Json] = []
        self._ids = _FreeIds()
        self._names: dict[str, list[str]] = {}
        self._waiting: list[str] = []
        for each in listed(given):
            self.add(each)

    @property
    def messages(self) -> list[Json]:
        """The messages so far; those that are added later do not change them."""
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
    """Returns the definitions of tools; one of another shape than those of functions stays as it is."""
    tools: list[Json] = []
    for each in decoded(given) if isinstance(decoded(given), list) else ():
        each = decoded(each)
        if not isinstance(each, dict):
            continue
        tool = decoded(each.get("tool", each))
        if isinstance(tool, dict) and "json_schema" in tool:
            tool = decoded(tool["json_schema"])
        tool = tool.get("function", tool) if isinstance(tool, dict) else {}
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            continue
        schema = decoded(tool.get("parameters", tool.get("input_schema")))
        if schema is None and "type" in tool and tool["type"] != "function":
            tools.append(tool)
            continue
        tools.append(
            {
                "name": tool["name"],
                "description": str(tool.get("description") or ""),
                "input_schema": schema
                if isinstance(schema, dict)
                else {"type": "object"},
            }
        )
    return tools


def text_of(blocks: object) -> str:
    """Returns the text of content blocks, or of one text; what is no text is named by its type."""
    if isinstance(blocks, str):
        return blocks
    pieces: list[str] = []
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, str):
            pieces.append(block)
        elif isinstance(block, dict):
            text = block.get("text", block.get("content"))
            pieces.append(
                text
                if isinstance(text, str)
                else text_of(text) or f"[{block.get('type')}]"
            )
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


def listed(given: object) -> list[Any]:
    """Returns messages one by one, however many there are and whatever holds them."""
    given = decoded(given)
    if isinstance(given, dict) and "messages" in given:
        given = decoded(given["messages"])
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def _message(given: object) -> tuple[str, list[Json]]:
    given = decoded(given)
    if not isinstance(given, dict):
        given = {"role": "user", "content": given}
    if isinstance(given.get("message"), dict):
        given = {"role": given.get("role"), **given["message"]}
    said = str(given.get("role") or given.get("type"))
    role = _ROLES.get(said, "user")
    blocks: list[Json] = []
    if isinstance(given.get("reasoning_content"), str):
        blocks.append({"type": "thinking", "thinking": given["reasoning_content"]})
    # Instrumentations repeat the same content under several of these names.
    for name in ("parts", "contents", "content"):
        if given.get(name):
            blocks += _blocks(given[name])
            break
    # Some tell a call twice: as content, and beside it.
    if not any(block["type"] == "tool_use" for block in blocks):
        calls = decoded(given.get("tool_calls"))
        blocks += [_call(each) for each in calls or () if isinstance(each, dict)]
    if said in ("function_call", "function_call_output"):
        blocks = [_block(given)]
    if role != "tool":
        return role, blocks
    if not any(block["type"] == "tool_result" for block in blocks):
        call_id = given.get("tool_call_id") or given.get("id")
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": str(call_id or ""),
                "content": blocks,
            }
        ]
    return "user", blocks


def _blocks(value: object) -> list[Json]:
    value = decoded(value) if not isinstance(value, str) else value
    if isinstance(value, str):
        # Some write the list of blocks as a text.
        inner = decoded(value)
        is_blocks = (
            isinstance(inner, list)
            and inner
            and all(isinstance(each, dict) and "type" in each for each in inner)
        )
        if not is_blocks:
            return [{"type": "text", "text": value}] if value.strip() else []
        value = inner
    parts = value if isinstance(value, list) else [value]
    return [_block(part) for part in parts if part not in (None, "")]


def _block(part: object) -> Json:
    if isinstance(part, dict):
        part = {**part, **_object(part.get("message_content"))}
    if not isinstance(part, dict):
        return {"type": "text", "text": written(part)}
    kind = part.get("type")
    if kind in _CALLS:
        return _call(part)
    if kind in _RESULTS:
        return _result(part)
    text = next(
        (part[name] for name in ("text", "content") if isinstance(part.get(name), str)),
        None,
    )
    if kind == "reasoning":
        return {"type": "thinking", "thinking": text or ""}
    if kind == "text" and isinstance(part.get("text"), str):
        return part  # with its citations
    if kind in (None, "text", "input_text", "output_text") and text is not None:
        return {"type": "text", "text": text}
    if isinstance(kind, str):
        return part
    return {"type": "text", "text": written(part)}


def _call(given: Json) -> Json:
    call = _object(given.get("tool_call")) or given
    function = _object(call.get("function")) or call
    found = (
        function.get(name) for name in ("input", "arguments", "args", "parameters")
    )
    arguments = decoded(next((each for each in found if each is not None), {}))
    if not isinstance(arguments, dict):
        arguments = {"arguments": arguments} if arguments else {}
    call_id = call.get("call_id") or call.get("id") or call.get("tool_call_id") or ""
    return {
        "type": "tool_use",
        "id": str(call_id),
        "name": str(function.get("name") or "unknown"),
        "input": arguments,
    }


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _result(part: Json) -> Json:
    found = (part.get(name) for name in ("content", "response", "result", "output"))
    content = next((each for each in found if each is not None), "")
    call_id = part.get("tool_use_id") or part.get("call_id") or part.get("id") or ""
    result: Json = {
        "type": "tool_result",
        "tool_use_id": str(call_id),
        "content": _blocks(content),
    }
    if part.get("is_error"):
        result["is_error"] = True
    return result


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
