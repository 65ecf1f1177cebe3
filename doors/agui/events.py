"""A query as the events of a run of AG-UI 1.0 (https://docs.ag-ui.com/concepts/events)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

from ag_ui.core import (
    PROTOCOL_VERSION,
    BaseEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TokenUsage,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from ag_ui.encoder import EventEncoder

from antiphon.api.errors import ErrorBody
from antiphon.api.query_schemas import answer_of
from antiphon.api.responses import ended_by
from antiphon.doors.showing import Json, events_while, line_of
from antiphon.doors.writing import written
from antiphon.service import Outcome, Query
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    RoundOpened,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.outside import without_controls

STATE = "antiphon"
"""The key of our part of the shared state; a page may keep other keys beside it."""


class RunEvents:
    """The events of one run in the protocol's order: every step, call and message ends before the run does."""

    def __init__(self, asked: RunAgentInput, base_url: str) -> None:
        self._asked = asked
        self._base_url = base_url
        self._query_id = ""
        self._step = ""
        self._reasoned = 0
        self._unanswered: dict[str, None] = {}

    async def of(self, query: Query) -> AsyncIterator[bytes]:
        """Yields the query's events as server-sent events, its answer or failure last."""
        self._query_id = query.query_id
        yield _sent(
            RunStartedEvent(
                thread_id=self._asked.thread_id,
                run_id=self._asked.run_id,
                protocol_version=PROTOCOL_VERSION,
            )
        )
        yield _sent(self._state({"query_id": query.query_id, "status": "running"}))
        async for event in events_while(query):
            for each in self._after(event):
                yield _sent(each)
        async for sent in ended_by(query, self._last, run_error):
            yield sent

    def _after(self, event: Event) -> Iterator[BaseEvent]:
        """Yields the AG-UI events for one recorded event."""
        match event:
            case RoundOpened(round=number, final=final):
                yield from self._finish_step()
                self._step = "answer" if final else f"round {number}"
                yield StepStartedEvent(step_name=self._step)
            case ToolRequested(call=call):
                self._unanswered[call.id] = None
                shown = self._id(call.id)
                yield ToolCallStartEvent(tool_call_id=shown, tool_call_name=call.name)
                yield ToolCallArgsEvent(tool_call_id=shown, delta=call.arguments)
                yield ToolCallEndEvent(tool_call_id=shown)
            case ToolSucceeded(tool_call_id=call_id, output=output):
                yield self._result(call_id, output.text)
            case ToolFailed(tool_call_id=call_id, detail=detail):
                yield self._result(call_id, f"Failed: {detail}")
            case ReasoningCompleted():
                yield from self._reasoning(event.thought)
            case _:
                yield from self._reasoning(line_of(event) or "")

    def _last(self, outcome: Outcome) -> Iterator[bytes]:
        return map(_sent, self._ending(outcome))

    def _ending(self, outcome: Outcome) -> Iterator[BaseEvent]:
        """Yields the answer line by line, its citations, and the end of the run."""
        # A page would show a call without a result as still running.
        for call_id in list(self._unanswered):
            yield self._result(call_id, "The query ended before a result came.")
        yield from self._finish_step()
        text = written(outcome, self._base_url)
        message = self._id("answer")
        yield TextMessageStartEvent(message_id=message, role="assistant")
        for line in text.text.splitlines(keepends=True):
            yield TextMessageContentEvent(message_id=message, delta=line)
        yield TextMessageEndEvent(message_id=message)
        answer = answer_of(outcome).model_dump(mode="json")
        answer["citations"] = text.citations
        yield self._state(answer)
        used = text.usage
        cancelled = outcome.status == "cancelled"
        yield RunFinishedEvent(
            thread_id=self._asked.thread_id,
            run_id=self._asked.run_id,
            result=answer,
            outcome=RunFinishedCancelledOutcome() if cancelled else None,
            usage=[
                TokenUsage(
                    model=outcome.response.reasoner,
                    input_tokens=used.all_input_tokens,
                    output_tokens=used.output_tokens,
                    total_tokens=used.all_tokens,
                    reasoning_tokens=used.thinking_tokens,
                    cached_input_tokens=used.cache_read_tokens,
                    cache_write_input_tokens=used.cache_write_tokens,
                )
            ],
        )

    def _finish_step(self) -> Iterator[BaseEvent]:
        if self._step:
            yield StepFinishedEvent(step_name=self._step)
        self._step = ""

    def _result(self, call_id: str, content: str) -> BaseEvent:
        self._unanswered.pop(call_id, None)
        return ToolCallResultEvent(
            message_id=self._id(f"{call_id}-result"),
            tool_call_id=self._id(call_id),
            content=without_controls(content),
        )

    def _id(self, name: str) -> str:
        """Returns an id that is unique among all queries of the conversation."""
        return f"{self._query_id}-{name}"

    def _reasoning(self, text: str) -> Iterator[BaseEvent]:
        """Yields a whole span of reasoning: the model's thinking, or a step of the query; nothing for no text."""
        if not text:
            return
        self._reasoned += 1
        span = self._id(f"reasoning-{self._reasoned}")
        yield ReasoningStartEvent(message_id=span)
        yield ReasoningMessageStartEvent(message_id=span)
        yield ReasoningMessageContentEvent(
            message_id=span, delta=without_controls(text)
        )
        yield ReasoningMessageEndEvent(message_id=span)
        yield ReasoningEndEvent(message_id=span)

    def _state(self, ours: Json) -> BaseEvent:
        """Returns the change of the shared state; a client whose state is not an object gets a new one."""
        if not isinstance(self._asked.state, Mapping):
            return StateSnapshotEvent(snapshot={STATE: ours})
        added = {"op": "add", "path": f"/{STATE}", "value": ours}
        return StateDeltaEvent.model_validate({"delta": [added]})


def run_error(failed: ErrorBody) -> bytes:
    """Returns the event that ends a run without an answer."""
    error = failed["error"]
    return _sent(RunErrorEvent(message=error["message"], code=error["code"]))


def _sent(event: BaseEvent) -> bytes:
    return EventEncoder().encode(event).encode()
