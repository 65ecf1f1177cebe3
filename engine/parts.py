"""What must be known of a request's content blocks before it is sent, read without decoding their texts' bulk twice."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from antiphon.vocabulary.values import StoredText


class Part(msgspec.Struct, frozen=True):
    """The fields of a content block that rules of legality and caching look at."""

    type: str = ""
    id: object = None
    tool_use_id: object = None
    text: object = None
    cache_control: object = None
    citations: object = None

    @property
    def is_blank(self) -> bool:
        """Whether it is a text block without text."""
        return self.type == "text" and not (isinstance(self.text, str) and self.text.strip())

    @property
    def cites(self) -> bool:
        """Whether it is a search result with citations switched on."""
        return isinstance(self.citations, dict) and self.citations.get("enabled") is True


_decode = msgspec.json.Decoder(Part).decode


@lru_cache(maxsize=2048)
def peek(block: StoredText) -> Part:
    """The block's fields; a part of no type where it is no JSON object."""
    try:
        return _decode(block.text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return Part()
