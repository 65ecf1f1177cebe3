"""The assembler's table of rules: what an answer is made of, and the answer itself."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.assembler import seen as noting
from antiphon.assembler.assembling import assemble, said_again
from antiphon.assembler.seen import Decision, Seen
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    ASSEMBLER,
    AnswerRequested,
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


def after_answer_requested(seen: Seen, recorded: Recorded[AnswerRequested]) -> Decision:
    """Gives the answer. There is one: requested again, because it was lost on its way, it is given again."""
    answer = said_again(seen.answer, seen) if seen.answer else assemble(seen, recorded)
    return replace(seen, answer=answer), (answer,)


RULES: Rules[Seen] = {
    QueryReceived: noting.note_query,
    SummarySkipped: noting.note_trouble,
    SummaryFailed: noting.note_trouble,
    SummaryCompleted: noting.note_summary,
    BriefingPrepared: noting.note_briefing,
    ReasoningRequested: noting.note_request,
    ReasoningStarted: noting.note_speaker,
    ReasoningRetried: noting.note_trouble,
    ReasoningFailed: noting.note_trouble,
    ReasoningCompleted: noting.note_reply,
    ToolSubstituted: noting.note_trouble,
    ToolFailed: noting.note_trouble,
    ToolCallsConfirmed: noting.note_confirmed,
    ContextSynthesized: noting.note_round,
    BreakerTripped: noting.note_trouble,
    RecoveryStarted: noting.note_trouble,
    HandlerFailed: noting.note_trouble,
    RecordingFailed: noting.note_trouble,
    AnswerRequested: after_answer_requested,
}


class ResponseAssembler(Decider[Seen]):
    """Decides the answer of one query, its citations and its uncertainty."""

    role = ASSEMBLER
    initial = Seen()
    rules = RULES
