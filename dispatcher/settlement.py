"""The end of a round's tool calls as a fold over their outcomes; pure, so that a replay folds it too."""

from __future__ import annotations

from antiphon.vocabulary.events import ToolsSettled


class Settlement:
    """The rounds that wait for outcomes: one is settled when every confirmed call has its own, whichever came first."""

    def __init__(self) -> None:
        self._outcomes: dict[str, bool] = {}
        self._open: dict[int, tuple[str, ...]] = {}

    def has_ended(self, tool_call_id: str) -> bool:
        """Returns True if the call has its outcome; it gets only one."""
        return tool_call_id in self._outcomes

    def confirm(
        self, round_number: int, tool_call_ids: tuple[str, ...]
    ) -> list[ToolsSettled]:
        """Notes that these calls make up the round; returns what that settles."""
        self._open[round_number] = tool_call_ids
        return self._settle()

    def end(self, tool_call_id: str, *, succeeded: bool) -> list[ToolsSettled]:
        """Notes that the call has its outcome; returns what that settles."""
        self._outcomes[tool_call_id] = succeeded
        return self._settle()

    def _settle(self) -> list[ToolsSettled]:
        # With early dispatch calls may end before the reply that confirms them is complete: either side settles.
        settled = []
        for round_number, ids in list(self._open.items()):
            if self._outcomes.keys() >= set(ids):
                del self._open[round_number]
                settled.append(self._settled(round_number, ids))
        return settled

    def _settled(self, round_number: int, ids: tuple[str, ...]) -> ToolsSettled:
        succeeded = []
        failed = []
        for tool_call_id in ids:
            if self._outcomes[tool_call_id]:
                succeeded.append(tool_call_id)
            else:
                failed.append(tool_call_id)
        return ToolsSettled(
            round=round_number, succeeded=tuple(succeeded), failed=tuple(failed)
        )
