"""What a server that speaks the Messages API can do, where that differs from the original."""

from __future__ import annotations

from typing import Literal

from antiphon.vocabulary.values import Value

CitationSetting = Literal["native", "inline", "auto"]


class Profile(Value, frozen=True, kw_only=True):
    """The switches of one server.

    Attributes:
        citations: `native`: sources are `search_result` blocks; `inline`: numbered plain text, for servers that do
            not know these; `auto`: found out by one small call, and remembered.
        tool_choice_none: Knows `tool_choice: none`.
        caching: Knows `cache_control`.
        thinking: Knows `thinking` and `output_config.effort`.
    """

    citations: CitationSetting = "native"
    tool_choice_none: bool = True
    caching: bool = True
    thinking: bool = True
