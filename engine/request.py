"""A reasoning request as the exact bytes of the Messages API; pure."""

from __future__ import annotations

import json

import msgspec
from msgspec.structs import replace

from antiphon.engine.parts import peek
from antiphon.engine.profile import Profile
from antiphon.engine.prompts import system_prompt
from antiphon.vocabulary.events import ReasoningRequested
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, Request, StoredText

ORIGINAL = Profile()
"""The Messages API itself."""
_NO_TOOLS = '{"type":"none"}'


def build_request(
    asked: ReasoningRequested, tools: StoredText, profile: Profile = ORIGINAL, *, inline: bool = False
) -> Request:
    """The request that `asked` stands for; tools are offered only where the call may use them.

    A final call whose messages hold tool blocks keeps the tools and forbids their use: some servers answer
    such messages without tools with an empty reply or a 400.

    Args:
        tools: The JSON list of all tool definitions, sorted by name; an empty list means none.
        profile: What the server can do.
        inline: Sources will be shown as numbered text.
    """
    offered = tools if tools.text != "[]" else None
    forbidden = asked.final and offered is not None and _has_tool_blocks(asked.messages)
    return Request(
        model=asked.model,
        max_tokens=asked.max_tokens,
        system=system_prompt(asked.max_rounds, inline=inline, cached=profile.caching),
        messages=asked.messages if profile.thinking else _without_thinking(asked.messages),
        tools=offered if forbidden or not asked.final else None,
        tool_choice=_NO_TOOLS if forbidden and profile.tool_choice_none else None,
        extra=_thinking(asked) if profile.thinking else None,
    )


def continued(request: Request, said: tuple[StoredText, ...]) -> Request:
    """The request that goes on with a reply which the server paused: the reply so far is the last message."""
    return replace(request, messages=(*request.messages, Message(role="assistant", content=said)))


def request_size(request: Request) -> int:
    """About how many bytes the body has, without building it: characters, of which few take more than one."""
    blocks = sum(len(block.text) for message in request.messages for block in message.content)
    return blocks + len(request.system.text) + (len(request.tools.text) if request.tools else 0)


def fixed_size(max_rounds: int, tools: StoredText) -> int:
    """About how many bytes a request has beside its messages."""
    return len(system_prompt(max_rounds, inline=True).text) + len(tools.text)


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


def _thinking(asked: ReasoningRequested) -> str | None:
    """The fields for thinking and effort, or None where the model's own defaults are wanted."""
    fields: Json = {}
    if asked.effort is not None:
        fields["output_config"] = {"effort": asked.effort}
    if asked.thinking.isdigit():
        fields["thinking"] = {"type": "enabled", "budget_tokens": int(asked.thinking)}
    elif asked.thinking != "default":
        fields["thinking"] = {"type": "adaptive" if asked.thinking == "adaptive" else "disabled"}
    return msgspec.json.encode(fields).decode() if fields else None


def _without_thinking(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    def kept(block: StoredText) -> bool:
        return peek(block).type not in ("thinking", "redacted_thinking")

    return tuple(replace(message, content=tuple(filter(kept, message.content))) for message in messages)


def _has_tool_blocks(messages: tuple[Message, ...]) -> bool:
    said = (block for message in messages if message.role == "assistant" for block in message.content)
    return any(peek(block).type == "tool_use" for block in said)
