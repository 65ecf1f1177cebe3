"""What the assembler has seen of a query: a fold over the events that an answer is made of."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    ContextSynthesized,
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


def note_query(seen: Seen, said: Recorded[QueryReceived]) -> Seen:
    troubles = (*seen.troubles, said) if said.event.history_missing else seen.troubles
    return replace(seen, question=said.event.query, troubles=troubles)


def note_briefing(seen: Seen, said: Recorded[BriefingPrepared]) -> Seen:
    return replace(seen, briefings=(*seen.briefings, said))


def note_request(seen: Seen, said: Recorded[ReasoningRequested]) -> Seen:
    """Only calls of the fallback reasoner are worth noting."""
    if said.event.reasoner == "primary":
        return seen
    return replace(seen, fallback_calls=(*seen.fallback_calls, (said.event.call_id, said.seq)))


def note_speaker(seen: Seen, event: ReasoningStarted) -> Seen:
    return replace(seen, speakers=(*seen.speakers, (event.call_id, event.reasoner)))


def note_reply(seen: Seen, said: Recorded[ReasoningCompleted]) -> Seen:
    return replace(seen, replies=(*seen.replies, said))


def note_summary(seen: Seen, said: Recorded[SummaryCompleted]) -> Seen:
    """Its tokens are counted, whether it could be used or not."""
    seen = replace(seen, summaries=(*seen.summaries, said.event.usage + said.event.wasted))
    return seen if said.event.is_usable else note_trouble(seen, said)


def note_round(seen: Seen, said: Recorded[ContextSynthesized]) -> Seen:
    return replace(seen, rounds=(*seen.rounds, said), facts=(*seen.facts, *said.event.facts))


def note_confirmed(seen: Seen, event: ToolCallsConfirmed) -> Seen:
    return replace(seen, confirmed=(*seen.confirmed, *event.tool_call_ids))


def note_trouble(seen: Seen, said: Recorded[Trouble]) -> Seen:
    return replace(seen, troubles=(*seen.troubles, said))
