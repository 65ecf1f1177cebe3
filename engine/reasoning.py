"""The component that makes reasoning calls: a Messages API call as events."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from antiphon.engine.account import Account
from antiphon.engine.call import Call, CallPorts
from antiphon.engine.failure_kinds import kind_of
from antiphon.engine.models import KNOWN_MODELS, ModelTable, traits_of
from antiphon.engine.preparing import CacheMarks, prepare
from antiphon.engine.reply import Reply
from antiphon.engine.server_profile import CitationStyles
from antiphon.engine.speeds import ModelSpeeds
from antiphon.engine.time_limit import within
from antiphon.engine.under_way import CallUnderWay
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    CitationStyle,
    Reasoner,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    TextDiscarded,
)
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import (
    Clock,
    EmitLive,
    Model,
    Publish,
    Spawn,
    Stored,
    at_once,
)
from antiphon.vocabulary.settings import SILENCE_S
from antiphon.vocabulary.values import StoredText

_SHARE_OF_SILENCE = 0.8
"""The rest is for the time until a server begins to write, which the measured speed leaves out."""


class ReasoningEngine:
    """Makes the reasoning calls of one query, each in its own task; decides nothing.

    It publishes exactly one `ReasoningCompleted` or `ReasoningFailed` for each `ReasoningRequested`.

    Args:
        models: The primary reasoner and its fallback.
        tools: The JSON list of all tool definitions, sorted by name.
        styles: The abilities of their servers, shared by all sessions; None: all abilities of the original.
        chance: Returns a random number from 0 to 1, for the waits between attempts.
        followed: Returns True while somebody reads the query live.
        silence_s: Seconds without a byte after which the connection is given up.
        speeds: How fast the models wrote lately, shared by all sessions.
        tools_are_quick: Returns True if a tool gains nothing by starting before its reply is complete.
        table: The table of models.
        stored: Waits until everything published so far is stored.
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
        followed: Callable[[], bool] = lambda: True,
        silence_s: float = SILENCE_S,
        speeds: ModelSpeeds | None = None,
        tools_are_quick: Callable[[], bool] = lambda: False,
        table: ModelTable = KNOWN_MODELS,
        stored: Stored = at_once,
    ) -> None:
        self._publish = publish
        self._emit_live = emit_live
        self._spawn = spawn
        self._models = models
        self._tools = tools
        self._styles = styles or CitationStyles()
        self._clock = clock
        self._table = table
        self._ports = CallPorts(publish, emit_live, clock, chance, set(), stored)
        self._followed = followed
        self._silence_s = silence_s
        self._speeds = speeds or ModelSpeeds()
        self._tools_are_quick = tools_are_quick
        self._marks: dict[Reasoner, CacheMarks] = {}

    def perform(self, command: Command, /) -> CallUnderWay | None:
        """Begins the call that a `ReasoningRequested` requests."""
        asked: ReasoningRequested = command.request.event
        style = self._styles.known(asked.reasoner)
        account = Account(
            self._table,
            self._models[asked.reasoner].name or asked.model,
            asked.spare_tokens,
            asked.spare_usd,
        )
        fail = partial(self._fail, asked.call_id, account)
        # With a known style the request is announced at once; otherwise a probe comes first, within the call's task.
        call = None
        if style is not None:
            try:
                call = self._open(asked, style, account)
            except ModelError as error:
                fail(error)
                return None
        under_way = CallUnderWay(fail)
        under_way.cancel = self._spawn(self._run(asked, call, account, under_way))
        return under_way

    async def _run(
        self,
        asked: ReasoningRequested,
        call: Call | None,
        account: Account,
        under_way: CallUnderWay,
    ) -> None:
        """Makes the call, and publishes its single outcome."""
        try:
            reply, thought_s = await within(
                self._clock, asked.timeout_s, self._reply(asked, call, account)
            )
        except TimeoutError:
            sentence = f"the model had no complete reply within {asked.timeout_s:g} s"
            late = ModelError("timeout", sentence, retryable=True)
            self._fail(asked.call_id, account, late)
        except ModelError as error:
            self._fail(asked.call_id, account, error)
        else:
            self._publish(self._completed(asked, reply, thought_s, account))
        finally:
            under_way.ended = True

    async def _reply(
        self, asked: ReasoningRequested, call: Call | None, account: Account
    ) -> tuple[Reply, float]:
        """Returns the reply, and the seconds for which it thought."""
        ends_at = self._clock.now() + asked.timeout_s
        if call is None:
            # Finding out how to present sources to the server is part of the call's own time.
            model = self._models[asked.reasoner]
            style = await self._styles.find(
                asked.reasoner, model, asked.model, self._clock, account
            )
            call = self._open(asked, style, account)
            await self._ports.stored()
        reply = await call.reply(ends_at)
        if call.reading_s is not None:
            self._speeds.note(
                asked.model,
                reply.usage.output_tokens,
                call.reading_s,
                self._clock.now(),
            )
        if reply.stop_reason == "model_context_window_exceeded":
            # A reply that broke off like this is not an answer; a smaller request may get one.
            raise ModelError(
                "context_window",
                "the reply broke off: the model's context window was full",
            )
        return reply, call.thought_s

    def _open(
        self, asked: ReasoningRequested, style: CitationStyle, account: Account
    ) -> Call:
        """Prepares the call and announces its first attempt."""
        before = self._marks.get(asked.reasoner, CacheMarks())
        model = self._models[asked.reasoner]
        # A server with a name of its own, such as the offline reasoner, answers for any requested model.
        traits = traits_of(model.name or asked.model)
        profile = self._styles.profile(asked.reasoner, traits)
        prepared = prepare(asked, self._tools, profile, style, before)
        self._marks[asked.reasoner] = prepared.marks
        if not self._gains_by_a_stream(asked, prepared.request.max_tokens):
            request = replace(prepared.request, stream=False)
            prepared = prepared._replace(request=request)
        call = Call(asked, prepared, model, self._ports, account)
        call.announce()
        return call

    def _gains_by_a_stream(self, asked: ReasoningRequested, max_tokens: int) -> bool:
        """Returns False for a reply that nobody follows, no slow tool waits for, and that is sure to come in time.

        Each piece of a stream costs as much CPU time as a whole short reply (docs/design/performance.md).
        """
        if self._followed():
            return True
        # With a stream, a tool starts as soon as its own call is complete.
        if not asked.final and not self._tools_are_quick():
            return True
        # A reply in one piece is silent until it is complete, so even the longest must fit the limit on silence.
        longest_s = self._speeds.longest_s(asked.model, max_tokens, self._clock.now())
        return longest_s > self._silence_s * _SHARE_OF_SILENCE

    def _fail(self, call_id: str, account: Account, error: ModelError) -> None:
        # Before the event: a follower that shows the failure must not still show half an answer.
        self._emit_live(TextDiscarded(call_id=call_id))
        self._publish(
            ReasoningFailed(
                call_id=call_id,
                failure=kind_of(error),
                detail=str(error),
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                request_id=error.request_id,
                usage=account.reported,
                unreported=account.unreported,
            )
        )

    def _completed(
        self,
        asked: ReasoningRequested,
        reply: Reply,
        thought_s: float,
        account: Account,
    ) -> ReasoningCompleted:
        model = reply.model or asked.model
        return ReasoningCompleted(
            call_id=asked.call_id,
            round=asked.round,
            content=reply.content,
            text=reply.text,
            tool_calls=reply.tool_calls,
            citations=reply.citations,
            stop_reason=reply.stop_reason,
            usage=self._table.priced(reply.usage, model),
            model=model,
            message_id=reply.message_id,
            request_id=reply.request_id,
            wasted=account.wasted,
            unreported=account.unreported,
            thought_s=thought_s,
        )
