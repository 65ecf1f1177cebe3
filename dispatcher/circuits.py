"""A circuit for each tool, across queries: one that keeps failing is left alone for a while."""

from __future__ import annotations

FAILURES = 5
REST_S = 30.0


class ToolCircuits:
    """Counts failed runs by tool; one a process."""

    def __init__(self, failures: int = FAILURES, rest_s: float = REST_S) -> None:
        self._most = failures
        self._rest_s = rest_s
        self._failed: dict[str, int] = {}
        self._probe_at: dict[str, float] = {}

    def keeps_out(self, tool: str, now: float) -> bool:
        """Whether the tool is to be passed over now; one that is not, while its circuit is open, is the probe."""
        if self._failed.get(tool, 0) < self._most:
            return False
        if now < self._probe_at.get(tool, 0.0):
            return True
        self._probe_at[tool] = now + self._rest_s
        return False

    def succeeded(self, tool: str) -> None:
        """It ran: its circuit closes."""
        self._failed.pop(tool, None)

    def failed(self, tool: str, now: float) -> None:
        """It raised, or took too long."""
        self._failed[tool] = self._failed.get(tool, 0) + 1
        self._probe_at[tool] = now + self._rest_s
