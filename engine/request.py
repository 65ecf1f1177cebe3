"""Builds a reasoning request as the exact bytes of the Messages API; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from antiphon.engine.prompts import system_prompt
from antiphon.engine.thinking import (
    ROUND_EFFORT,
    Thinking,
    thinking_of,
    wider_room,
)
from antiphon.vocabulary.events import ReasoningRequested
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import (
    Message,
    ModelTraits,
    Profile,
    Request,
    StoredText,
)

CHARS_PER_TOKEN = 3
"""Estimates tokens rather high: a mark on a prefix that turns out too short to cache costs nothing."""
FULL_PROFILE = Profile()
"""The Messages API itself."""
_USUAL_FLOOR = 1024
"""The least number of tokens that a model caches, if the table does not know it."""
_STRICT_FIELDS = ("strict", "input_examples")
_NO_TOOLS = '{"type":"none"}'


def build_request(
    asked: ReasoningRequested,
    tools: StoredText,
    profile: Profile = FULL_PROFILE,
    *,
    inline: bool = False,
    system: StoredText | None = None,
) -> Request:
    """Builds the request that `asked` describes.

    A final call keeps the tools but forbids their use in two cases: if it then begins with the same cached bytes as the
    calls before it, and if its messages contain tool blocks, because without tools some servers answer such messages
    with an empty reply or a 400.

    Args:
        tools: The JSON list of all tool definitions, sorted by name; may be empty.
        profile: The abilities of the server and the model.
        inline: The sources will become numbered text.
        system: The system prompt, if it is not the current one.
    """
    if system is None:
        system = system_prompt(
            asked.max_rounds, inline=inline, catalogue=asked.catalogue.text
        )
    if not _takes_strict(profile):
        tools = _without_strict(tools)
    offered: StoredText | None = None
    tool_choice = None
    if _offers_tools(asked, profile, system, tools):
        offered = tools
        if asked.final and profile.tool_choice_none:
            tool_choice = _NO_TOOLS
    messages = asked.messages
    thinking = Thinking()
    if profile.thinking:
        thinking = thinking_of(
            profile.model,
            final=asked.final,
            wanted=asked.thinking,
            effort=asked.effort,
        )
    else:
        messages = without_thinking(messages)
    return Request(
        model=asked.model,
        max_tokens=with_room(asked.max_tokens, thinking.room, profile.model),
        system=system,
        messages=messages,
        tools=offered,
        tool_choice=tool_choice,
        extra=thinking.json(),
    )


def widened(request: Request, room: int, traits: ModelTraits | None) -> Request:
    """Returns the request for the attempt after one that used up its tokens in thinking: more room, and low effort.

    Args:
        room: The first attempt's tokens for thinking.
    """
    extra = request.extra
    if extra is not None:
        fields: Json = msgspec.json.decode(extra)
        if "output_config" in fields:
            fields["output_config"]["effort"] = ROUND_EFFORT
        extra = msgspec.json.encode(fields).decode()
    answer_tokens = request.max_tokens - room
    return replace(
        request,
        max_tokens=with_room(answer_tokens, wider_room(room), traits),
        extra=extra,
    )


def with_room(max_tokens: int, room: int, traits: ModelTraits | None) -> int:
    """Returns the token limit of a reply with `room` for thinking on top, within the most that the model can write."""
    if traits is None:
        return max_tokens + room
    return min(max_tokens + room, traits.max_output)


def fixed_chars_of(system: StoredText, tools: StoredText | None) -> int:
    """Returns the number of characters before the messages."""
    if tools is None:
        return len(system.text)
    return len(system.text) + len(tools.text)


def floor_of(profile: Profile) -> int:
    """Returns the least number of tokens that the model caches."""
    if profile.model is None:
        return _USUAL_FLOOR
    return profile.model.least_cached


def _offers_tools(
    asked: ReasoningRequested, profile: Profile, system: StoredText, tools: StoredText
) -> bool:
    if tools.text == "[]":
        return False
    if not asked.final or _has_tool_calls(asked.messages):
        return True
    return _begins_alike(asked, profile, system, tools)


def _begins_alike(
    asked: ReasoningRequested, profile: Profile, system: StoredText, tools: StoredText
) -> bool:
    """Returns True if a final call with the tools begins with the bytes that earlier calls had cached."""
    # A query without rounds has no earlier call; and a server without `tool_choice: none` might run the tools.
    if not (asked.max_rounds and profile.tool_choice_none and profile.caching):
        return False
    if profile.model is None:
        return False
    return fixed_chars_of(system, tools) >= floor_of(profile) * CHARS_PER_TOKEN


def _takes_strict(profile: Profile) -> bool:
    return profile.strict and profile.model is not None and profile.model.strict


# One list of tools per service, and one more per tenant.
@lru_cache(maxsize=64)
def _without_strict(tools: StoredText) -> StoredText:
    """Returns the definitions without the fields that some servers and models do not know."""
    # Most services also have tools of their own, whose bytes should stay the same.
    if not any(f'"{name}"' in tools.text for name in _STRICT_FIELDS):
        return tools
    definitions: list[Json] = []
    for tool in msgspec.json.decode(tools.text):
        kept = {name: tool[name] for name in tool if name not in _STRICT_FIELDS}
        definitions.append(kept)
    return StoredText(
        json.dumps(definitions, ensure_ascii=False, separators=(",", ":"))
    )


def continued(request: Request, content: tuple[StoredText, ...]) -> Request:
    """Returns the request that continues a paused reply: the reply so far becomes the last message."""
    return replace(
        request,
        messages=(*request.messages, Message(role="assistant", content=content)),
    )


def request_size(request: Request) -> int:
    """Estimates the bytes of the body without building it, as characters, few of which take more than one byte."""
    return sum(map(len, _texts_of(request)))


def input_bytes(request: Request) -> int:
    """Returns the number of bytes that the model reads."""
    return sum(len(text.encode(errors="replace")) for text in _texts_of(request))


def _texts_of(request: Request) -> Iterator[str]:
    yield request.system.text
    if request.tools is not None:
        yield request.tools.text
    for message in request.messages:
        for block in message.content:
            yield block.text


def fixed_size(max_rounds: int, tools: StoredText, catalogue: str = "") -> int:
    """Estimates the bytes of a request without its messages."""
    system = system_prompt(max_rounds, inline=True, catalogue=catalogue)
    return len(system.text) + len(tools.text)


def request_json(request: Request) -> Json:
    """Returns the request's body as a JSON object."""
    body: Json = msgspec.json.decode(_joined(request))
    if request.extra is not None:
        body |= msgspec.json.decode(request.extra)
    return body


