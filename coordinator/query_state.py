"""The coordinator's state: all that it knows about one query, as a value that each event replaces."""

from __future__ import annotations

from typing import Literal

from antiphon.coordinator.budget import Budget, Spend
from antiphon.vocabulary.events import Event, Reasoner
from antiphon.vocabulary.tool_calls import CallIdentity
from antiphon.vocabulary.values import (
    QuerySettings,
    StoredText,
    ToolCall,
    Value,
)

Phase = Literal[
    "new",
    "briefing",
    "reasoning",
    "tools",
    "synthesizing",
    "reviewing",
    "answering",
    "closed",
]
Finish = Literal["no", "final", "now"]
"""The effect of the deadline so far: `final` allows one last call, `now` none."""


class QueryState(Value, frozen=True, kw_only=True):
    """A query's life so far.

    Attributes:
        rules: The version of the rules that decide the query.
        phase: The step that the query waits for.
        round: The round that is open; 0 before the first.
        final: The open round is the final one.
        catalogue: The courses as the model's calls present them.
        call_id: The reasoning call of the open round.
        fallback_searches: The fallback reasoner searches before it answers, and the model's calls leave it time to.
        model: The model for all further calls; empty: as the settings say.
        round_calls: Tool calls requested in the open round.
        asked: The identity of every tool call requested so far.
        failed_rounds: Consecutive rounds in which every tool call failed.
        partial: The requested answer is not a reply.
        stalls: Stalls of the session so far.
        found: Facts found so far.
        searched: The reason for the coordinator's own search; empty if there was none.
        final_follows: The final call follows the coordinator's own search.
        budget: The spending so far, and its limits.
        shown_tokens: Estimated tokens of the messages of the open round's call.
        summarising: The summarising call that the open round's briefing waits for; empty if there is none.
        summaries: Summarising calls requested so far.
        set_aside: The most that the newest summarising call may take.
        briefing_tokens: Limit on briefings from now on, set once a call was too long; None: as the settings say.
        reviewers: The reviewers that judge each draft before it becomes the answer.
        unreviewed: Those that have not judged the draft yet.
        objections: The reasons of those that rejected it.
        note: The objections to the last draft, for the briefings of all further rounds.
        imported: Another program ran the query, under its own limits.
    """

    rules: int = 1
    settings: QuerySettings = QuerySettings()
    received_at: float = 0.0
    phase: Phase = "new"
    round: int = 0
    final: bool = False
    call_id: str = ""
    reasoner: Reasoner = "primary"
    fallback_searches: bool = False
    model: str = ""
    round_calls: tuple[ToolCall, ...] = ()
    asked: frozenset[CallIdentity] = frozenset()
    some_tool_failed: bool = False
    failed_rounds: int = 0
    finish: Finish = "no"
    partial: bool = False
    stalls: int = 0
    question: str = ""
    catalogue: StoredText = StoredText("")
    tools: tuple[str, ...] = ()
    found: int = 0
    searched: str = ""
    final_follows: bool = False
    budget: Budget = Budget()
    shown_tokens: int = 0
    summarising: str = ""
    summaries: int = 0
    set_aside: Spend = Spend()
    briefing_tokens: int | None = None
    reviewers: tuple[str, ...] = ()
    unreviewed: tuple[str, ...] = ()
    objections: tuple[str, ...] = ()
    note: str = ""
    imported: bool = False

    @property
    def tool_call_ids(self) -> tuple[str, ...]:
        """The ids of the tool calls requested in the open round."""
        return tuple([call.id for call in self.round_calls])

    @property
    def fallback_in_charge(self) -> bool:
        """True once the fallback reasoner has taken over and does its own searching."""
        return self.fallback_searches and self.reasoner == "fallback"


Decision = tuple[QueryState, tuple[Event, ...]]
"""The result of a rule: the state from then on, and the events to emit, in order."""
