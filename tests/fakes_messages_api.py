"""A scripted Messages API, reached over HTTP and through the real SDK; and a stage for the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from antiphon.engine import InProcessTransport, ReasoningEngine, connect
from antiphon.vocabulary.events import Event, Live, ReasoningRequested, Recorded
from antiphon.vocabulary.ports import Json, Stored, at_once
from antiphon.vocabulary.values import Message, StoredText
from tests.fakes import SkippingClock, command

Send = Callable[[dict[str, object]], Coroutine[Any, Any, None]]

TOOLS = StoredText(
    '[{"name":"search","description":"Searches.","input_schema":{"type":"object","properties":{}}}]'
)


class Reset:
    """In a script: breaks the connection here."""


class Stall:
    """In a script: sends nothing more."""


class Answer:
    """One scripted answer: status, headers, and the body in pieces."""

    def __init__(
        self,
        pieces: Sequence[bytes | Reset | Stall],
        status: int = 200,
        content_type: str = "text/event-stream",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.pieces = pieces
        self.status = status
        self.headers = {"content-type": content_type, **(headers or {})}


class ScriptedMessagesApi:
    """An ASGI application: the nth request gets the nth answer, later ones the last; it keeps the requests."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.bodies: list[bytes] = []
        self.headers: list[dict[bytes, bytes]] = []
        self.asked = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        self.headers.append(dict(scope["headers"]))
        self.asked.set()
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer.pieces[0], Stall | Reset):
            await _cut(answer.pieces[0])
        headers = [
            (name.encode(), value.encode()) for name, value in answer.headers.items()
        ]
        await send(
            {"type": "http.response.start", "status": answer.status, "headers": headers}
        )
        for piece in answer.pieces:
            if not isinstance(piece, bytes):
                await _cut(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _cut(piece: bytes | Reset | Stall) -> None:
    if isinstance(piece, Reset):
        raise ConnectionResetError("connection reset by peer")
    await asyncio.Future()


def sse(*events: Json) -> bytes:
    """The events as server-sent events."""
    return b"".join(
        b"event: %s\ndata: %s\n\n"
        % (str(event.get("type", "error")).encode(), msgspec.json.encode(event))
        for event in events
    )


def started(**message: object) -> Json:
    """A `message_start`."""
    usage = {"input_tokens": 12, "output_tokens": 1}
    return {
        "type": "message_start",
        "message": {"id": "msg_1", "model": "claude-x", "usage": usage, **message},
    }


def block_started(index: int, **block: object) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: object) -> Json:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": kind, **fields},
    }


def block_stopped(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def ended(stop_reason: str = "end_turn", **usage: object) -> list[Json]:
    """`message_delta` and `message_stop`."""
    told = {"output_tokens": 7, **usage}
    return [
        {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": told},
        {"type": "message_stop"},
    ]


def text_reply(*pieces: str) -> list[Json]:
    """A whole reply of one text block."""
    deltas = [delta(0, "text_delta", text=piece) for piece in pieces]
    return [
        started(),
        block_started(0, type="text", text=""),
        *deltas,
        block_stopped(0),
        *ended(),
    ]


def tool_reply() -> list[Json]:
    """A whole reply of some words and one tool call."""
    return [
        started(),
        block_started(0, type="text", text=""),
        delta(0, "text_delta", text="Let me look."),
        block_stopped(0),
        block_started(1, type="tool_use", id="toolu_1", name="search", input={}),
        delta(1, "input_json_delta", partial_json='{"query": "hyb'),
        delta(1, "input_json_delta", partial_json='rid"}'),
        block_stopped(1),
        *ended("tool_use"),
    ]


def streamed(*events: Json) -> Answer:
    """A streamed answer, one piece an event."""
    return Answer([sse(event) for event in events], headers={"request-id": "req_1"})


def refused(status: int, kind: str, **headers: str) -> Answer:
    """An error in the API's format."""
    body = msgspec.json.encode(
        {"type": "error", "error": {"type": kind, "message": "so it is"}}
    )
    return Answer(
        [body],
        status,
        "application/json",
        {name.replace("_", "-"): text for name, text in headers.items()},
    )


def asked(**changes: Any) -> ReasoningRequested:
    """A request for one reasoning call."""
    question = Message(
        role="user",
        content=(StoredText('{"type":"text","text":"Wie geht\u2019s? \\"So\\""}'),),
    )
    fields: dict[str, Any] = {
        "call_id": "c1",
        "round": 1,
        "final": False,
        "reasoner": "primary",
        "model": "claude-sonnet-5-5",
        "max_tokens": 500,
        "timeout_s": 20.0,
        "max_rounds": 2,
        "messages": (question,),
    }
    return ReasoningRequested(**(fields | changes))


def recorded(event: Any) -> Recorded[Any]:
    """The event in the form that a handler gets."""
    return Recorded(query_id="q", seq=1, cause=0, at=0.0, event=event)


class EngineStage:
    """An engine with lists as its bus, which talks through the SDK to a scripted server."""

    def __init__(
        self, *answers: Answer, silence_s: float = 5.0, stored: Stored = at_once
    ) -> None:
        self.api = ScriptedMessagesApi(*answers)
        self.clock = SkippingClock()
        self.published: list[Event] = []
        self.told: list[Live] = []
        self._tasks: list[asyncio.Task[None]] = []
        transport = InProcessTransport(self.api)
        self.model = connect(
            "sk-secret", "http://api.test", silence_s=silence_s, transport=transport
        )
        self.engine = ReasoningEngine(
            publish=self.published.append,
            emit_live=self.told.append,
            spawn=self._spawn,
            clock=self.clock,
            models={"primary": self.model, "fallback": self.model},
            tools=TOOLS,
            chance=lambda: 0.0,
            stored=stored,
        )

    def _spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task.cancel

    async def finish(self) -> None:
        """Waits until all tasks have finished."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def call(self, **changes: Any) -> Event:
        """Makes one call to its end; returns the last event."""
        self.engine.perform(command(recorded(asked(**changes))))
        await self.finish()
        return self.published[-1]
