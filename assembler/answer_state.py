"""The assembler's state: everything that goes into an answer, folded from the query's events."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.assembler.uncertainty import indicator
from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    ContextSynthesized,
    DraftReviewed,
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
from antiphon.vocabulary.values import Exchange, Fact, Indicator, Usage, Value

Incident = (
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


class AnswerState(Value, frozen=True, kw_only=True):
    """Everything about a query that goes into its answer.

    Attributes:
        rules: The version of the rules that decide the query.
        wanted: Names of the reasoners that were to answer when the question came in; empty if that is not recorded.
        history: The last exchanges of the conversation, oldest first.
        facts: Every fact, in order of discovery.
        briefings: The briefing of each call, with the table against which its citations are resolved.
        speakers: Pairs of a call and the reasoner that answered it.
        fallback_calls: Pairs of a call requested of the fallback reasoner, and the `seq` of that request.
        replies: Replies, in order.
        summaries: The usage of each summarising call, in order.
        rounds: The findings of each settled round, in order.
        incidents: Events that may be a reason for doubt, in order.
        reviewers: Names of the reviewers who were to judge each draft.
        reviews: Their judgements, in order.
        confirmed: Ids of the tool calls that made up rounds; a failed attempt had asked for some of them.
        answer: The answer, once it was given.
        imported: True if another program gave the answer.
    """

    rules: int = 1
    question: str = ""
    wanted: tuple[str, ...] = ()
    history: tuple[Exchange, ...] = ()
    facts: tuple[Fact, ...] = ()
    briefings: tuple[Recorded[BriefingPrepared], ...] = ()
    speakers: tuple[tuple[str, str], ...] = ()
    fallback_calls: tuple[tuple[str, int], ...] = ()
    replies: tuple[Recorded[ReasoningCompleted], ...] = ()
    summaries: tuple[Usage, ...] = ()
    rounds: tuple[Recorded[ContextSynthesized], ...] = ()
    incidents: tuple[Recorded[Incident], ...] = ()
    reviewers: tuple[str, ...] = ()
    reviews: tuple[Recorded[DraftReviewed], ...] = ()
    confirmed: tuple[str, ...] = ()
    answer: ResponseAssembled | None = None
    imported: bool = False

    @property
    def usage(self) -> Usage:
        """The tokens of all reasoning calls, failed attempts included, as far as servers reported them."""
        usage = Usage()
        for reply in self.replies:
            usage = usage + reply.event.usage + reply.event.wasted
        for incident in self.incidents:
            if isinstance(incident.event, ReasoningFailed):
                usage += incident.event.usage
        return usage

    @property
    def summary_usage(self) -> Usage:
        """The tokens of all summarising calls, in the same way."""
        usage = sum(self.summaries, start=Usage())
        for incident in self.incidents:
            if isinstance(incident.event, SummaryFailed):
                usage += incident.event.usage
        return usage

    @property
    def open_parts(self) -> tuple[str, ...]:
        """The parts of the question for which nothing was found by the end of the newest round."""
        if not self.rounds:
            return ()
        return self.rounds[-1].event.open_parts

    def doubt(self, kind: str, event_seq: int, **words: str | int) -> Indicator:
        """Words a doubt as the rules of this query do."""
        return indicator(kind, event_seq, rules=self.rules, **words)

    def briefing_of(self, call_id: str) -> Recorded[BriefingPrepared] | None:
        """Returns the call's briefing: all that its model saw."""
        for briefing in reversed(self.briefings):
            if briefing.event.call_id == call_id:
                return briefing
        return None

    def reply_of(self, call_id: str | None) -> Recorded[ReasoningCompleted] | None:
        """Returns the call's reply."""
        for reply in reversed(self.replies):
            if reply.event.call_id == call_id:
                return reply
        return None

    def speaker_of(self, call_id: str) -> str | None:
        """Returns the reasoner that answered the call: that of its last attempt."""
        # Attempts before the last one failed; a dictionary of the pairs keeps the last.
        return dict(self.speakers).get(call_id)


Decision = tuple[AnswerState, tuple[Event, ...]]
"""The result of a rule: the state from then on, and the events to emit, in order."""


def note_query(state: AnswerState, recorded: Recorded[QueryReceived]) -> Decision:
    """Notes the question, its conversation and its reviewers, and a doubt if the conversation could not be read."""
    query = recorded.event
    state = replace(
        state,
        rules=query.rules,
        question=query.query,
        history=query.history,
        wanted=_wanted(query),
        reviewers=query.reviewers,
        imported=query.imported is not None,
    )
    if query.history_missing:
        return note_incident(state, recorded)
    return state, ()


def _wanted(first: QueryReceived) -> tuple[str, ...]:
    """Returns the names that may answer: the reasoner of that service, and the models that may take turns with it."""
    reasoner = dict(first.versions).get("reasoner", "")
    settings = first.settings
    # A reasoner with a name of its own, such as the offline one, answers no matter which model was requested.
    if reasoner != settings.model:
        return tuple(filter(None, [reasoner]))
    others = (settings.final_model, settings.other_model)
    return (reasoner, *[other for other in others if other])


def note_briefing(state: AnswerState, recorded: Recorded[BriefingPrepared]) -> Decision:
    """Notes the briefing of a call."""
    return replace(state, briefings=(*state.briefings, recorded)), ()


def note_request(
    state: AnswerState, recorded: Recorded[ReasoningRequested]
) -> Decision:
    """Notes a call of the fallback reasoner; other calls do not matter here."""
    if recorded.event.reasoner == "primary":
        return state, ()
    call = (recorded.event.call_id, recorded.seq)
    return replace(state, fallback_calls=(*state.fallback_calls, call)), ()


def note_speaker(state: AnswerState, recorded: Recorded[ReasoningStarted]) -> Decision:
    """Notes the reasoner that answers a call."""
    speaker = (recorded.event.call_id, recorded.event.reasoner)
    return replace(state, speakers=(*state.speakers, speaker)), ()


def note_reply(state: AnswerState, recorded: Recorded[ReasoningCompleted]) -> Decision:
    """Notes a reply."""
    return replace(state, replies=(*state.replies, recorded)), ()


def note_summary(state: AnswerState, recorded: Recorded[SummaryCompleted]) -> Decision:
    """Counts the tokens of a summary, which cost the same even if it could not be used."""
    state = replace(
        state,
        summaries=(*state.summaries, recorded.event.usage + recorded.event.wasted),
    )
    if recorded.event.is_usable:
        return state, ()
    return note_incident(state, recorded)


def note_round(state: AnswerState, recorded: Recorded[ContextSynthesized]) -> Decision:
    """Notes the facts that a round brought."""
    return replace(
        state,
        rounds=(*state.rounds, recorded),
        facts=(*state.facts, *recorded.event.facts),
    ), ()


def note_confirmed(
    state: AnswerState, recorded: Recorded[ToolCallsConfirmed]
) -> Decision:
    """Notes which tool calls make up a round."""
    return replace(
        state, confirmed=(*state.confirmed, *recorded.event.tool_call_ids)
    ), ()


def note_review(state: AnswerState, recorded: Recorded[DraftReviewed]) -> Decision:
    """Notes a reviewer's judgement of a draft."""
    return replace(state, reviews=(*state.reviews, recorded)), ()


def note_incident(state: AnswerState, recorded: Recorded[Incident]) -> Decision:
    """Notes an event that may be a reason for doubt."""
    return replace(state, incidents=(*state.incidents, recorded)), ()
