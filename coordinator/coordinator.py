"""The coordinator's table of rules: what a query does next, event by event."""

from __future__ import annotations

from antiphon.coordinator import endings, reviews, rounds, summaries, tools
from antiphon.coordinator.query_state import QueryState
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    COORDINATOR,
    BriefingPrepared,
    ContextSynthesized,
    DeadlineNeared,
    DeadlinePassed,
    DraftReviewed,
    QueryCancelled,
    QueryReceived,
    QueryResumed,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseAssembled,
    SessionStalled,
    SummaryCompleted,
    SummaryFailed,
    SummaryWanted,
    ToolCallStreamed,
    ToolsSettled,
)

RULES: Rules[QueryState] = {
    QueryReceived: rounds.after_query_received,
    SummaryWanted: summaries.after_summary_wanted,
    SummaryCompleted: summaries.after_summary_completed,
    SummaryFailed: summaries.after_summary_failed,
    BriefingPrepared: rounds.after_briefing,
    ToolCallStreamed: tools.after_tool_call_streamed,
    ReasoningCompleted: rounds.after_reasoning_completed,
    ReasoningFailed: rounds.after_reasoning_failed,
    ToolsSettled: tools.after_tools_settled,
    ContextSynthesized: rounds.after_context_synthesized,
    DraftReviewed: reviews.after_draft_reviewed,
    DeadlineNeared: endings.after_deadline_neared,
    DeadlinePassed: endings.after_deadline_passed,
    SessionStalled: endings.after_stall,
    ResponseAssembled: endings.after_response,
    QueryCancelled: endings.after_cancelled,
    QueryResumed: endings.after_resumed,
}


class QueryCoordinator(Decider[QueryState]):
    """Decides what a query does next: rounds, breaker, deadline, recovery, end. Nothing else stops work."""

    role = COORDINATOR
    initial = QueryState()
    rules = RULES
