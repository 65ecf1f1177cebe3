"""The component that makes summarising calls; their text, which is not part of an answer, is never streamed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

from antiphon.engine.account import Account
from antiphon.engine.call import Call, CallPorts
from antiphon.engine.failure_kinds import kind_of
from antiphon.engine.models import KNOWN_MODELS, ModelTable, traits_of
from antiphon.engine.preparing import prepare_summary
from antiphon.engine.reply import Reply
from antiphon.engine.server_profile import CitationStyles
from antiphon.engine.time_limit import within
from antiphon.engine.under_way import CallUnderWay
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import (
    Event,
    Reasoner,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolCallStreamed,
)
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import (
    Clock,
    Model,
    Publish,
    Spawn,
    Stored,
    at_once,
)


class SummaryEngine:
    """Makes the summarising calls of one query, each in its own task; decides nothing.

    It publishes exactly one `SummaryCompleted` or `SummaryFailed` for each `SummaryRequested`.
    """

    def __init__(
        self,
        publish: Publish,
        spawn: Spawn,
        clock: Clock,
        models: Mapping[Reasoner, Model],
        styles: CitationStyles | None = None,
        chance: Callable[[], float] = random.random,
        table: ModelTable = KNOWN_MODELS,
        stored: Stored = at_once,
    ) -> None:
        self._publish = publish
        self._spawn = spawn
        self._models = models
        self._styles = styles or CitationStyles()
        self._clock = clock
        self._chance = chance
        self._table = table
        self._stored = stored

    def perform(self, command: Command, /) -> CallUnderWay | None:
        """Begins the call that a `SummaryRequested` requests."""
        asked: SummaryRequested = command.request.event
        # Streams nothing to followers, and keeps no ids of tool calls, because the reply's calls are not run.
        ports = CallPorts(
            self._publish_no_tool_calls,
            lambda _: None,
            self._clock,
            self._chance,
            set(),
            self._stored,
        )
        model = self._models[asked.reasoner]
        account = Account(
            self._table,
            model.name or asked.model,
            asked.spare_tokens,
            asked.spare_usd,
        )
        traits = traits_of(model.name or asked.model)
        profile = self._styles.profile(asked.reasoner, traits)
        fail = partial(self._fail, asked, account)
        try:
            prepared = prepare_summary(asked, profile)
        except ModelError as error:
            fail(error)
            return None
        call = Call(asked, prepared, model, ports, account)
        call.announce()
        under_way = CallUnderWay(fail)
        work = self._summarise(asked, call, account, under_way)
        under_way.cancel = self._spawn(work)
        return under_way

    async def _summarise(
        self,
        asked: SummaryRequested,
        call: Call,
        account: Account,
        under_way: CallUnderWay,
    ) -> None:
        ends_at = self._clock.now() + asked.timeout_s
        try:
            reply = await within(self._clock, asked.timeout_s, call.reply(ends_at))
        except TimeoutError:
            sentence = f"there was no complete summary within {asked.timeout_s:g} s"
            self._fail(asked, account, ModelError("timeout", sentence, retryable=True))
        except ModelError as error:
            self._fail(asked, account, error)
        else:
            self._publish(_completed(asked, reply, account, self._table))
        finally:
            under_way.ended = True

    def _publish_no_tool_calls(self, event: Event, /) -> None:
        """Publishes an event unless it is a tool call, which a model may write even if it was offered no tools."""
        if not isinstance(event, ToolCallStreamed):
            self._publish(event)

    def _fail(
        self, asked: SummaryRequested, account: Account, error: ModelError
    ) -> None:
        self._publish(
            SummaryFailed(
                call_id=asked.call_id,
                for_call=asked.for_call,
                failure=kind_of(error),
                detail=str(error),
                request_id=error.request_id,
                usage=account.reported,
                unreported=account.unreported,
            )
        )


def _completed(
    asked: SummaryRequested, reply: Reply, account: Account, table: ModelTable
) -> SummaryCompleted:
    model = reply.model or asked.model
    return SummaryCompleted(
        call_id=asked.call_id,
        for_call=asked.for_call,
        content=reply.content,
        text=reply.text,
        stop_reason=reply.stop_reason,
        usage=table.priced(reply.usage, model),
        model=model,
        message_id=reply.message_id,
        request_id=reply.request_id,
        wasted=account.wasted,
        unreported=account.unreported,
    )
