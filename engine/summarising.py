"""Makes summarising calls, told as events; what they say is never told live, for it is no part of an answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping

from antiphon.engine.caching import Marked
from antiphon.engine.call import Call, Outside
from antiphon.engine.failures import kind_of
from antiphon.engine.fold import Reply
from antiphon.engine.legality import make_legal
from antiphon.engine.preparing import Prepared
from antiphon.engine.prices import with_cost
from antiphon.engine.prompts import SUMMARY_PROMPT
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    CallsAbandoned,
    Event,
    Reasoner,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolCallStreamed,
)
from antiphon.vocabulary.ports import Clock, Model, Publish, Spawn
from antiphon.vocabulary.values import Request, Usage


class SummaryEngine:
    """Makes the summarising calls of one session, each in a task of its own. It decides nothing.

    Every `SummaryRequested` is followed by exactly one `SummaryCompleted` or `SummaryFailed`.
    """

    def __init__(
        self,
        publish: Publish,
        spawn: Spawn,
        clock: Clock,
        models: Mapping[Reasoner, Model],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._publish = publish
        self._spawn = spawn
        self._models = models
        self._outside = Outside(self._tell, lambda _: None, clock, chance, set())
        self._running: dict[str, tuple[SummaryRequested, Call, Callable[[], object]]] = {}

    def on_summary_requested(self, said: Recorded[SummaryRequested]) -> None:
        """Starts the call."""
        asked = said.event
        try:
            call = Call(asked, prepare_summary(asked), self._models[asked.reasoner], self._outside)
            call.announce()
        except ModelError as error:
            self._fail(asked, error)
            return
        self._running[asked.call_id] = asked, call, self._spawn(self._summarise(asked, call))

    def on_calls_abandoned(self, said: Recorded[CallsAbandoned]) -> None:
        """Ends those of the calls that still run."""
        for call_id in said.event.call_ids:
            running = self._running.pop(call_id, None)
            if running is not None:
                asked, call, cancel = running
                cancel()
                self._fail(asked, ModelError("abandoned", said.event.why), call.used)

    async def _summarise(self, asked: SummaryRequested, call: Call) -> None:
        try:
            async with asyncio.timeout(asked.timeout_s):
                reply = await call.reply()
        except TimeoutError:
            sentence = f"there was no complete summary within {asked.timeout_s:g} s"
            self._fail(asked, ModelError("timeout", sentence, retryable=True), call.used)
        except ModelError as error:
            self._fail(asked, error, call.used)
        else:
            self._publish(_completed(asked, reply, call.wasted))
        finally:
            self._running.pop(asked.call_id, None)

    def _tell(self, event: Event, /) -> None:
        """A model that was offered no tools may call some all the same: nobody is to hear of it."""
        if not isinstance(event, ToolCallStreamed):
            self._publish(event)

    def _fail(self, asked: SummaryRequested, error: ModelError, used: Usage = Usage()) -> None:  # noqa: B008 - a value
        self._publish(
            SummaryFailed(
                call_id=asked.call_id,
                for_call=asked.for_call,
                failure=kind_of(error),
                detail=str(error),
                request_id=error.request_id,
                usage=used,
            )
        )


def prepare_summary(asked: SummaryRequested) -> Prepared:
    """The request that `asked` stands for: no tools, nothing to cite, and too short to be worth caching.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    request = Request(model=asked.model, max_tokens=asked.max_tokens, system=SUMMARY_PROMPT, messages=asked.messages)
    legal = make_legal(request)
    return Prepared(legal.request, legal.repairs, "", "native", (), Marked())


def _completed(asked: SummaryRequested, reply: Reply, wasted: Usage) -> SummaryCompleted:
    model = reply.model or asked.model
    return SummaryCompleted(
        call_id=asked.call_id,
        for_call=asked.for_call,
        content=reply.content,
        text=reply.text,
        stop_reason=reply.stop_reason,
        usage=with_cost(reply.usage, model),
        model=model,
        message_id=reply.message_id,
        request_id=reply.request_id,
        wasted=wasted,
    )
