"""The component that makes reasoning calls: one Messages API call, told as events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import get_args

from engine.fold import Reply, ReplyFold
from engine.request import build_request
from engine.retry import retry_wait
from vocabulary.errors import ModelError
from vocabulary.events import (
    CallsAbandoned,
    FailureKind,
    Reasoner,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    TextDelta,
    TextDiscarded,
    ToolCallStreamed,
)
from vocabulary.ports import Clock, Model, Publish, Spawn, Tell
from vocabulary.values import Kept, Request

_KINDS: frozenset[str] = frozenset(get_args(FailureKind))


class ReasoningEngine:
    """Makes the reasoning calls of one session, each in a task of its own. It decides nothing.

    Every `ReasoningRequested` is followed by exactly one `ReasoningCompleted` or `ReasoningFailed`.

    Args:
        models: The primary reasoner and its fallback.
        tools: The JSON list of all tool definitions, sorted by name.
    """

    def __init__(
        self,
        publish: Publish,
        tell: Tell,
        spawn: Spawn,
        clock: Clock,
        models: Mapping[Reasoner, Model],
        tools: Kept,
    ) -> None:
        self._publish = publish
        self._tell = tell
        self._spawn = spawn
        self._clock = clock
        self._models = models
        self._tools = tools
        self._running: dict[str, Callable[[], object]] = {}

    def on_reasoning_requested(self, said: Recorded[ReasoningRequested]) -> None:
        """Starts the call."""
        asked = said.event
        request = build_request(asked, self._tools)
        self._start(asked, request, attempt=1)
        self._running[asked.call_id] = self._spawn(self._run(asked, request))

    def on_calls_abandoned(self, said: Recorded[CallsAbandoned]) -> None:
        """Ends those of the calls that still run."""
        for call_id in said.event.call_ids:
            cancel = self._running.pop(call_id, None)
            if cancel is not None:
                cancel()
                self._fail(call_id, ModelError("abandoned", said.event.why))

    async def _run(self, asked: ReasoningRequested, request: Request) -> None:
        try:
            async with asyncio.timeout(asked.timeout_s):
                reply = await self._attempts(asked, request)
        except TimeoutError:
            sentence = f"the model had no complete reply within {asked.timeout_s:g} s"
            self._fail(asked.call_id, ModelError("timeout", sentence, retryable=True))
        except ModelError as error:
            self._fail(asked.call_id, error)
        else:
            self._publish(_completed(asked, reply))
        finally:
            self._running.pop(asked.call_id, None)

    async def _attempts(self, asked: ReasoningRequested, request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + asked.timeout_s
        attempt = 1
        while True:
            try:
                return await self._attempt(asked, request, ends_at - loop.time())
            except ModelError as error:
                wait_s = retry_wait(error, attempt, ends_at - loop.time())
                if wait_s is None:
                    raise
                await self._wait(asked.call_id, attempt, wait_s, error)
            attempt += 1
            self._start(asked, request, attempt)

    async def _attempt(self, asked: ReasoningRequested, request: Request, left_s: float) -> Reply:
        fold = ReplyFold()
        stream = self._models[asked.reasoner].stream(request, left_s)
        try:
            async for event in stream:
                told = fold.add(event)
                if isinstance(told, str):
                    self._tell(TextDelta(call_id=asked.call_id, text=told))
                elif told is not None:
                    self._publish(ToolCallStreamed(call_id=asked.call_id, round=asked.round, call=told))
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        return fold.reply()

    async def _wait(self, call_id: str, attempt: int, wait_s: float, error: ModelError) -> None:
        self._tell(TextDiscarded(call_id=call_id))
        self._publish(
            ReasoningRetried(call_id=call_id, attempt=attempt, wait_s=wait_s, why=_kind(error), detail=str(error))
        )
        await self._clock.sleep(wait_s)

    def _start(self, asked: ReasoningRequested, request: Request, attempt: int) -> None:
        label = self._models[asked.reasoner].name or request.model
        self._publish(ReasoningStarted(call_id=asked.call_id, attempt=attempt, reasoner=label, request=request))

    def _fail(self, call_id: str, error: ModelError) -> None:
        self._tell(TextDiscarded(call_id=call_id))
        self._publish(
            ReasoningFailed(
                call_id=call_id,
                failure=_kind(error),
                detail=str(error),
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                request_id=error.request_id,
            )
        )


def _kind(error: ModelError) -> FailureKind:
    # A port may be implemented by others: a kind that the vocabulary does not know must not end the query.
    return error.kind if error.kind in _KINDS else "server_error"  # type: ignore[return-value]  # checked just now


def _completed(asked: ReasoningRequested, reply: Reply) -> ReasoningCompleted:
    return ReasoningCompleted(
        call_id=asked.call_id,
        round=asked.round,
        content=reply.content,
        text=reply.text,
        tool_calls=reply.tool_calls,
        citations=reply.citations,
        stop_reason=reply.stop_reason,
        usage=reply.usage,
        model=reply.model or asked.model,
        message_id=reply.message_id,
        request_id=reply.request_id,
    )
