"""Keeps identifiers from outside (a model's name, a call's id) from carrying text or creating labels without limit."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

OTHER = "other"
"""Replaces a value that is no name, names no tool on offer, or exceeds the number of names allowed."""
MOST_NAMES = 30
"""Most values of one label: a server that names a new model each time would fill the memory of Prometheus."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,79}")


# Cached, because every span of a query carries the query's id.
@lru_cache(maxsize=256)
def identifier(name: str) -> str:
    """Returns the name if it looks like an identifier, and `other` if it may be text."""
    if _IDENTIFIER.fullmatch(name) is None:
        return OTHER
    return name


def offered(name: str, names: Container[str]) -> str:
    """Returns the name if it is a tool on offer, else `other`: a model may request a tool by any text."""
    if name in names:
        return identifier(name)
    return OTHER


class BoundedNames:
    """The values that one label has had, bounded in number."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._known: dict[str, str] = {}

    def label(self, name: str) -> str:
        """Returns the label value for a name."""
        known = self._known.get(name)
        if known is not None:
            return known
        if len(self._known) >= self._most:
            return OTHER
        self._known[name] = identifier(name)
        return self._known[name]
