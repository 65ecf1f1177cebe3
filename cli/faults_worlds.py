"""The worlds that `antiphon faults` runs its queries in, with the user's tools in them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from antiphon.dispatcher import load_tools
from antiphon.faults import World


@contextmanager
def world_of(tools: str) -> Iterator[World]:
    """A world with these tools, whose traces are gone at the end."""
    with tempfile.TemporaryDirectory() as folder, closing(opener(tools)(Path(folder))) as world:
        yield world


def opener(tools: str) -> partial[World]:
    """Makes worlds with these tools.

    Raises:
        ConfigurationError: There is no such tool, or it cannot be used.
    """
    return partial(World, tools=load_tools(tools), named=tools)