def request_bytes(request: Request) -> bytes:
    """Returns the request's body, exactly as it is sent."""
    if request.extra is None:
        return _joined(request)
    return json.dumps(
        request_json(request),
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    ).encode()


def _joined(request: Request) -> bytes:
    # The parts are already JSON. Joined in the SDK's own order of fields they give the bytes that it would send,
    # without decoding and encoding every passage again for each call.
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


def without_thinking(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Returns the messages without thinking blocks."""
    shorter = []
    for message in messages:
        content = [
            block
            for block in message.content
            if peek(block).type not in ("thinking", "redacted_thinking")
        ]
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
    """The properties of a content block that the rules of legality and caching need.

    They stay in a cache for as long as a query may send the block again, so they hold none of the block's text.

    Attributes:
        is_blank: True for a text block without text.
        is_marked: True if the provider's cache ends at it.
        has_citations: True for a search result with citations switched on.
    """

    type: str = ""
    id: object = None
    tool_use_id: object = None
    is_blank: bool = False
    is_marked: bool = False
    has_citations: bool = False


class _WireBlock(msgspec.Struct, frozen=True):
    """The part of a content block on the wire from which `BlockFields` follows."""

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


# Several rules read a block, and again for each further request that contains it.
@lru_cache(maxsize=2048)
def peek(block: StoredText) -> BlockFields:
    """Reads those properties of a content block; all are empty if it is not a JSON object."""
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
