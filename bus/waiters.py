"""The waiter table: who owes which event, since when; a fold over what was said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.vocabulary.events import (
    AnswerRequested,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryClosed,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    ResponseAssembled,
    RoundOpened,
    SentencesScored,
    SentencesToScore,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    SummarySkipped,
    SummaryWanted,
    ToolCallsConfirmed,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolSucceeded,
)

Debt = tuple[str, str | int]
"""What is owed (kinds of event, as they are told to people) and which one (its call or round)."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that is owed.

    Attributes:
        who: The component that owes it.
        event: Its kind; several where any of them will do.
        about: The call or round that it is about; empty where there is only one.
        since_seq: The event that asked for it.
        since_at: Its time, in seconds since the epoch.
    """

    who: str
    event: str
    about: str
    since_seq: int
    since_at: float

    def __str__(self) -> str:
        about = f" of {self.about}" if self.about else ""
        return f"{self.who}: {self.event}{about}, since seq {self.since_seq}"


Table = Mapping[Debt, Waiting]

_OWERS = {
    "query_closed": "coordinator",
    "briefing_prepared": "synthesizer",
    "sentences_scored": "embedder",
    "summary_requested or summary_skipped": "coordinator",
    "summary_completed or summary_failed": "engine",
    "reasoning_completed or reasoning_failed": "engine",
    "tool_succeeded or tool_failed": "dispatcher",
    "tools_settled": "dispatcher",
    "context_synthesized": "synthesizer",
    "response_assembled": "assembler",
}
_QUERY: Debt = ("query_closed", "")
_ANSWER: Debt = ("response_assembled", "")

Rule = Callable[[Any], Debt]

_ASKS: Mapping[type[Event], Rule] = {
    QueryReceived: lambda _: _QUERY,
    RoundOpened: lambda event: ("briefing_prepared", event.call_id),
    SentencesToScore: lambda event: ("sentences_scored", event.call_id),
    SummaryWanted: lambda event: ("summary_requested or summary_skipped", event.call_id),
    SummaryRequested: lambda event: ("summary_completed or summary_failed", event.call_id),
    ReasoningRequested: lambda event: ("reasoning_completed or reasoning_failed", event.call_id),
    ToolRequested: lambda event: ("tool_succeeded or tool_failed", event.call.id),
    ToolCallsConfirmed: lambda event: ("tools_settled", event.round),
    ToolsSettled: lambda event: ("context_synthesized", event.round),
    AnswerRequested: lambda _: _ANSWER,
    ResponseAssembled: lambda _: _QUERY,
}
_PAYS: Mapping[type[Event], Rule] = {
    BriefingPrepared: _ASKS[RoundOpened],
    SentencesScored: _ASKS[SentencesToScore],
    SummaryRequested: lambda event: ("summary_requested or summary_skipped", event.for_call),
    SummarySkipped: lambda event: ("summary_requested or summary_skipped", event.for_call),
    SummaryCompleted: _ASKS[SummaryRequested],
    SummaryFailed: _ASKS[SummaryRequested],
    ReasoningCompleted: _ASKS[ReasoningRequested],
    ReasoningFailed: _ASKS[ReasoningRequested],
    ToolSucceeded: lambda event: ("tool_succeeded or tool_failed", event.tool_call_id),
    ToolFailed: lambda event: ("tool_succeeded or tool_failed", event.tool_call_id),
    ToolsSettled: _ASKS[ToolCallsConfirmed],
    ContextSynthesized: _ASKS[ToolsSettled],
    ResponseAssembled: _ASKS[AnswerRequested],
}


def fold(table: Table, recorded: Recorded[Event]) -> Table:
    """The table after one more event; the same one where nothing changed."""
    event = recorded.event
    if isinstance(event, QueryClosed):
        return {}
    kind = type(event)
    paid, asked = _PAYS.get(kind), _ASKS.get(kind)
    if paid is None and asked is None:
        return table
    after = dict(table)
    if paid:
        after.pop(paid(event), None)
    if asked:
        debt = asked(event)
        after[debt] = _waiting(debt, recorded)
    return after


def _waiting(debt: Debt, asked: Recorded[Event]) -> Waiting:
    event, about = debt
    in_words = f"round {about}" if isinstance(about, int) else about
    return Waiting(who=_OWERS[event], event=event, about=in_words, since_seq=asked.seq, since_at=asked.at)
