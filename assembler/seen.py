"""What the assembler has seen of a query: a fold over the events that an answer is made of."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    HandlerFailed,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    RecordingFailed,
    RecoveryStarted,
    ResponseAssembled,
    SummaryCompleted,
    SummaryFailed,
    SummarySkipped,
    ToolCallsConfirmed,
    ToolFailed,
    ToolSubstituted,
)
from antiphon.vocabulary.values import Fact, Usage, Value

Trouble = (
    QueryReceived
    | ToolFailed
    | ToolSubstituted
    | BreakerTripped
    | RecoveryStarted
    | ReasoningRetried
    | ReasoningFailed
    | SummaryCompleted
    | SummaryFailed
    | SummarySkipped
    | HandlerFailed
    | RecordingFailed
)
"""Events that may be a reason for doubt."""


class Seen(Value, frozen=True, kw_only=True):
    """The answer's makings.

    Attributes:
        facts: Every fact, in order of discovery.
        briefings: What each call was shown, with the table that its citations are resolved against.
        speakers: Pairs of a call and who answered it.
        fallback_calls: Pairs of a call that the fallback reasoner was asked for, and the event that asked.
        replies: Replies, in order.
        summaries: The usage of each summarising call, in order.
        rounds: What each settled round brought, in order.
        troubles: Reasons for doubt, in order.
        confirmed: Ids of the tool calls that made up rounds; some were asked for by an attempt that then failed.
        answer: The answer, once it was given.
    """

    question: str = ""
    facts: tuple[Fact, ...] = ()
    briefings: tuple[Recorded[BriefingPrepared], ...] = ()
    speakers: tuple[tuple[str, str], ...] = ()
    fallback_calls: tuple[tuple[str, int], ...] = ()
    replies: tuple[Recorded[ReasoningCompleted], ...] = ()
    summaries: tuple[Usage, ...] = ()
    rounds: tuple[Recorded[ContextSynthesized], ...] = ()
    troubles: tuple[Recorded[Trouble], ...] = ()
    confirmed: tuple[str, ...] = ()
    answer: ResponseAssembled | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of all calls, of attempts that failed too, as far as servers told."""
        replies = [usage for said in self.replies for usage in (said.event.usage, said.event.wasted)]
        failed = [said.event.usage for said in self.troubles if isinstance(said.event, ReasoningFailed)]
        return sum((*replies, *failed), start=Usage())

    @property
    def summary_usage(self) -> Usage:
        """The tokens of all summarising calls, in the same way."""
        failed = [said.event.usage for said in self.troubles if isinstance(said.event, SummaryFailed)]
        return sum((*self.summaries, *failed), start=Usage())

    def briefing_of(self, call_id: str) -> Recorded[BriefingPrepared] | None:
        """What the call was shown."""
        return next((said for said in reversed(self.briefings) if said.event.call_id == call_id), None)

    def reply_of(self, call_id: str | None) -> Recorded[ReasoningCompleted] | None:
        """What the call brought."""
        return next((said for said in reversed(self.replies) if said.event.call_id == call_id), None)

    def speaker_of(self, call_id: str) -> str | None:
        """Who answered the call: the last attempt's reasoner."""
        return dict(self.speakers).get(call_id)


Decision = tuple[Seen, tuple[Event, ...]]


def note_query(seen: Seen, recorded: Recorded[QueryReceived]) -> Decision:
    """Notes the question, and that its conversation could not be read, if so."""
    seen = replace(seen, question=recorded.event.query)
    if recorded.event.history_missing:
        return note_trouble(seen, recorded)
    return seen, ()


def note_briefing(seen: Seen, recorded: Recorded[BriefingPrepared]) -> Decision:
    """Notes what a call is shown."""
    return replace(seen, briefings=(*seen.briefings, recorded)), ()


def note_request(seen: Seen, recorded: Recorded[ReasoningRequested]) -> Decision:
    """Notes a call of the fallback reasoner; only those matter."""
    if recorded.event.reasoner == "primary":
        return seen, ()
    call = (recorded.event.call_id, recorded.seq)
    return replace(seen, fallback_calls=(*seen.fallback_calls, call)), ()


def note_speaker(seen: Seen, recorded: Recorded[ReasoningStarted]) -> Decision:
    """Notes who answers a call."""
    speaker = (recorded.event.call_id, recorded.event.reasoner)
    return replace(seen, speakers=(*seen.speakers, speaker)), ()


def note_reply(seen: Seen, recorded: Recorded[ReasoningCompleted]) -> Decision:
    """Notes a reply."""
    return replace(seen, replies=(*seen.replies, recorded)), ()


def note_summary(seen: Seen, recorded: Recorded[SummaryCompleted]) -> Decision:
    """Counts the tokens of a summary, which cost the same if it could not be used."""
    seen = replace(seen, summaries=(*seen.summaries, recorded.event.usage + recorded.event.wasted))
    if recorded.event.is_usable:
        return seen, ()
    return note_trouble(seen, recorded)


def note_round(seen: Seen, recorded: Recorded[ContextSynthesized]) -> Decision:
    """Notes the facts that a round brought."""
    return replace(seen, rounds=(*seen.rounds, recorded), facts=(*seen.facts, *recorded.event.facts)), ()


def note_confirmed(seen: Seen, recorded: Recorded[ToolCallsConfirmed]) -> Decision:
    """Notes which tool calls make up a round."""
    return replace(seen, confirmed=(*seen.confirmed, *recorded.event.tool_call_ids)), ()


def note_trouble(seen: Seen, recorded: Recorded[Trouble]) -> Decision:
    """Notes a reason for doubt."""
    return replace(seen, troubles=(*seen.troubles, recorded)), ()
