"""The state of a service, as its metrics show it; apart from them, for they need a package that may not be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceState:
    """The state of a service at one moment.

    Attributes:
        open_tools: Each tool, and whether its circuit is open.
    """

    queries_running: int
    queries_limit: int
    ready: bool
    provider_open: bool
    open_tools: Sequence[tuple[str, bool]]
