"""Writes a loop of another program as a recorded query: our rules decide, and its recording plays the outside.

The recording answers the requests of the rules, as in a recorded fork, so the trace replays, and can be forked and
turned into a test. If the recording lacks an answer, the query stops there and says so.
"""

from __future__ import annotations

from collections import deque

from msgspec.structs import asdict, replace

from antiphon.composition import RECORDING_ENDS, deciders_of
from antiphon.dispatcher import quotable
from antiphon.engine import reply_of
from antiphon.history.folding import Fold
from antiphon.history.foreign.first_event import first_event, name_of
from antiphon.history.foreign.loops import Loop
from antiphon.history.foreign.messages import text_of, written
from antiphon.history.foreign.model_calls import ForeignTrace, ModelCall, ToolRun
from antiphon.traces import MOST_EVENTS, Redaction
from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, Passage, Request, StoredText, ToolCall

MOST_TEXT = 200_000_000
"""Most characters in all requests of one query together."""
MOST_CHARS = 20_000
"""Characters of a tool's output in its event; the next request contains all of it."""


class Writing:
    """Turns one loop into events.

    Args:
        now: The time of events if the recording has no times.
        redaction: Removes texts that must not be stored, before the rules see them.
    """

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
        self._calls = deque(loop.attempts)
        self._query_id = query_id
        self._redaction = redaction
        self._fold = Fold(deciders_of())
        self._events: list[Recorded[Event]] = []
        self._asked: deque[Recorded[Event]] = deque()
        self._at = loop.attempts[0][0].began_at or now
        self._chars = 0
        self._texts: dict[int, StoredText] = {}
        self._runs: dict[str, deque[ToolRun]] = {}
        for run in trace.runs:
            self._runs.setdefault(run.call_id or run.name, deque()).append(run)

    def events(self) -> list[Recorded[Event]]:
        """Returns the events.

        Raises:
            BadInputError: It is too large, or its query does not end.
            ModelError: A model does not give a reply like one in it.
        """
        self._publish(first_event(self._trace, self._loop, self._at), 0)
        while not isinstance(self._events[-1].event, e.QueryClosed):
            if self._fold.emitted:
                emission = self._fold.emitted.popleft()
                self._record(emission.event, emission.cause)
            elif self._asked:
                asked = self._asked.popleft()
                if isinstance(asked.event, e.ReasoningRequested):
                    self._answer(asked.event, asked.seq)
                elif isinstance(asked.event, e.ToolRequested):
                    self._run(asked.event.call, asked.seq)
            else:
                raise BadInputError("its query comes to no end")
        return self._events

    def _publish(self, event: Event, cause: int, at: float | None = None) -> None:
        """Records an event of the outside; time never runs backwards, even if the file's times do."""
        self._at = max(self._at, at or 0.0)
        self._record(self._redaction.event(event), cause)

    def _record(self, event: Event, cause: int) -> None:
        seq = len(self._events) + 1
        if seq > MOST_EVENTS:
            raise BadInputError(f"it would have more than {MOST_EVENTS:,} events")
        recorded = Recorded(
            query_id=self._query_id, seq=seq, cause=cause, at=self._at, event=event
        )
        self._events.append(recorded)
        # A rule that cannot take a foreign event makes the file unreadable; it is not a bug of the rule.
        for failure in self._fold.hear(recorded):
            raise BadInputError(f"{failure.handler} cannot take it: {failure.error}")
        if isinstance(event, e.ReasoningRequested | e.ToolRequested):
            self._asked.append(recorded)

    def _stop(self, what: str, cause: int) -> None:
        self._publish(e.QueryCancelled(why=f"{RECORDING_ENDS}it has no {what}"), cause)

    def _answer(self, asked: e.ReasoningRequested, cause: int) -> None:
        if asked.reasoner != "primary" or not self._calls:
            self._stop(f"reply of {asked.call_id}", cause)
            return
        attempts = self._calls.popleft()
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
            ended: Event
            if call.response is not None:
                ended = _completed(asked, call.response, call.cost_usd)
            elif number == len(attempts):
                ended = e.ReasoningFailed(
                    call_id=asked.call_id, failure=call.failure, detail=call.detail
                )
            else:
                next_at = attempts[number].began_at or 0.0
                ended = e.ReasoningRetried(
                    call_id=asked.call_id,
                    attempt=number,
                    wait_s=max(0.0, next_at - (call.ended_at or self._at)),
                    why=call.failure,
                    detail=call.detail,
                )
            self._publish(ended, cause, call.ended_at)

    def _request(self, call: ModelCall) -> Request:
        given = call.request
        messages: list[Message] = []
        for message in given["messages"]:
            content = tuple(map(self._text, message["content"]))
            self._chars += sum(len(block.text) for block in content)
            messages.append(Message(role=message["role"], content=content))
        # Each round repeats all before it, so a small file may expand to very much text.
        if self._chars > MOST_TEXT:
            raise BadInputError(
                f"its calls show more than {MOST_TEXT:,} characters together"
            )
        # Redacted here, because the marks on these fields assume that their text is ours.
        system = self._redaction.text(written(given.get("system", [])))
        tools = self._redaction.text(written(given.get("tools")))
        return Request(
            model=name_of(given["model"]),
            max_tokens=given["max_tokens"],
            system=StoredText(system),
            messages=tuple(messages),
            tools=StoredText(tools) if tools else None,
            stream=False,
        )

    def _text(self, block: Json) -> StoredText:
        # The requests of one query share most of their blocks, in some forms even the same objects.
        if id(block) not in self._texts:
            self._texts[id(block)] = StoredText(written(block))
        return self._texts[id(block)]

    def _run(self, call: ToolCall, cause: int) -> None:
        result = self._loop.results.get(call.id)
        runs = self._runs.get(call.id) or self._runs.get(call.name)
        if result is None and not runs:
            self._stop(f"result of {call.name} ({call.id})", cause)
            return
        run = runs.popleft() if runs else ToolRun(call.id, call.name, "")
        result = result or {"content": []}
        started = e.ToolStarted(tool_call_id=call.id, name=call.name)
        self._publish(started, cause, run.began_at)
        took_ms = 1000 * max(0.0, (run.ended_at or self._at) - self._at)
        # Prefers the result that the model got to the output in the tool's own span.
        text = (text_of(result["content"]) or run.output)[:MOST_CHARS]
        outcome: Event
        if result.get("is_error") or run.failed:
            outcome = e.ToolFailed(
                tool_call_id=call.id,
                name=call.name,
                failure="error",
                detail=text,
                duration_ms=took_ms,
            )
        else:
            outcome = e.ToolSucceeded(
                tool_call_id=call.id,
                name=call.name,
                output=StoredText(text),
                passages=tuple(_passages(call.name, result["content"], text)),
                duration_ms=took_ms,
            )
        self._publish(outcome, cause, run.ended_at)


def _passages(tool: str, shown: list[Json], text: str) -> list[Passage]:
    """Returns a tool's result as evidence: its search results, or all its text."""
    found: list[Passage] = []
    for block in shown:
        if block["type"] == "search_result":
            source = str(block.get("source") or tool)
            title = str(block.get("title") or source)
            words = text_of(block.get("content"))[:MOST_CHARS]
            found.append(quotable(title, words, link=web_link(source)))
    found = found or [quotable(tool, text)]
    return [each for each in found if each.text.text.strip()]


def _completed(
    asked: e.ReasoningRequested, message: Json, cost_usd: float | None
) -> e.ReasoningCompleted:
    reply = reply_of(message)
    calls = [f"{call.id} {call.name}" for call in reply.tool_calls]
    for name in (reply.model, reply.stop_reason, *calls):
        name_of(name)
    usage = replace(reply.usage, cost_usd=cost_usd)
    fields = asdict(reply) | {"usage": usage}
    return e.ReasoningCompleted(call_id=asked.call_id, round=asked.round, **fields)
