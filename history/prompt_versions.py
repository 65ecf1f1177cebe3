"""Whether the system prompts of a trace are those of today: of a request, the one part that no other event holds."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine import SYSTEM_VERSION
from antiphon.history.divergence import Divergence, chain_of, kind_of
from antiphon.history.rendering import Call, prompts_of
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    ReasoningRequested,
    ReasoningStarted,
    Recorded,
    SummaryRequested,
)
from antiphon.vocabulary.values import StoredText


class PromptsThen:
    """Compares the prompts of a trace, as it is replayed.

    Attributes:
        changed: The first that is another one now. It hinders no replay: what was decided is compared all the same.
    """

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self._events = events
        self._asked: dict[str, Call] = {}
        self.changed: Divergence | None = None

    def hear(self, recorded: Recorded[Event]) -> None:
        """Takes in the next event."""
        match recorded.event:
            case ReasoningRequested() | SummaryRequested() as asked:
                self._asked[asked.call_id] = asked
            case ReasoningStarted() as started if self.changed is None:
                self._compare(recorded, started)

    def _compare(self, recorded: Recorded[Event], started: ReasoningStarted) -> None:
        asked = self._asked.get(started.call_id)
        if asked is None:
            return
        prompts = prompts_of(asked)
        if started.request.system not in prompts:
            self.changed = self._difference(recorded, started, prompts[0])

    def _difference(self, recorded: Recorded[Event], started: ReasoningStarted, system: StoredText) -> Divergence:
        first = self._events[0].event
        version = dict(first.versions).get("system_prompt") if isinstance(first, QueryReceived) else None
        told = version != SYSTEM_VERSION
        return Divergence(
            seq=recorded.seq,
            kind=kind_of(started),
            difference="settings" if told else "code",
            field="request.system",
            recorded=started.request.system.text,
            now=system.text,
            chain=chain_of(self._events, recorded.seq),
            detail=f"the system prompt was version {version} and is {SYSTEM_VERSION} now; what was decided is the same"
            if told
            else f"the system prompt is another one now, though both are called version {SYSTEM_VERSION}",
        )
