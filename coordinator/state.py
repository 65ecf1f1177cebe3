"""The coordinator's state: everything that it knows of one query, as a value made anew at each event."""

from __future__ import annotations

from typing import Literal

from antiphon.coordinator.budget import Budget, Spend
from antiphon.vocabulary.events import Event, Reasoner
from antiphon.vocabulary.tool_calls import CallIdentity
from antiphon.vocabulary.values import QuerySettings, ToolCall, Value

Phase = Literal["new", "briefing", "reasoning", "tools", "synthesizing", "reviewing", "answering", "closed"]
Finish = Literal["no", "final", "now"]
"""How far the deadline has come: `final` allows one more call, `now` none."""


class QueryState(Value, frozen=True, kw_only=True):
    """A query's life so far.

    Attributes:
        phase: What is being waited for.
        round: The round that is open; 0 before the first.
        final: The open round is the final one.
        call_id: The reasoning call of the open round.
        model: The model that is asked from now on; empty: as the settings say.
        round_calls: Tool calls requested in the open round.
        asked: The identity of every tool call requested so far.
        failed_rounds: Rounds on end in which every tool call failed.
        partial: The answer asked for is not a reply.
        stalls: How often the session stood still.
        found: Facts found so far.
        searched: Why the coordinator began a search by itself; empty where it did not.
        final_follows: After the coordinator's own search comes the final call.
        budget: What was spent, and what may be.
        shown_tokens: Estimated tokens of what the open round's call is shown.
        summarising: The summarising call that the open round's briefing waits for; empty where none is under way.
        summaries: Summarising calls asked for so far.
        set_aside: The most that the newest summarising call may take.
        briefing_tokens: Most tokens of briefings from now on, where a call was too long; None: as the settings say.
        reviewers: Who is asked about each draft before it becomes the answer.
        unreviewed: Those of them whose judgement of the draft is awaited.
        objections: What those said who did not accept it.
        note: What the calls of all further rounds are shown of the last draft's reviews.
    """

    settings: QuerySettings = QuerySettings()
    received_at: float = 0.0
    phase: Phase = "new"
    round: int = 0
    final: bool = False
    call_id: str = ""
    reasoner: Reasoner = "primary"
    model: str = ""
    round_calls: tuple[ToolCall, ...] = ()
    asked: frozenset[CallIdentity] = frozenset()
    some_tool_failed: bool = False
    failed_rounds: int = 0
    finish: Finish = "no"
    partial: bool = False
    stalls: int = 0
    question: str = ""
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

    @property
    def tool_call_ids(self) -> tuple[str, ...]:
        """The ids of the tool calls requested in the open round."""
        return tuple(call.id for call in self.round_calls)


Decision = tuple[QueryState, tuple[Event, ...]]
"""The result of a rule: the state from then on, and the events to emit, in order."""
