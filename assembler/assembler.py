"""The assembler's ear and mouth: it keeps what an answer is made of, and says the answer when asked."""

from __future__ import annotations

from antiphon.assembler import seen as keeping
from antiphon.assembler.assembling import assemble, said_again
from antiphon.assembler.seen import Seen, Trouble
from antiphon.vocabulary.events import (
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
    ResponseAssembled,
    SummaryCompleted,
    SummaryFailed,
    SummarySkipped,
    ToolCallsConfirmed,
    ToolFailed,
    ToolSubstituted,
)
from antiphon.vocabulary.ports import Publish


class ResponseAssembler:
    """Decides the answer of one query, its citations and its uncertainty."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._seen = Seen()
        self._answer: ResponseAssembled | None = None

    @property
    def seen(self) -> Seen:
        """What it has seen so far."""
        return self._seen

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self._seen = keeping.note_query(self._seen, said)

    def on_briefing_prepared(self, said: Recorded[BriefingPrepared]) -> None:
        self._seen = keeping.note_briefing(self._seen, said)

    def on_reasoning_requested(self, said: Recorded[ReasoningRequested]) -> None:
        self._seen = keeping.note_request(self._seen, said)

    def on_reasoning_started(self, said: Recorded[ReasoningStarted]) -> None:
        self._seen = keeping.note_speaker(self._seen, said.event)

    def on_reasoning_completed(self, said: Recorded[ReasoningCompleted]) -> None:
        self._seen = keeping.note_reply(self._seen, said)

    def on_summary_completed(self, said: Recorded[SummaryCompleted]) -> None:
        self._seen = keeping.note_summary(self._seen, said)

    def on_summary_failed(self, said: Recorded[SummaryFailed]) -> None:
        self._note_trouble(said)

    def on_summary_skipped(self, said: Recorded[SummarySkipped]) -> None:
        self._note_trouble(said)

    def on_context_synthesized(self, said: Recorded[ContextSynthesized]) -> None:
        self._seen = keeping.note_round(self._seen, said)

    def on_tool_calls_confirmed(self, said: Recorded[ToolCallsConfirmed]) -> None:
        self._seen = keeping.note_confirmed(self._seen, said.event)

    def on_tool_failed(self, said: Recorded[ToolFailed]) -> None:
        self._note_trouble(said)

    def on_tool_substituted(self, said: Recorded[ToolSubstituted]) -> None:
        self._note_trouble(said)

    def on_breaker_tripped(self, said: Recorded[BreakerTripped]) -> None:
        self._note_trouble(said)

    def on_recovery_started(self, said: Recorded[RecoveryStarted]) -> None:
        self._note_trouble(said)

    def on_reasoning_retried(self, said: Recorded[ReasoningRetried]) -> None:
        self._note_trouble(said)

    def on_reasoning_failed(self, said: Recorded[ReasoningFailed]) -> None:
        self._note_trouble(said)

    def on_handler_failed(self, said: Recorded[HandlerFailed]) -> None:
        self._note_trouble(said)

    def on_recording_failed(self, said: Recorded[RecordingFailed]) -> None:
        self._note_trouble(said)

    def on_answer_requested(self, said: Recorded[AnswerRequested]) -> None:
        """Says the answer. There is one: asked again, because it was lost on its way, it is said again."""
        self._answer = said_again(self._answer, self._seen) if self._answer else assemble(self._seen, said)
        self._publish(self._answer)

    def _note_trouble(self, said: Recorded[Trouble]) -> None:
        self._seen = keeping.note_trouble(self._seen, said)
