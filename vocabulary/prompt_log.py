"""The log of a store that is in the process: it takes events without a task and a timer for each append."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, runtime_checkable

from antiphon.vocabulary.events import Event, Recorded


@runtime_checkable
class PromptLog(Protocol):
    """A log that mostly takes events at once; one that never does need not satisfy this.

    Where it takes nothing it says no more than that: `append` is then to be awaited, and says what is wrong.
    """

    def append_now(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> bool:
        """Stores events as `append` does; returns False where nothing is stored."""

    def append_soon(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> Awaitable[bool]:
        """Stores events as `append` does, together with those of other queries, at the end of the loop's turn.

        Returns:
            What ends in less than half a second, with False where nothing is stored.
        """
