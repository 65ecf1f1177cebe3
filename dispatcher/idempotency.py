"""Which calls may be made a second time, and the key by which whoever does the work knows the second from a new one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from antiphon.dispatcher.tool import Tool

KEY_CHARS = 32


def key_of(query_id: str, call_id: str) -> str:
    """The call's key: the same in every process that goes on with the query, and no other call's."""
    return hashlib.sha256(f"{query_id}\n{call_id}".encode()).hexdigest()[:KEY_CHARS]


def may_be_repeated(tools: Iterable[Tool]) -> bool:
    """Whether a call that was under way may be made again: each tool that it may have run changes nothing, or is told
    by its key that it did so before."""
    return all(not tool.has_effects or tool.key_parameter is not None for tool in tools)
