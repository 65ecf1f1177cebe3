"""The synthesizer's ear and mouth: each handler folds one event into memory and says what the rules return."""

from __future__ import annotations

from antiphon.synthesizer.briefing import brief
from antiphon.synthesizer.memory import Memory, remember, settle, within
from antiphon.synthesizer.summarising import want_summary
from antiphon.synthesizer.transcript import transcribe
from antiphon.vocabulary.events import (
    BreakerTripped,
    Event,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    RoundOpened,
    SummaryCompleted,
    SummaryFailed,
    SummarySkipped,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Publish


class ContextSynthesizer:
    """Decides what is remembered of one query, and what each of its reasoning calls is shown."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._memory = Memory()
        self._waiting: RoundOpened | None = None

    @property
    def memory(self) -> Memory:
        """What it remembers now."""
        return self._memory

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self._remember(said.event)

    def on_reasoning_completed(self, said: Recorded[ReasoningCompleted]) -> None:
        self._remember(said.event)

    def on_tool_requested(self, said: Recorded[ToolRequested]) -> None:
        self._remember(said.event)

    def on_tool_started(self, said: Recorded[ToolStarted]) -> None:
        self._remember(said.event)

    def on_tool_substituted(self, said: Recorded[ToolSubstituted]) -> None:
        self._remember(said.event)

    def on_tool_succeeded(self, said: Recorded[ToolSucceeded]) -> None:
        self._remember(said.event)

    def on_tool_failed(self, said: Recorded[ToolFailed]) -> None:
        self._remember(said.event)

    def on_breaker_tripped(self, said: Recorded[BreakerTripped]) -> None:
        self._remember(said.event)

    def on_tools_settled(self, said: Recorded[ToolsSettled]) -> None:
        self._memory, synthesized = settle(self._memory, said.event)
        if synthesized is not None:
            self._publish(synthesized)

    def on_round_opened(self, said: Recorded[RoundOpened]) -> None:
        """Says the briefing, or the transcript where calls are shown that; or first the wish for a summary."""
        memory = self._memory = within(self._memory, said.event)
        self._waiting = None
        if memory.settings.context == "transcript" and said.event.briefing_tokens is None:
            self._publish(transcribe(memory.transcript, memory.head, memory.sources, said.event))
            return
        wanted = want_summary(memory, said.event)
        if wanted is None:
            self._brief(said.event)
            return
        self._waiting = said.event
        self._remember(wanted)
        self._publish(wanted)

    def on_summary_completed(self, said: Recorded[SummaryCompleted]) -> None:
        self._go_on(said.event)

    def on_summary_failed(self, said: Recorded[SummaryFailed]) -> None:
        self._go_on(said.event)

    def on_summary_skipped(self, said: Recorded[SummarySkipped]) -> None:
        self._go_on(said.event)

    def _go_on(self, event: SummaryCompleted | SummaryFailed | SummarySkipped) -> None:
        """Says the briefing that waited, with a summary or without."""
        opened = self._waiting
        if opened is None or opened.call_id != event.for_call:
            return
        self._waiting = None
        self._remember(event)
        self._brief(opened)

    def _brief(self, opened: RoundOpened) -> None:
        briefing = brief(self._memory, opened)
        self._remember(briefing)
        self._publish(briefing)

    def _remember(self, event: Event) -> None:
        self._memory = remember(self._memory, event)
