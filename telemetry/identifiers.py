"""Identifiers from outside (a model's name, a call's id), kept from carrying text or making labels without end."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

OTHER = "other"
"""Stands for a name that is none, is not offered, or is one too many."""
MOST_NAMES = 30
"""Different values of one label: a server that names a new model each time would fill the memory of Prometheus."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,79}")


# A query's own id is on each of its spans.
@lru_cache(maxsize=256)
def identifier(name: str) -> str:
    """Returns a name that looks like one, and `other` for what may be text."""
    if _IDENTIFIER.fullmatch(name) is None:
        return OTHER
    return name


def offered(name: str, names: Container[str]) -> str:
    """Returns the name of a tool that there is; the model may ask for one that there is not, in any words."""
    if name in names:
        return identifier(name)
    return OTHER


class BoundedNames:
    """The values that one label has had, no more than a few."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._known: dict[str, str] = {}

    def label(self, name: str) -> str:
        """Returns the name as a label's value."""
        known = self._known.get(name)
        if known is not None:
            return known
        if len(self._known) >= self._most:
            return OTHER
        self._known[name] = identifier(name)
        return self._known[name]
