"""A request as documented: its fields, its blocks, its model, and the signature of its thinking.

The pages that this folder names are under https://platform.claude.com/docs/en/ and were read on 2026-11-26.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from antiphon.engine.models import CARDS, ModelCard, plain_name
from antiphon.engine.offline.shapes import shaped
from antiphon.vocabulary.ports import Json

Version = tuple[int, int]

_VERSION = re.compile(r"-(\d+)(?:-(\d+))?$")


class DocumentedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message; a plain string is short for one text block."""

    role: Literal["user", "assistant"]
    content: str | Annotated[list[Json], Meta(min_length=1)]

    @property
    def blocks(self) -> list[Json]:
        return _as_blocks(self.content)

    def of_type(self, kind: str) -> list[Json]:
        return [block for block in self.blocks if block.get("type") == kind]


class DocumentedRequest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The body of a request with all documented fields (api/messages/create)."""

    model: Annotated[str, Meta(min_length=1)]
    max_tokens: Annotated[int, Meta(ge=1)]
    messages: Annotated[list[DocumentedMessage], Meta(min_length=1)]
    system: str | list[Json] = ""
    tools: list[Json] = []
    tool_choice: Json = {}
    thinking: Json = {}
    output_config: Json = {}
    stream: bool = False
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    cache_control: Json | None = None
    container: object = None
    context_management: object = None
    diagnostics: object = None
    inference_geo: object = None
    mcp_servers: object = None
    metadata: object = None
    service_tier: object = None
    speed: object = None
    stop_sequences: object = None

    @property
    def name(self) -> str:
        """The model's name in the table of models."""
        return plain_name(self.model)

    @property
    def card(self) -> ModelCard:
        return CARDS[self.name]

    @property
    def version(self) -> Version:
        """The model's version, such as (4, 7), by which rules begin to apply."""
        found = _VERSION.search(self.name)
        if found is None:
            return 0, 0
        return int(found[1]), int(found[2] or 0)

    @property
    def mode(self) -> str | None:
        """The requested mode of thinking; None: the request does not name one."""
        return self.thinking.get("type")

    @property
    def effort(self) -> str | None:
        return self.output_config.get("effort")

    @property
    def system_blocks(self) -> list[Json]:
        if not self.system:
            return []
        return _as_blocks(self.system)

    def all_blocks(self) -> Iterator[Json]:
        """Yields the blocks of the system prompt and of all messages, each before those within it."""
        yield from _with_inner(self.system_blocks)
        for message in self.messages:
            yield from _with_inner(message.blocks)


def read_request(body: Json) -> DocumentedRequest:
    """Reads a body.

    Raises:
        RefusedError: It has another shape.
    """
    return shaped(body, DocumentedRequest)


def signature_of(asked: DocumentedRequest, messages: int) -> str:
    """Returns the signature of thinking after so many messages: its model, and a digest of its prefix."""
    # The real API's signatures are opaque; this one is reproducible and shows a changed prefix.
    before = [[message.role, message.blocks] for message in asked.messages[:messages]]
    prefix = unmarked([asked.tools, asked.system_blocks, before])
    return f"{asked.name}.{sha256(msgspec.json.encode(prefix)).hexdigest()}"


def unmarked(value: object) -> object:
    """Returns the value without cache marks, which the model does not read."""
    if isinstance(value, dict):
        kept = value.keys() - {"cache_control"}
        return {name: unmarked(value[name]) for name in value if name in kept}
    if isinstance(value, list):
        return [unmarked(part) for part in value]
    return value


def _as_blocks(content: str | list[Json]) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content


def _with_inner(blocks: Sequence[Json]) -> Iterator[Json]:
    for block in blocks:
        yield block
        inner = block.get("content")
        if isinstance(inner, list):
            yield from _with_inner([part for part in inner if isinstance(part, dict)])
