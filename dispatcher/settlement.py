"""Folds over the outcomes of tool calls: the end of a round, and what the rounds before have found.

Both are pure: a replay folds the first, and a query that goes on from its trace has the second as it was.
"""

from __future__ import annotations

from antiphon.vocabulary.events import Event, ToolsSettled, ToolSucceeded
from antiphon.vocabulary.values import Passage


class Settlement:
    """The rounds that wait for outcomes: one is settled when every confirmed call has its own, whichever came first."""

    def __init__(self) -> None:
        self._outcomes: dict[str, bool] = {}
        self._open: dict[int, tuple[str, ...]] = {}
        self._missing: dict[int, set[str]] = {}

    def has_ended(self, tool_call_id: str) -> bool:
        """Returns True if the call has its outcome; it gets only one."""
        return tool_call_id in self._outcomes

    def confirm(
        self, round_number: int, tool_call_ids: tuple[str, ...]
    ) -> list[ToolsSettled]:
        """Notes that these calls make up the round; returns what that settles."""
        self._open[round_number] = tool_call_ids
        self._missing[round_number] = set(tool_call_ids) - self._outcomes.keys()
        return self._settle()

    def end(self, tool_call_id: str, *, succeeded: bool) -> list[ToolsSettled]:
        """Notes that the call has its outcome; returns what that settles."""
        self._outcomes[tool_call_id] = succeeded
        for missing in self._missing.values():
            missing.discard(tool_call_id)
        return self._settle()

    def _settle(self) -> list[ToolsSettled]:
        # With early dispatch calls may end before the reply that confirms them is complete: either side settles.
        settled = []
        for round_number, ids in list(self._open.items()):
            if not self._missing[round_number]:
                del self._open[round_number]
                del self._missing[round_number]
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


class Found:
    """The passages that settled rounds have brought, each once, in order of discovery.

    Calls of one round run at the same time: what one of them finds does not depend on which of them was faster, so a
    call knows the rounds before its own and nothing of its own round. A call that its round does not confirm has
    brought nothing.
    """

    def __init__(self) -> None:
        self._brought: dict[str, tuple[Passage, ...]] = {}
        self._passages: dict[str, Passage] = {}

    @property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(self._passages.values())

    def note(self, event: Event) -> None:
        """Takes in an outcome or the end of a round; other events change nothing."""
        if isinstance(event, ToolSucceeded):
            self._brought[event.tool_call_id] = event.passages
        if isinstance(event, ToolsSettled):
            for call_id in event.succeeded:
                for passage in self._brought.pop(call_id, ()):
                    self._passages.setdefault(passage.id, passage)
