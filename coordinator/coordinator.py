"""The coordinator's ear and mouth: each handler folds one event by its rule and says what the rule returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from antiphon.coordinator import endings, rounds, summaries
from antiphon.coordinator.state import QueryState
from antiphon.coordinator.steps import Decision
from antiphon.vocabulary.events import (
    BriefingPrepared,
    ContextSynthesized,
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryCancelled,
    QueryReceived,
    QueryResumed,
    ReasoningCompleted,
    ReasoningFailed,
    Recorded,
    ResponseAssembled,
    SessionStalled,
    SummaryCompleted,
    SummaryFailed,
    SummaryWanted,
    ToolAnsweredLate,
    ToolCallStreamed,
    ToolsSettled,
)
from antiphon.vocabulary.ports import Publish

E = TypeVar("E", bound=Event)


class QueryCoordinator:
    """Decides what a query does next: rounds, breaker, deadline, recovery, end. It alone stops anything."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._state = QueryState()

    @property
    def state(self) -> QueryState:
        """What it knows now."""
        return self._state

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self._follow(rounds.after_query_received, said)

    def on_summary_wanted(self, said: Recorded[SummaryWanted]) -> None:
        self._follow(summaries.after_summary_wanted, said)

    def on_summary_completed(self, said: Recorded[SummaryCompleted]) -> None:
        self._follow(summaries.after_summary_completed, said)

    def on_summary_failed(self, said: Recorded[SummaryFailed]) -> None:
        self._follow(summaries.after_summary_failed, said)

    def on_briefing_prepared(self, said: Recorded[BriefingPrepared]) -> None:
        self._follow(rounds.after_briefing, said)

    def on_tool_call_streamed(self, said: Recorded[ToolCallStreamed]) -> None:
        self._follow(rounds.after_tool_call_streamed, said)

    def on_reasoning_completed(self, said: Recorded[ReasoningCompleted]) -> None:
        self._follow(rounds.after_reasoning_completed, said)

    def on_reasoning_failed(self, said: Recorded[ReasoningFailed]) -> None:
        self._follow(rounds.after_reasoning_failed, said)

    def on_tools_settled(self, said: Recorded[ToolsSettled]) -> None:
        self._follow(rounds.after_tools_settled, said)

    def on_tool_answered_late(self, said: Recorded[ToolAnsweredLate]) -> None:
        self._follow(endings.after_late_answer, said)

    def on_context_synthesized(self, said: Recorded[ContextSynthesized]) -> None:
        self._follow(rounds.after_context_synthesized, said)

    def on_deadline_neared(self, said: Recorded[DeadlineNeared]) -> None:
        self._follow(endings.after_deadline_neared, said)

    def on_deadline_passed(self, said: Recorded[DeadlinePassed]) -> None:
        self._follow(endings.after_deadline_passed, said)

    def on_session_stalled(self, said: Recorded[SessionStalled]) -> None:
        self._follow(endings.after_stall, said)

    def on_response_assembled(self, said: Recorded[ResponseAssembled]) -> None:
        self._follow(endings.after_response, said)

    def on_query_cancelled(self, said: Recorded[QueryCancelled]) -> None:
        self._follow(endings.after_cancelled, said)

    def on_query_resumed(self, said: Recorded[QueryResumed]) -> None:
        self._follow(endings.after_resumed, said)

    def _follow(self, rule: Callable[[QueryState, Recorded[E]], Decision], said: Recorded[E]) -> None:
        self._state, events = rule(self._state, said)
        for event in events:
            self._publish(event)
