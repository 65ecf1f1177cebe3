"""The assembler's table of rules: they gather what goes into an answer, and build it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.assembler import answer_state as noting
from antiphon.assembler.answer_state import AnswerState, Decision
from antiphon.assembler.doubts import doubts_of
from antiphon.assembler.drafts import Draft, draft_from_facts, draft_statement
from antiphon.assembler.reply import doubts_of_ending, draft_from_reply
from antiphon.assembler.uncertainty import confidence, without_repeats
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    ASSEMBLER,
    AnswerRequested,
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
from antiphon.vocabulary.values import Citation


def after_answer_requested(
    state: AnswerState, recorded: Recorded[AnswerRequested]
) -> Decision:
    """Gives the answer. A query has only one: if it was lost on its way and is requested again, it is repeated."""
    if state.answer is not None:
        repeated = with_new_doubts(state.answer, state)
        return replace(state, answer=repeated), (repeated,)
    answer = assemble(state, recorded)
    return replace(state, answer=answer), (answer,)


RULES: Rules[AnswerState] = {
    QueryReceived: noting.note_query,
    SummarySkipped: noting.note_incident,
    SummaryFailed: noting.note_incident,
    SummaryCompleted: noting.note_summary,
    BriefingPrepared: noting.note_briefing,
    ReasoningRequested: noting.note_request,
    ReasoningStarted: noting.note_speaker,
    ReasoningRetried: noting.note_incident,
    ReasoningFailed: noting.note_incident,
    ReasoningCompleted: noting.note_reply,
    ToolSubstituted: noting.note_incident,
    ToolFailed: noting.note_incident,
    ToolCallsConfirmed: noting.note_confirmed,
    ContextSynthesized: noting.note_round,
    DraftReviewed: noting.note_review,
    BreakerTripped: noting.note_incident,
    RecoveryStarted: noting.note_incident,
    HandlerFailed: noting.note_incident,
    RecordingFailed: noting.note_incident,
    AnswerRequested: after_answer_requested,
}


class ResponseAssembler(Decider[AnswerState]):
    """Decides the answer of one query, its citations and its uncertainty."""

    role = ASSEMBLER
    initial = AnswerState()
    rules = RULES


def assemble(
    state: AnswerState, recorded: Recorded[AnswerRequested]
) -> ResponseAssembled:
    """Builds the requested answer."""
    draft = _draft(state, recorded)
    indicators = without_repeats((*doubts_of(state), *draft.doubts))
    links = _links_by_source(draft.citations)
    # Counted by number: a round whose outcomes came twice is still one round.
    rounds = {settled.event.round for settled in state.rounds}
    return ResponseAssembled(
        answer=draft.text,
        sources=tuple(links),
        source_links=tuple(links.values()),
        citations=draft.citations,
        confidence=confidence(indicators),
        indicators=indicators,
        rounds=len(rounds),
        reasoner=draft.reasoner,
        calls=len(state.replies),
        usage=state.usage,
        summaries=len(state.summaries),
        summary_usage=state.summary_usage,
    )


def answer_so_far(trace: Sequence[Recorded[Event]], why: str) -> ResponseAssembled:
    """Builds the answer of a query that was stopped before it had one, from what was found and used by then."""
    state = AnswerState()
    for recorded in trace:
        rule = RULES.get(type(recorded.event))
        if rule is not None:
            state, _ = rule(state, recorded)
    # The trace holds no request for this answer, so one is made up at its last event.
    last = trace[-1]
    requested = Recorded(
        query_id=last.query_id,
        seq=last.seq,
        cause=last.cause,
        at=last.at,
        event=AnswerRequested(mode="partial", why=why),
    )
    return assemble(state, requested)


def with_new_doubts(answer: ResponseAssembled, state: AnswerState) -> ResponseAssembled:
    """Returns the same answer with the doubts that have come since."""
    indicators = without_repeats((*answer.indicators, *doubts_of(state)))
    return replace(answer, indicators=indicators, confidence=confidence(indicators))


def _draft(state: AnswerState, recorded: Recorded[AnswerRequested]) -> Draft:
    """Drafts an answer in the requested mode, or the next plainer one that is possible."""
    requested = recorded.event
    if requested.mode == "plain":
        return draft_statement(state, requested.why, recorded.seq)
    reply = state.reply_of(requested.call_id)
    if requested.mode == "reply" and reply is not None:
        return draft_from_reply(state, reply)
    draft = draft_from_facts(state, requested.why, recorded.seq)
    if reply is None:
        return draft
    # The extracts replace a reply that was no answer; the reader still learns how it ended.
    return replace(draft, doubts=(*doubts_of_ending(state, reply), *draft.doubts))


def _links_by_source(citations: Sequence[Citation]) -> dict[str, str | None]:
    """Returns the cited sources, in order of first citation, each with its first link."""
    links: dict[str, str | None] = {}
    for citation in citations:
        # A later passage of the same source may be the first that has a link.
        if not links.get(citation.source):
            links[citation.source] = citation.link
    return links
