"""Writes a loop of another program as a recorded query: our rules decide, and its recording is the outside.

What the rules request, the recording answers, as in a recorded fork: so the trace replays, and can be forked and turned
into a test. Where it holds no answer, the query stops there and says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from antiphon.composition import RECORDING_ENDS, deciders_of
from antiphon.dispatcher import quotable
from antiphon.engine import reply_of
from antiphon.history.folding import Fold
from antiphon.history.foreign.first_event import first_event, name_of
from antiphon.history.foreign.loops import Loop
from antiphon.history.foreign.messages import text_of
from antiphon.history.foreign.model_calls import ForeignTrace, ModelCall, ToolRun
from antiphon.traces import MOST_EVENTS, Redaction
from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import BadInputError, ModelError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import (
    Message,
    Passage,
    Request,
    StoredText,
    ToolCall,
    Usage,
)

MOST_TEXT = 200_000_000
"""Characters that all requests of one query may show together."""
MOST_CHARS = 20_000
"""Characters of a tool's output as its event has it; the request after it has all of it."""


def written_trace(
    trace: ForeignTrace,
    loop: Loop,
    query_id: str,
    now: float,
    redaction: Redaction,
) -> list[Recorded[Event]]:
    """Returns the events of one loop.

    Args:
        now: The time of events where the recording has none.
        redaction: Takes out what must not be stored, before anything is decided by it.

    Raises:
        BadInputError: It is too large, or holds what no model says.
    """
    try:
        return _Writing(trace, loop, query_id, now, redaction).events()
    except ModelError as error:
        raise BadInputError(
            f"a reply in it is none that a model gives: {error}"
        ) from error


