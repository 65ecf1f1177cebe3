"""When a round's tools are settled: every confirmed call has its outcome, whichever came first."""

from __future__ import annotations

from antiphon.vocabulary.events import ToolsSettled


class Settlement:
    """What a session's tool calls came to; a fold without clock or I/O."""

    def __init__(self) -> None:
        self._outcomes: dict[str, bool] = {}
        self._open: dict[int, tuple[str, ...]] = {}

    def has_ended(self, tool_call_id: str) -> bool:
        """Whether the call has its outcome; it gets only one."""
        return tool_call_id in self._outcomes

    def confirm(self, round_number: int, tool_call_ids: tuple[str, ...]) -> list[ToolsSettled]:
        """These calls make up the round; what that settles."""
        self._open[round_number] = tool_call_ids
        return self._settled()

    def end(self, tool_call_id: str, *, succeeded: bool) -> list[ToolsSettled]:
        """The call has its outcome; what that settles."""
        self._outcomes[tool_call_id] = succeeded
        return self._settled()

    def _settled(self) -> list[ToolsSettled]:
        done = [number for number, ids in self._open.items() if all(map(self.has_ended, ids))]
        return [self._close(number, self._open.pop(number)) for number in done]

    def _close(self, round_number: int, ids: tuple[str, ...]) -> ToolsSettled:
        return ToolsSettled(
            round=round_number,
            succeeded=tuple(each for each in ids if self._outcomes[each]),
            failed=tuple(each for each in ids if not self._outcomes[each]),
        )
