"""A reasoning request as the exact bytes of the Messages API; pure."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from antiphon.engine.prompts import system_prompt
from antiphon.engine.server_profile import FULL_PROFILE
from antiphon.vocabulary.events import ReasoningRequested
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Message, Profile, Request, StoredText

_NO_TOOLS = '{"type":"none"}'


def build_request(
    asked: ReasoningRequested,
    tools: StoredText,
    profile: Profile = FULL_PROFILE,
    *,
    inline: bool = False,
) -> Request:
    """Builds the request that `asked` stands for; tools are offered only where the call may use them.

    A final call whose messages hold tool blocks keeps the tools and forbids their use: some servers answer
    such messages without tools with an empty reply or a 400.

    Args:
        tools: The JSON list of all tool definitions, sorted by name; an empty list means none.
        profile: What the server can do.
        inline: Sources will be shown as numbered text.
    """
    offered: StoredText | None = tools
    tool_choice = None
    if tools.text == "[]" or (asked.final and not _has_tool_calls(asked.messages)):
        offered = None
    elif asked.final and profile.tool_choice_none:
        tool_choice = _NO_TOOLS
    messages = asked.messages
    extra = None
    if profile.thinking:
        extra = _thinking(asked)
    else:
        messages = _without_thinking(messages)
    return Request(
        model=asked.model,
        max_tokens=asked.max_tokens,
        system=system_prompt(asked.max_rounds, inline=inline, cached=profile.caching),
        messages=messages,
        tools=offered,
        tool_choice=tool_choice,
        extra=extra,
    )


def continued(request: Request, content: tuple[StoredText, ...]) -> Request:
    """Returns the request that goes on with a reply which the server paused: the reply so far is the last message."""
    return replace(
        request,
        messages=(*request.messages, Message(role="assistant", content=content)),
    )


def request_size(request: Request) -> int:
    """Estimates the bytes of the body without building it: characters, of which few take more than one."""
    size = len(request.system.text)
    if request.tools is not None:
        size += len(request.tools.text)
    for message in request.messages:
        for block in message.content:
            size += len(block.text)
    return size


def fixed_size(max_rounds: int, tools: StoredText) -> int:
    """Estimates the bytes that a request has beside its messages."""
    return len(system_prompt(max_rounds, inline=True).text) + len(tools.text)


def request_json(request: Request) -> Json:
    """Returns the request's body as a JSON object."""
    body: Json = msgspec.json.decode(_joined(request))
    if request.extra is not None:
        body |= msgspec.json.decode(request.extra)
    return body


def request_bytes(request: Request) -> bytes:
    """Returns the request's body, byte for byte as it is sent."""
    if request.extra is None:
        return _joined(request)
    return json.dumps(
        request_json(request),
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    ).encode()


def _joined(request: Request) -> bytes:
    # The parts are JSON already. Joining them in the SDK's own order of fields gives the bytes that it would
    # send, without decoding and encoding every passage anew for each call.
    messages = []
    for message in request.messages:
        content = ",".join(block.text for block in message.content)
        messages.append(f'{{"role":"{message.role}","content":[{content}]}}')
    fields = [
        f'"max_tokens":{request.max_tokens}',
        f'"messages":[{",".join(messages)}]',
        f'"model":{msgspec.json.encode(request.model).decode()}',
        f'"stream":{msgspec.json.encode(request.stream).decode()}',
        f'"system":{request.system.text}',
    ]
    if request.tool_choice is not None:
        fields.append(f'"tool_choice":{request.tool_choice}')
    if request.tools is not None:
        fields.append(f'"tools":{request.tools.text}')
    return f"{{{','.join(fields)}}}".encode()


def _thinking(asked: ReasoningRequested) -> str | None:
    """Returns the fields for thinking and effort, or None where the model's own defaults are wanted."""
    fields: Json = {}
    if asked.effort is not None:
        fields["output_config"] = {"effort": asked.effort}
    if asked.thinking.isdigit():
        fields["thinking"] = {"type": "enabled", "budget_tokens": int(asked.thinking)}
    elif asked.thinking == "adaptive":
        fields["thinking"] = {"type": "adaptive"}
    elif asked.thinking != "default":
        fields["thinking"] = {"type": "disabled"}
    if not fields:
        return None
    return msgspec.json.encode(fields).decode()


def _without_thinking(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    shorter = []
    for message in messages:
        content = []
        for block in message.content:
            if peek(block).type not in ("thinking", "redacted_thinking"):
                content.append(block)
        shorter.append(replace(message, content=tuple(content)))
    return tuple(shorter)


def _has_tool_calls(messages: tuple[Message, ...]) -> bool:
    for message in messages:
        if message.role != "assistant":
            continue
        for block in message.content:
            if peek(block).type == "tool_use":
                return True
    return False


class BlockFields(NamedTuple):
    """The parts of a content block that rules of legality and caching look at.

    It is kept for as long as a query may show the block again, so it holds none of the block's text.

    Attributes:
        is_blank: True for a text block without text.
        is_marked: True where the provider's cache ends at it.
        has_citations: True for a search result with citations switched on.
    """

    type: str = ""
    id: object = None
    tool_use_id: object = None
    is_blank: bool = False
    is_marked: bool = False
    has_citations: bool = False


class _WireBlock(msgspec.Struct, frozen=True):
    """A content block as it is sent, as far as `BlockFields` follows from it."""

    type: str = ""
    id: object = None
    tool_use_id: object = None
    text: object = None
    cache_control: object = None
    citations: object = None

    @property
    def is_blank(self) -> bool:
        if self.type != "text":
            return False
        return not isinstance(self.text, str) or not self.text.strip()

    @property
    def has_citations(self) -> bool:
        return (
            isinstance(self.citations, dict) and self.citations.get("enabled") is True
        )


_decode = msgspec.json.Decoder(prepared(_WireBlock)).decode


# A block is read by several rules, and once more for each further request that shows it.
@lru_cache(maxsize=2048)
def peek(block: StoredText) -> BlockFields:
    """Reads those parts of a content block; all are empty where it is no JSON object."""
    try:
        wire = _decode(block.text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return BlockFields()
    return BlockFields(
        type=wire.type,
        id=wire.id,
        tool_use_id=wire.tool_use_id,
        is_blank=wire.is_blank,
        is_marked=bool(wire.cache_control),
        has_citations=wire.has_citations,
    )
