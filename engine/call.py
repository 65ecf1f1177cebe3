"""One call of the Messages API: its attempts after failures, and its parts if the server pauses."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from antiphon.engine.account import Account
from antiphon.engine.failure_kinds import kind_of
from antiphon.engine.fold import ReplyFold
from antiphon.engine.inline import read_citations
from antiphon.engine.preparing import (
    PreparedRequest,
    prepare_rest,
    prepare_wider,
)
from antiphon.engine.reply import Reply, joined
from antiphon.engine.request import CHARS_PER_TOKEN
from antiphon.engine.retry import retry_wait
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    ReasoningRetried,
    ReasoningStarted,
    TextDelta,
    TextDiscarded,
    ToolCallStreamed,
)
from antiphon.vocabulary.ports import (
    Clock,
    EmitLive,
    Json,
    Model,
    Publish,
    Stored,
)
from antiphon.vocabulary.values import Request, ToolCall, Usage

PAUSED = "pause_turn"
MOST_PARTS = 5
"""Most parts of a paused reply; after these it is used unfinished."""
_LEAST_WRITTEN = 1 / 4
"""A reply cut off before this share of its answer's tokens must have used up the rest in thinking."""


class CallRequest(Protocol):
    """The fields that requests for reasoning calls and for summarising calls share."""

    @property
    def call_id(self) -> str: ...

    @property
    def round(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...


@dataclass(frozen=True)
class CallPorts:
    """The outside of a call: the session's events, its live followers, time and chance.

    Attributes:
        chance: Returns a random number from 0 to 1.
        ids: The ids of the session's tool calls so far.
        stored: Waits until everything published so far is stored.
    """

    publish: Publish
    emit_live: EmitLive
    clock: Clock
    chance: Callable[[], float]
    ids: set[str]
    stored: Stored


class Call:
    """Makes one call, and publishes all its events except its outcome."""

    def __init__(
        self,
        asked: CallRequest,
        prepared: PreparedRequest,
        model: Model,
        ports: CallPorts,
        account: Account,
    ) -> None:
        self._asked = asked
        self._prepared = prepared
        self._model = model
        self._ports = ports
        self._account = account
        self._ends_at = 0.0
        self._part = 1
        self._so_far: Reply | None = None
        self._streamed_rest = False
        self._reading_s: float | None = None
        self._thought_s = 0.0

    @property
    def thought_s(self) -> float:
        """Seconds from a streamed reply's beginning to its first word or tool call, if it thought before that."""
        return self._thought_s

    @property
    def reading_s(self) -> float | None:
        """Seconds from the first event of the last reply to its last; None if it was not streamed."""
        return self._reading_s

    def announce(self, request: Request | None = None, attempt: int = 1) -> None:
        """Publishes that an attempt is sent, by default that with the prepared request."""
        if request is None:
            request = self._prepared.request
        self._ports.publish(
            ReasoningStarted(
                call_id=self._asked.call_id,
                attempt=attempt,
                reasoner=self._model.name or request.model,
                request=request,
                part=self._part,
                repairs=self._prepared.repairs,
                citations=self._prepared.style,
                caching=self._prepared.caching,
                profile=self._prepared.profile,
                tool_definitions=self._prepared.tool_definitions,
                most=self._account.most(request),
            )
        )

    async def _announce_further(self, request: Request, attempt: int = 1) -> None:
        """Announces a request that follows another, and waits until the announcement is stored.

        The trace must contain every request that was sent, even if the process is killed. The first one is announced
        before the call's task begins, which the session delays until the announcement is stored.
        """
        self.announce(request, attempt)
        await self._ports.stored()

    async def reply(self, ends_at: float) -> Reply:
        """Returns the whole reply to an announced call.

        Args:
            ends_at: The end of the call's time, by the session's clock. The caller enforces it; here it only decides
                whether there is time for another attempt.

        Raises:
            ModelError: No attempt brought a reply.
        """
        self._ends_at = ends_at
        reply = await self._attempts(self._prepared.request)
        # Servers pause long replies with their own tools, and go on if asked
        # (https://docs.claude.com/en/api/handling-stop-reasons).
        while reply.stop_reason == PAUSED and self._part < MOST_PARTS:
            rest = await self._rest(reply)
            if rest is None:
                break
            reply = joined(reply, rest)
        self._so_far = reply
        if self._prepared.sources:
            return read_citations(reply, self._prepared.sources)
        return reply

    async def _rest(self, paused: Reply) -> Reply | None:
        """Returns the continuation of a paused reply; None if there is none and the paused part must suffice."""
        self._part += 1
        self._so_far = paused
        try:
            request = prepare_rest(self._prepared, paused.content).request
            if not self._account.affords(request, self._prepared.request):
                return None
            await self._announce_further(request)
            return await self._attempts(request)
        except ModelError:
            # An answer that breaks off is better than no answer.
            self._discard_text()
            return None

    async def _attempts(self, request: Request) -> Reply:
        attempt = 1
        widened = False
        while True:
            try:
                return await self._attempt(request)
            except ModelError as error:
                counted = self._account.credit(unbilled=error.unbilled)
                # Once, and outside the retry rule: the same request again would think just as long.
                if error.kind == "out_of_tokens" and not widened:
                    widened = True
                    wait_s: float | None = 0.0
                    request = prepare_wider(self._prepared).request
                else:
                    wait_s = retry_wait(
                        error, attempt, self._left_s(), self._ports.chance()
                    )
                if wait_s is None:
                    raise
                if not self._account.affords(request, self._prepared.request):
                    raise
                await self._wait(attempt, wait_s, error, counted)
            # A server that failed may be slow today: with a stream it shows that it is at work.
            request = replace(request, stream=True)
            attempt += 1
            await self._announce_further(request, attempt)

    def _left_s(self) -> float:
        return self._ends_at - self._ports.clock.now()

    async def _attempt(self, request: Request) -> Reply:
        fold = ReplyFold(self._ports.ids)
        self._account.debit(request, fold)
        await self._read(request, fold)
        reply = fold.reply()
        self._refuse_thinking_alone(fold, reply)
        self._account.credit(kept=True)
        return reply

    async def _read(self, request: Request, fold: ReplyFold) -> None:
        """Folds the stream, and emits its texts and tool calls as they come."""
        stream = self._model.stream(request, self._left_s())
        began_at: float | None = None
        try:
            async for event in stream:
                if began_at is None:
                    began_at = self._ports.clock.now()
                # Checked before the fold sees it: a repeated message must not count as a restart.
                self._refuse_repetition(event)
                restarts = fold.restarts
                brought = fold.add(event)
                if fold.restarts > restarts:
                    self._discard_text()
                if brought is not None:
                    if fold.thinks and not self._thought_s:
                        self._thought_s = self._ports.clock.now() - began_at
                    self._emit(brought)
            if began_at is not None and request.stream:
                self._reading_s = self._ports.clock.now() - began_at
        finally:
            # An abandoned iteration would keep its connection until garbage collection.
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    def _refuse_thinking_alone(self, fold: ReplyFold, reply: Reply) -> None:
        """Refuses a reply that was cut off before most of its answer, because thinking used up its tokens."""
        if reply.stop_reason != "max_tokens" or reply.tool_calls or not fold.thinks:
            return
        written = len(reply.text.text) // CHARS_PER_TOKEN
        if written >= self._asked.max_tokens * _LEAST_WRITTEN:
            return
        raise ModelError(
            "out_of_tokens",
            f"the model used up its {reply.usage.output_tokens:,} tokens in thinking before it answered "
            "(ANTIPHON_MAX_TOKENS gives it more, a lower ANTIPHON_EFFORT lets it think less)",
        )

    def _emit(self, brought: str | ToolCall) -> None:
        call_id = self._asked.call_id
        if isinstance(brought, ToolCall):
            self._ports.publish(
                ToolCallStreamed(call_id=call_id, round=self._asked.round, call=brought)
            )
            return
        self._streamed_rest = self._so_far is not None
        self._ports.emit_live(TextDelta(call_id=call_id, text=brought))

    def _refuse_repetition(self, event: Json) -> None:
        """Refuses a reply in which the server repeats the paused part, which would double the answer."""
        if self._so_far is None or event.get("type") != "message_start":
            return
        paused_id = self._so_far.message_id
        message = event.get("message")
        if paused_id and isinstance(message, dict) and message.get("id") == paused_id:
            raise ModelError(
                "malformed",
                "the server sent the paused reply again instead of going on with it",
            )

    async def _wait(
        self, attempt: int, wait_s: float, error: ModelError, counted: Usage
    ) -> None:
        self._discard_text()
        self._ports.publish(
            ReasoningRetried(
                call_id=self._asked.call_id,
                attempt=attempt,
                wait_s=wait_s,
                why=kind_of(error),
                detail=str(error),
                counted=counted,
            )
        )
        await self._ports.clock.sleep(wait_s)

    def _discard_text(self) -> None:
        """Takes back the streamed text of the part that failed; the text of earlier parts stays valid."""
        call_id = self._asked.call_id
        if self._so_far is None:
            self._ports.emit_live(TextDiscarded(call_id=call_id))
        elif self._streamed_rest:
            # Followers do not know about parts: discard all of the call's text, and send the valid text again.
            self._ports.emit_live(TextDiscarded(call_id=call_id))
            self._ports.emit_live(
                TextDelta(call_id=call_id, text=self._so_far.text.text)
            )
        self._streamed_rest = False
