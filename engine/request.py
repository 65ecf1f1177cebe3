"""A reasoning request as the exact bytes of the Messages API; pure."""

from __future__ import annotations

import json

import msgspec

from engine.prompts import system_prompt
from vocabulary.events import ReasoningRequested
from vocabulary.ports import Json
from vocabulary.values import Kept, Message, Request

_NO_TOOLS = '{"type":"none"}'


def build_request(asked: ReasoningRequested, tools: Kept) -> Request:
    """The request that `asked` stands for; tools are offered only where the call may use them.

    A final call whose messages hold tool blocks keeps the tools and forbids their use: some servers answer
    such messages without tools with an empty reply or a 400.

    Args:
        tools: The JSON list of all tool definitions, sorted by name; an empty list means none.
    """
    offered = tools if tools.text != "[]" else None
    forbidden = asked.final and offered is not None and _has_tool_blocks(asked.messages)
    return Request(
        model=asked.model,
        max_tokens=asked.max_tokens,
        system=system_prompt(asked.max_rounds),
        messages=asked.messages,
        tools=offered if forbidden or not asked.final else None,
        tool_choice=_NO_TOOLS if forbidden else None,
    )


def request_json(request: Request) -> Json:
    """The request's body as a JSON object."""
    body: Json = msgspec.json.decode(_joined(request))
    return body if request.extra is None else body | msgspec.json.decode(request.extra)


def request_bytes(request: Request) -> bytes:
    """The request's body, byte for byte as it is sent."""
    if request.extra is None:
        return _joined(request)
    return json.dumps(request_json(request), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _joined(request: Request) -> bytes:
    # The parts are JSON already. Joining them in the SDK's own order of fields gives the bytes that it would
    # send, without decoding and encoding every passage again for each call.
    fields = [
        f'"max_tokens":{request.max_tokens}',
        f'"messages":[{",".join(_message(message) for message in request.messages)}]',
        f'"model":{_string(request.model)}',
        '"stream":true',
        f'"system":{request.system.text}',
    ]
    if request.tool_choice is not None:
        fields.append(f'"tool_choice":{request.tool_choice}')
    if request.tools is not None:
        fields.append(f'"tools":{request.tools.text}')
    return f"{{{','.join(fields)}}}".encode()


def _message(message: Message) -> str:
    return f'{{"role":"{message.role}","content":[{",".join(block.text for block in message.content)}]}}'


def _string(text: str) -> str:
    return msgspec.json.encode(text).decode()


class _Block(msgspec.Struct):
    type: str = ""


def _has_tool_blocks(messages: tuple[Message, ...]) -> bool:
    blocks = (block.text for message in messages if message.role == "assistant" for block in message.content)
    return any(msgspec.json.decode(block, type=_Block).type == "tool_use" for block in blocks)
