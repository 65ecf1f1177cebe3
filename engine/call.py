"""One reasoning call under way: its attempts after failures, and its parts where the server pauses the reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

from antiphon.engine.failures import kind_of
from antiphon.engine.fold import Reply, ReplyFold
from antiphon.engine.inline import read_citations
from antiphon.engine.legality import make_legal
from antiphon.engine.preparing import Prepared
from antiphon.engine.prices import with_cost
from antiphon.engine.request import continued
from antiphon.engine.retry import retry_wait
from antiphon.engine.whole import joined
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    ReasoningRetried,
    ReasoningStarted,
    TextDelta,
    TextDiscarded,
    ToolCallStreamed,
)
from antiphon.vocabulary.ports import Clock, EmitLive, Json, Model, Publish
from antiphon.vocabulary.values import Request, Usage

PAUSED = "pause_turn"
MOST_PARTS = 5
"""A reply that is paused more often than this is taken as it is."""


class Asked(Protocol):
    """What is asked for: a reasoning call, or a summarising one."""

    @property
    def call_id(self) -> str: ...

    @property
    def round(self) -> int: ...

    @property
    def model(self) -> str: ...

    @property
    def timeout_s(self) -> float: ...

    @property
    def spare_tokens(self) -> int | None: ...

    @property
    def spare_usd(self) -> float | None: ...


@dataclass(frozen=True)
class Outside:
    """What a call meets: the session's ear, its live followers, time and chance.

    Attributes:
        chance: A random number from 0 to 1.
        ids: Ids that the session's tool calls have had.
    """

    publish: Publish
    emit_live: EmitLive
    clock: Clock
    chance: Callable[[], float]
    ids: set[str]


class Call:
    """Makes one call; everything but its outcome is published from here."""

    def __init__(self, asked: Asked, prepared: Prepared, model: Model, outside: Outside) -> None:
        self._asked = asked
        self._prepared = prepared
        self._model = model
        self._outside = outside
        self._part = 1
        self._so_far: Reply | None = None
        self._told_rest = False
        self._ends_at = 0.0
        self._fold: ReplyFold | None = None
        self._wasted = Usage()

    @property
    def wasted(self) -> Usage:
        """What attempts that failed have used, as far as the server told."""
        return self._wasted

    @property
    def used(self) -> Usage:
        """All that was used so far, as far as the server told."""
        so_far = self._so_far.usage if self._so_far else Usage()
        return self._wasted + self._priced(so_far) + (self._priced(self._fold.usage) if self._fold else Usage())

    def announce(self, request: Request | None = None, attempt: int = 1) -> None:
        """Tells that an attempt is sent."""
        sent = self._prepared.request if request is None else request
        self._outside.publish(
            ReasoningStarted(
                call_id=self._asked.call_id,
                attempt=attempt,
                reasoner=self._model.name or sent.model,
                request=sent,
                part=self._part,
                repairs=self._prepared.repairs,
                citations=self._prepared.style,
                caching=self._prepared.caching,
            )
        )

    async def reply(self) -> Reply:
        """The whole reply to a call that was announced.

        Raises:
            ModelError: No attempt brought one.
        """
        self._ends_at = asyncio.get_running_loop().time() + self._asked.timeout_s
        reply = await self._attempts(self._prepared.request)
        while reply.stop_reason == PAUSED and self._part < MOST_PARTS:
            rest = await self._rest(reply)
            if rest is None:
                break
            reply = joined(reply, rest)
        self._so_far = reply
        return read_citations(reply, self._prepared.sources) if self._prepared.sources else reply

    async def _rest(self, paused: Reply) -> Reply | None:
        """What goes on with a paused reply; None where nothing does, and what came so far must do."""
        self._part += 1
        self._so_far = paused
        if not self._may_use_more():
            return None
        try:
            request = make_legal(continued(self._prepared.request, paused.content)).request
            self.announce(request)
            return await self._attempts(request)
        except ModelError:
            self._void_text()
            return None

    async def _attempts(self, request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        attempt = 1
        while True:
            try:
                return await self._attempt(request, self._ends_at - loop.time())
            except ModelError as error:
                left_s = self._ends_at - loop.time()
                wait_s = retry_wait(error, attempt, left_s, self._outside.chance())
                if wait_s is None or not self._may_use_more():
                    raise
                await self._wait(attempt, wait_s, error)
            attempt += 1
            self.announce(request, attempt)

    def _may_use_more(self) -> bool:
        """Whether the budget pays for another attempt after what was used."""
        used, asked = self.used, self._asked
        tokens = used.all_input_tokens + used.output_tokens
        if not tokens:
            return True
        if asked.spare_tokens is not None and tokens > asked.spare_tokens:
            return False
        return asked.spare_usd is None or (used.cost_usd is not None and used.cost_usd <= asked.spare_usd)

    def _priced(self, usage: Usage) -> Usage:
        if not (usage.all_input_tokens or usage.output_tokens):
            return Usage()
        return usage if usage.cost_usd is not None else with_cost(usage, self._model.name or self._asked.model)

    async def _attempt(self, request: Request, left_s: float) -> Reply:
        try:
            return await self._read(request, left_s)
        finally:
            if self._fold is not None:  # it failed
                self._wasted += self._priced(self._fold.usage)
                self._fold = None

    async def _read(self, request: Request, left_s: float) -> Reply:
        fold = self._fold = ReplyFold(self._outside.ids)
        stream = self._model.stream(request, left_s)
        try:
            async for event in stream:
                self._refuse_repetition(event)
                restarts = fold.restarts
                told = fold.add(event)
                if fold.restarts > restarts:
                    self._void_text()
                if isinstance(told, str):
                    self._told_rest = self._so_far is not None
                    self._outside.emit_live(TextDelta(call_id=self._asked.call_id, text=told))
                elif told is not None:
                    asked = self._asked
                    self._outside.publish(ToolCallStreamed(call_id=asked.call_id, round=asked.round, call=told))
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        reply = fold.reply()
        self._fold = None
        return reply

    def _refuse_repetition(self, event: Json) -> None:
        """A server that does not go on with a paused reply but sends it again would double the answer."""
        if self._so_far is None or event.get("type") != "message_start":
            return
        message = event.get("message")
        if isinstance(message, dict) and message.get("id") == self._so_far.message_id != "":
            raise ModelError("malformed", "the server sent the paused reply again instead of going on with it")

    async def _wait(self, attempt: int, wait_s: float, error: ModelError) -> None:
        self._void_text()
        self._outside.publish(
            ReasoningRetried(
                call_id=self._asked.call_id, attempt=attempt, wait_s=wait_s, why=kind_of(error), detail=str(error)
            )
        )
        await self._outside.clock.sleep(wait_s)

    def _void_text(self) -> None:
        """Takes back what was told live of the part that failed; what earlier parts said still stands."""
        call_id = self._asked.call_id
        if self._so_far is None:
            self._outside.emit_live(TextDiscarded(call_id=call_id))
        elif self._told_rest:
            self._outside.emit_live(TextDiscarded(call_id=call_id))
            self._outside.emit_live(TextDelta(call_id=call_id, text=self._so_far.text.text))
        self._told_rest = False
