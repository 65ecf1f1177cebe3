"""Compares the system prompts of a trace with those of today: the one part of a request that no other event holds."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine import SYSTEM_VERSION, Profile, build_request, prepare_summary
from antiphon.history.divergence import Divergence, DivergenceKind, chain_of
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    ReasoningRequested,
    ReasoningStarted,
    Recorded,
    SummaryRequested,
)
from antiphon.vocabulary.values import StoredText

ModelRequest = ReasoningRequested | SummaryRequested
"""The events that request a call to a model."""


class PromptComparison:
    """Compares the prompts of a trace as it is replayed.

    Attributes:
        changed: The first prompt that differs now. The replay goes on: what was decided is compared all the same.
    """

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self._events = events
        self._requests: dict[str, ModelRequest] = {}
        self.changed: Divergence | None = None

    def hear(self, recorded: Recorded[Event]) -> None:
        """Takes in the next event."""
        match recorded.event:
            case ReasoningRequested() | SummaryRequested() as request:
                self._requests[request.call_id] = request
            case ReasoningStarted() as started if self.changed is None:
                self._compare(recorded.seq, started)

    def _compare(self, seq: int, started: ReasoningStarted) -> None:
        request = self._requests.get(started.call_id)
        if request is None:
            return
        # Which of them it was depends on what the server could be sent then, which the trace does not say.
        prompts = _prompts_of(request)
        if started.request.system not in prompts:
            self.changed = self._difference(seq, started, prompts[0])

    def _difference(
        self, seq: int, started: ReasoningStarted, prompt: StoredText
    ) -> Divergence:
        first = self._events[0].event
        version: str | None = None
        if isinstance(first, QueryReceived):
            version = dict(first.versions).get("system_prompt")
        kind: DivergenceKind = "settings"
        detail = f"the system prompt was version {version} and is {SYSTEM_VERSION} now; what was decided is the same"
        # A prompt that changed under the same version is a mistake of ours, not a choice of somebody's.
        if version == SYSTEM_VERSION:
            kind = "code"
            detail = f"the system prompt is another one now, though both are called version {SYSTEM_VERSION}"
        return Divergence(
            seq=seq,
            kind=started.kind_name(),
            difference=kind,
            field="request.system",
            recorded=started.request.system.text,
            now=prompt.text,
            chain=chain_of(self._events, seq),
            detail=detail,
        )


def _prompts_of(request: ModelRequest) -> list[StoredText]:
    """Returns the system prompts that a call may have now, the usual one first: servers differ in what they accept."""
    if isinstance(request, SummaryRequested):
        return [prepare_summary(request).request.system]
    prompts: list[StoredText] = []
    for profile in (Profile(), Profile(caching=False)):
        for inline in (False, True):
            prompts.append(
                build_request(request, StoredText("[]"), profile, inline=inline).system
            )
    return prompts