class _Writing:
    def __init__(
        self,
        trace: ForeignTrace,
        loop: Loop,
        query_id: str,
        now: float,
        redaction: Redaction,
    ) -> None:
        self._trace = trace
        self._loop = loop
        self._query_id = query_id
        self._redaction = redaction
        self._fold = Fold(deciders_of())
        self._events: list[Recorded[Event]] = []
        self._asked: deque[Recorded[Event]] = deque()
        self._at = loop.attempts[0][0].began_at or now
        self._next = 0
        self._chars = 0
        self._texts: dict[int, StoredText] = {}
        self._runs: dict[str, list[ToolRun]] = {}
        for run in trace.runs:
            self._runs.setdefault(run.call_id or run.name, []).append(run)

    def events(self) -> list[Recorded[Event]]:
        self._publish(first_event(self._trace, self._loop, self._at), 0)
        while not isinstance(self._events[-1].event, e.QueryClosed):
            if self._fold.emitted:
                emission = self._fold.emitted.popleft()
                self._record(emission.event, emission.cause)
            elif self._asked:
                self._perform(self._asked.popleft())
            else:
                raise BadInputError("its query comes to no end")
        return self._events

    def _publish(self, event: Event, cause: int, at: float | None = None) -> None:
        """Records an event of the outside; time never runs backwards, whatever a file says."""
        self._at = max(self._at, at or 0.0)
        self._record(self._redaction.event(event), cause)

    def _record(self, event: Event, cause: int) -> None:
        if len(self._events) >= MOST_EVENTS:
            raise BadInputError(f"it would have more than {MOST_EVENTS:,} events")
        recorded = Recorded(
            query_id=self._query_id,
            seq=len(self._events) + 1,
            cause=cause,
            at=self._at,
            event=event,
        )
        self._events.append(recorded)
        for failure in self._fold.hear(recorded):
            raise BadInputError(f"{failure.handler} cannot take it: {failure.error}")
        if isinstance(event, e.ReasoningRequested | e.ToolRequested):
            self._asked.append(recorded)

    def _perform(self, asked: Recorded[Event]) -> None:
        match asked.event:
            case e.ReasoningRequested() as request:
                self._answer(request, asked.seq)
            case e.ToolRequested(call=call):
                self._run(call, asked.seq)

    def _stop(self, what: str, cause: int) -> None:
        self._publish(e.QueryCancelled(why=f"{RECORDING_ENDS}it has no {what}"), cause)

    def _answer(self, asked: e.ReasoningRequested, cause: int) -> None:
        if asked.reasoner != "primary" or self._next >= len(self._loop.attempts):
            self._stop(f"reply of {asked.call_id}", cause)
            return
        attempts = self._loop.attempts[self._next]
        self._next += 1
        for number, call in enumerate(attempts, start=1):
            sent = self._request(call)
            started = e.ReasoningStarted(
                call_id=asked.call_id,
                attempt=number,
                reasoner=sent.model,
                request=sent,
                tool_definitions=sent.tools,
            )
            self._publish(started, cause, call.began_at)
            if call.response is not None:
                self._publish(_completed(asked, call), cause, call.ended_at)
            elif number == len(attempts):
                failed = e.ReasoningFailed(
                    call_id=asked.call_id, failure=call.failure, detail=call.detail
                )
                self._publish(failed, cause, call.ended_at)
            else:
                wait_s = max(
                    0.0,
                    (attempts[number].began_at or 0.0) - (call.ended_at or self._at),
                )
                retried = e.ReasoningRetried(
                    call_id=asked.call_id,
                    attempt=number,
                    wait_s=wait_s,
                    why=call.failure,
                    detail=call.detail,
                )
                self._publish(retried, cause, call.ended_at)

    def _request(self, call: ModelCall) -> Request:
        given = call.request
        messages: list[Message] = []
        for message in given["messages"]:
            content = tuple(map(self._text, message["content"]))
            self._chars += sum(len(block.text) for block in content)
            messages.append(Message(role=message["role"], content=content))
        # Each round shows all before it, so that a small file may ask for very much.
        if self._chars > MOST_TEXT:
            raise BadInputError(
                f"its calls show more than {MOST_TEXT:,} characters together"
            )
        tools = given.get("tools")
        return Request(
            model=name_of(given["model"]),
            max_tokens=given["max_tokens"],
            # Somebody else's, which the marks of the fields take for ours.
            system=StoredText(self._redaction.text(_json(given.get("system", [])))),
            messages=tuple(messages),
            tools=StoredText(self._redaction.text(_json(tools))) if tools else None,
            stream=False,
        )

    def _text(self, block: Json) -> StoredText:
        # The requests of one query share most of their blocks, and of some forms the very objects.
        if id(block) not in self._texts:
            self._texts[id(block)] = StoredText(_json(block))
        return self._texts[id(block)]

    def _run_of(self, call: ToolCall) -> ToolRun | None:
        runs = self._runs.get(call.id) or self._runs.get(call.name) or []
        return runs.pop(0) if runs else None

    def _run(self, call: ToolCall, cause: int) -> None:
        result = self._loop.results.get(call.id)
        run = self._run_of(call)
        if result is None and run is None:
            self._stop(f"result of {call.name} ({call.id})", cause)
            return
        run = run or ToolRun(call.id, call.name, "")
        result = result or {"content": []}
        started = e.ToolStarted(tool_call_id=call.id, name=call.name)
        self._publish(started, cause, run.began_at)
        took_ms = 1000 * max(0.0, (run.ended_at or self._at) - self._at)
        # What the model was shown comes before what the tool said of itself.
        text = text_of(result["content"]) or run.output
        outcome: Event = e.ToolSucceeded(
            tool_call_id=call.id,
            name=call.name,
            output=StoredText(text[:MOST_CHARS]),
            passages=tuple(_passages(call.name, result["content"], text)),
            duration_ms=took_ms,
        )
        if result.get("is_error") or run.failed:
            outcome = e.ToolFailed(
                tool_call_id=call.id,
                name=call.name,
                failure="error",
                detail=text[:MOST_CHARS],
                duration_ms=took_ms,
            )
        self._publish(outcome, cause, run.ended_at)


def _passages(tool: str, shown: list[Json], text: str) -> list[Passage]:
    """Returns what a tool brought as evidence: its search results, or all its words."""
    found: list[Passage] = []
    for block in shown:
        if block["type"] == "search_result":
            source = str(block.get("source") or tool)
            title = str(block.get("title") or source)
            found.append(
                quotable(
                    title,
                    text_of(block.get("content"))[:MOST_CHARS],
                    link=web_link(source),
                )
            )
    if not found and text.strip():
        found.append(quotable(tool, text[:MOST_CHARS]))
    return [each for each in found if each.text.text.strip()]


def _completed(asked: e.ReasoningRequested, call: ModelCall) -> e.ReasoningCompleted:
    reply = reply_of(call.response or {})
    usage: Usage = replace(reply.usage, cost_usd=call.cost_usd)
    for name in (
        reply.model,
        reply.stop_reason,
        *[f"{each.id} {each.name}" for each in reply.tool_calls],
    ):
        name_of(name)
    fields: Mapping[str, Any] = msgspec.structs.asdict(reply)
    return e.ReasoningCompleted(
        call_id=asked.call_id, round=asked.round, **{**fields, "usage": usage}
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
