"""The component that makes reasoning calls: one Messages API call, told as events."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping

from antiphon.engine.caching import Marked
from antiphon.engine.call import Call, Outside
from antiphon.engine.citation_style import CitationStyles
from antiphon.engine.failures import kind_of
from antiphon.engine.fold import Reply
from antiphon.engine.preparing import prepare
from antiphon.engine.prices import with_cost
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    CallsAbandoned,
    CitationStyle,
    Reasoner,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    TextDiscarded,
)
from antiphon.vocabulary.ports import Clock, EmitLive, Model, Publish, Spawn
from antiphon.vocabulary.values import StoredText, Usage


class ReasoningEngine:
    """Makes the reasoning calls of one session, each in a task of its own. It decides nothing.

    Every `ReasoningRequested` is followed by exactly one `ReasoningCompleted` or `ReasoningFailed`.

    Args:
        models: The primary reasoner and its fallback.
        tools: The JSON list of all tool definitions, sorted by name.
        styles: What their servers can do, shared by all sessions; None: all that the original can.
        chance: A random number from 0 to 1, for the waits between attempts.
    """

    def __init__(
        self,
        publish: Publish,
        emit_live: EmitLive,
        spawn: Spawn,
        clock: Clock,
        models: Mapping[Reasoner, Model],
        tools: StoredText,
        styles: CitationStyles | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._publish = publish
        self._emit_live = emit_live
        self._spawn = spawn
        self._models = models
        self._tools = tools
        self._styles = styles or CitationStyles()
        self._outside = Outside(publish, emit_live, clock, chance, set())
        self._marked: dict[Reasoner, Marked] = {}
        self._running: dict[str, Callable[[], object]] = {}
        self._calls: dict[str, Call] = {}

    def on_reasoning_requested(self, said: Recorded[ReasoningRequested]) -> None:
        """Starts the call."""
        asked = said.event
        style = self._styles.known(asked.reasoner)
        try:
            call = None if style is None else self._open(asked, style)
        except ModelError as error:
            self._fail(asked.call_id, error)
            return
        self._running[asked.call_id] = self._spawn(self._run(asked, call))

    def on_calls_abandoned(self, said: Recorded[CallsAbandoned]) -> None:
        """Ends those of the calls that still run."""
        for call_id in said.event.call_ids:
            cancel = self._running.pop(call_id, None)
            if cancel is not None:
                cancel()
                self._fail(call_id, ModelError("abandoned", said.event.why))

    async def _run(self, asked: ReasoningRequested, call: Call | None) -> None:
        try:
            async with asyncio.timeout(asked.timeout_s):
                if call is None:
                    style = await self._styles.find(asked.reasoner, self._models[asked.reasoner], asked.model)
                    call = self._open(asked, style)
                reply = _within_the_window(await call.reply())
        except TimeoutError:
            sentence = f"the model had no complete reply within {asked.timeout_s:g} s"
            self._fail(asked.call_id, ModelError("timeout", sentence, retryable=True))
        except ModelError as error:
            self._fail(asked.call_id, error)
        else:
            self._publish(_completed(asked, reply, call.wasted))
        finally:
            self._running.pop(asked.call_id, None)
            self._calls.pop(asked.call_id, None)

    def _open(self, asked: ReasoningRequested, style: CitationStyle) -> Call:
        """The call, its first attempt announced."""
        before = self._marked.get(asked.reasoner, Marked())
        prepared = prepare(asked, self._tools, self._styles.profile(asked.reasoner), style, before)
        self._marked[asked.reasoner] = prepared.marked
        call = Call(asked, prepared, self._models[asked.reasoner], self._outside)
        self._calls[asked.call_id] = call
        call.announce()
        return call

    def _fail(self, call_id: str, error: ModelError) -> None:
        call = self._calls.pop(call_id, None)
        self._emit_live(TextDiscarded(call_id=call_id))
        self._publish(
            ReasoningFailed(
                call_id=call_id,
                failure=kind_of(error),
                detail=str(error),
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                request_id=error.request_id,
                usage=call.used if call else Usage(),
            )
        )


def _within_the_window(reply: Reply) -> Reply:
    """The reply, where the model had room to end it: what broke off there is no answer, a smaller request gets one."""
    if reply.stop_reason == "model_context_window_exceeded":
        raise ModelError("context_window", "the reply broke off: the model's context window was full")
    return reply


def _completed(asked: ReasoningRequested, reply: Reply, wasted: Usage) -> ReasoningCompleted:
    model = reply.model or asked.model
    return ReasoningCompleted(
        call_id=asked.call_id,
        round=asked.round,
        content=reply.content,
        text=reply.text,
        tool_calls=reply.tool_calls,
        citations=reply.citations,
        stop_reason=reply.stop_reason,
        usage=with_cost(reply.usage, model),
        model=model,
        message_id=reply.message_id,
        request_id=reply.request_id,
        wasted=wasted,
    )
